package leaderboard

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/receipt"
)

// Auditor receives what an audit finds.
type Auditor struct {
	Keys []receipt.PublicKey
	// Leaf reports whether the log holds the entry at the index, and records that the
	// leaf belongs to a receipt.
	Leaf func(index int64, entry receipt.Entry) bool
	// Breach receives a rule that the store breaks.
	Breach func(rule, thing, format string, args ...any)
}

// Audit checks every stored benchmark receipt and every count over them. It returns the
// number of receipts that the service has signed. It only reads. Leaf is called for every
// record that opens, because a leaf that nobody claims is a breach elsewhere. An error
// means that the tables cannot be read.
func Audit(ctx context.Context, tx *db.Tx, a Auditor) (records int, err error) {
	for after := ""; ; {
		rows, err := tx.BenchmarkReceiptsAfter(ctx, after)
		if err != nil {
			return records, fmt.Errorf("read benchmark receipts: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			after = row.ResultID
			if row.Envelope == "" {
				continue
			}
			records++
			shown, err := tx.BenchmarkResultGet(ctx, row.ResultID)
			if db.IsNotFound(err) {
				a.Breach("an accepted benchmark receipt is shown", row.ResultID, "it is not")
				continue
			} else if err != nil {
				return records, fmt.Errorf("read benchmark result: %w", err)
			}
			record, err := benchmark.OpenRecord([]byte(row.Envelope), []byte(row.WorkerEnvelope), a.Keys)
			if err != nil {
				a.Breach("benchmark records are signed by our keys", row.ResultID, "%v", err)
				continue
			}
			if record.ResultID != row.ResultID || record.ReceiptID != row.ReceiptID || record.Receipt.Score() != shown.Score || record.GPUSlug != shown.GpuSlug {
				a.Breach("a benchmark result is what was signed", row.ResultID, "record and result differ")
			}
			if entry, err := receipt.EntryOf([]byte(row.Envelope)); err != nil || !a.Leaf(record.LogIndex, entry) {
				a.Breach("a receipt is its leaf in the log", row.ResultID, "leaf %d is something else", record.LogIndex)
			}
		}
	}
	return records, auditCounts(ctx, tx, a)
}

// auditCounts recomputes the stored sums and counts. Ranks and percentiles come from these
// counts alone, so a wrong one would show nowhere else.
func auditCounts(ctx context.Context, tx *db.Tx, a Auditor) error {
	groups, err := tx.AuditBenchmarkGroups(ctx)
	if err != nil {
		return fmt.Errorf("count benchmark groups: %w", err)
	}
	for _, g := range groups {
		a.Breach("a GPU's sums are those of its results", g.GpuSlug, "group %d says %d results, there are %d, or their sums differ", g.GroupID, g.Results, g.Counted)
	}
	buckets, err := tx.AuditBenchmarkTallies(ctx)
	if err != nil {
		return fmt.Errorf("count benchmark tallies: %w", err)
	}
	for _, b := range buckets {
		a.Breach("a tally counts its results", fmt.Sprintf("group %d", b.GroupID), "measure %d, level %d, bucket %d has %d results, the tally says another number", b.Measure, b.Level, b.Bucket, b.Results)
	}
	counts, err := tx.AuditBenchmarkCounts(ctx)
	if err != nil {
		return fmt.Errorf("count benchmark results: %w", err)
	}
	if counts.Shown != counts.Accepted {
		a.Breach("what is shown was accepted", "leaderboard", "%d results are shown, %d receipts were accepted", counts.Shown, counts.Accepted)
	}
	if counts.Tallied != counts.Expected {
		a.Breach("a tally counts its results", "leaderboard", "the tallies count %d, the results give %d", counts.Tallied, counts.Expected)
	}
	return nil
}
