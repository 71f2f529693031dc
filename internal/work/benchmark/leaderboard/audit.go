package leaderboard

import (
	"context"
	"fmt"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/receipt"
)

// Auditor receives what an audit finds.
type Auditor struct {
	Keys []signingkey.Public
	// Leaf reports whether the log holds the entry at the index, and records that the
	// leaf belongs to a receipt.
	Leaf func(index int64, entry receipt.Entry) bool
	// Breach receives a rule that the store breaks.
	Breach func(rule, subject, format string, args ...any)
}

// Audit checks every stored benchmark receipt and recomputes everything that is shown and
// counted from the signed ones. It returns the number of receipts that the service has
// signed. It only reads. Leaf is called for every record that opens, because an unclaimed
// leaf is reported as a breach elsewhere. An error means that the tables cannot be read.
func Audit(ctx context.Context, tx *db.Tx, a Auditor) (records int, err error) {
	if err := a.received(ctx, tx); err != nil {
		return 0, err
	}
	b := board{Auditor: a}
	for _, audit := range []func(context.Context, *db.Tx) error{b.hidden, b.challenges, b.results, b.voices, b.groups, b.facets, b.tallies, b.counts} {
		if err := audit(ctx, tx); err != nil {
			return b.records, fmt.Errorf("audit the leaderboard: %w", err)
		}
	}
	return b.records, nil
}

// received checks what workers sent: it is as it came, signed by the key that its node
// signs with, and shown if it was accepted.
func (a Auditor) received(ctx context.Context, tx *db.Tx) error {
	err := nodeSigningKeyRows.Audit(ctx, tx, a.Breach, func(row query.NodeSigningKey) error {
		if _, err := signingkey.ParsePublicPEM([]byte(row.PublicPem)); err != nil {
			a.Breach("a node's signing key can be read", row.KeyID, "%v", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = receiptRows.Audit(ctx, tx, a.Breach, func(row query.BenchmarkReceipt) error {
		return a.signedByNode(ctx, tx, row)
	})
	if err != nil {
		return err
	}
	unshown, err := tx.AuditBenchmarkUnshown(ctx)
	if err != nil {
		return fmt.Errorf("look for receipts that are not shown: %w", err)
	}
	for _, resultID := range unshown {
		a.Breach("an accepted benchmark receipt is shown", resultID, "it is not")
	}
	return nil
}

// signedByNode checks one receipt against the signing key of its node.
func (a Auditor) signedByNode(ctx context.Context, tx *db.Tx, row query.BenchmarkReceipt) error {
	const rule = "a benchmark receipt is signed by its node"
	if payload, err := benchmark.PayloadSHA256([]byte(row.WorkerEnvelope)); err != nil || payload != row.PayloadSha256 {
		a.Breach(rule, row.ResultID, "it is not the statement that it was stored as: %v", err)
		return nil
	}
	pem, err := tx.NodeSigningKeyGet(ctx, row.NodeKeyID)
	if db.IsNotFound(err) {
		a.Breach(rule, row.ResultID, "node key %s has no signing key", row.NodeKeyID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read a node's signing key: %w", err)
	}
	key, err := signingkey.ParsePublicPEM([]byte(pem))
	if err == nil {
		_, err = receipt.Unseal([]byte(row.WorkerEnvelope), []signingkey.Public{key})
	}
	if err != nil {
		a.Breach(rule, row.ResultID, "%v", err)
	}
	return nil
}

// board is the leaderboard as an audit rebuilds it from the signed records.
type board struct {
	Auditor
	records    int
	challenged int64 // challenges that were read
	lastLeaf   int64 // log index of the latest record, plus one
	lastNumber int64
	lastGroup  int64
	lastFacet  int64
	postings   int64 // that the results should have
}

// hidden checks results that an operator has hidden: their receipts were accepted and are
// leaves of the log, and nothing shows them.
func (b *board) hidden(ctx context.Context, tx *db.Tx) error {
	return hiddenRows.Audit(ctx, tx, b.Breach, func(row query.BenchmarkHidden) error {
		const rule = "what is hidden was accepted"
		_, err := tx.BenchmarkResultGet(ctx, row.ResultID)
		if err == nil {
			b.Breach("what is hidden is not shown", row.ResultID, "it is a result")
			return nil // results claims its leaf
		}
		if !db.IsNotFound(err) {
			return fmt.Errorf("read result: %w", err)
		}
		kept, err := tx.BenchmarkReceiptGet(ctx, row.ResultID)
		if err != nil && !db.IsNotFound(err) {
			return fmt.Errorf("read benchmark receipt: %w", err)
		}
		if err != nil || kept.Status != "accepted" {
			b.Breach(rule, row.ResultID, "its receipt is %q", kept.Status)
			return nil
		}
		b.records++
		record, err := benchmark.OpenRecord([]byte(kept.Envelope), []byte(kept.WorkerEnvelope), b.Keys)
		if err != nil {
			b.Breach("benchmark records are signed by our keys", row.ResultID, "%v", err)
			return nil
		}
		if entry, err := receipt.EntryOf([]byte(kept.Envelope)); err != nil || !b.Leaf(record.LogIndex, entry) {
			b.Breach("a receipt is its leaf in the log", row.ResultID, "leaf %d is something else", record.LogIndex)
		}
		return nil
	})
}

// challenges checks what was drawn: every row is as it was written, and a picture is kept of
// an accepted result alone.
func (b *board) challenges(ctx context.Context, tx *db.Tx) error {
	return challengeRows.Audit(ctx, tx, b.Breach, func(row query.BenchmarkChallenge) error {
		b.challenged++
		_, err := tx.LeaseGet(ctx, lease.ID(ReferenceQueue, row.ChallengeID, row.Samples))
		if err != nil && !db.IsNotFound(err) {
			return fmt.Errorf("read a lease: %w", err)
		}
		if asked := row.Reference == referenceWaiting || row.Reference == referenceRendering; asked != (err == nil) {
			b.Breach("a reference render that is asked for is in the queue", row.ChallengeID, "it is %q, in the queue: %v", row.Reference, err == nil)
		}
		if row.FrameKey == "" {
			return nil
		}
		kept, err := tx.BenchmarkReceiptGet(ctx, row.ResultID)
		if err != nil && !db.IsNotFound(err) {
			return fmt.Errorf("read benchmark receipt: %w", err)
		}
		if kept.Status != "accepted" {
			b.Breach("a picture of a challenge belongs to a result", row.ChallengeID, "the receipt of %q is %q", row.ResultID, kept.Status)
		}
		return nil
	})
}

// results compares every result with its signed record, a page at a time.
func (b *board) results(ctx context.Context, tx *db.Tx) error {
	for {
		behind := b.lastNumber
		rows, err := tx.AuditBenchmarkResults(ctx, behind)
		if err != nil {
			return fmt.Errorf("read benchmark results: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		page := resultPage{board: b, behind: behind, groups: map[int64]query.BenchmarkGroup{}, facets: map[facet][]int64{}}
		for _, row := range rows {
			if err := page.result(ctx, tx, row); err != nil {
				return err
			}
		}
		if err := page.searched(ctx, tx); err != nil {
			return err
		}
	}
}

// resultPage is what is needed of one page of results.
type resultPage struct {
	*board
	behind int64
	groups map[int64]query.BenchmarkGroup // that the page's results are in
	facets map[facet][]int64              // numbers of the results that have one, rising
}

// result compares one result with the record that it was made of.
func (p *resultPage) result(ctx context.Context, tx *db.Tx, row query.AuditBenchmarkResultsRow) error {
	const rule = "a benchmark result is what was signed"
	shown := row.BenchmarkResult
	if shown.Number != p.lastNumber+1 {
		p.Breach("results are numbered without a gap", shown.ResultID, "number %d follows %d", shown.Number, p.lastNumber)
	}
	p.lastNumber = shown.Number
	if row.Envelope == "" {
		p.Breach("what is shown was accepted", shown.ResultID, "no accepted receipt belongs to it")
		return nil
	}
	p.records++
	record, err := benchmark.OpenRecord([]byte(row.Envelope), []byte(row.WorkerEnvelope), p.Keys)
	if err != nil {
		p.Breach("benchmark records are signed by our keys", shown.ResultID, "%v", err)
		return nil
	}
	if entry, err := receipt.EntryOf([]byte(row.Envelope)); err != nil || !p.Leaf(record.LogIndex, entry) {
		p.Breach("a receipt is its leaf in the log", shown.ResultID, "leaf %d is something else", record.LogIndex)
	}
	if record.LogIndex < p.lastLeaf {
		p.Breach("results are numbered in the order of the log", shown.ResultID, "number %d has leaf %d, an earlier one has a later leaf", shown.Number, record.LogIndex)
	}
	p.lastLeaf = record.LogIndex + 1
	standing, err := standingNow(ctx, tx, record)
	if err != nil {
		return err
	}
	want := rowOf(resultOf(record.Receipt, Submitted{ResultID: record.ResultID, ReceiptID: record.ReceiptID, Standing: standing}, record.WorkerKeyID, db.Micros(record.ReceivedAt)))
	want.Number, want.BoardID, want.GroupID, want.Speaks = shown.Number, shown.BoardID, shown.GroupID, shown.Speaks // voices checks who speaks
	if want.GpuSlug != record.GPUSlug {
		// The table of names has changed since: results stay under the slug that was signed.
		want.GpuSlug, want.GpuName = record.GPUSlug, shown.GpuName
	}
	if want != shown || row.ReceivedAt != shown.CreatedAt {
		p.Breach(rule, shown.ResultID, "record and result differ")
	}
	for _, f := range facetsOf(record.Receipt) {
		f.also = ""
		p.facets[f] = append(p.facets[f], shown.Number)
		p.postings++
	}
	if err := p.answered(ctx, tx, record); err != nil {
		return err
	}
	slug := record.GPUSlug
	if record.Receipt.RenderDevice != benchmark.GPU || !standing.Ranks() {
		slug = "" // it is in no group
	}
	return p.grouped(ctx, tx, shown, versionsOf(record.Receipt), slug)
}

// answered checks that the service drew the challenge that a record says was answered.
func (p *resultPage) answered(ctx context.Context, tx *db.Tx, record benchmark.Record) error {
	const rule = "a verified result answers its challenge"
	said := record.Receipt.Challenge
	if said == nil {
		if s := record.StandingOf(); s != benchmark.Unverified && s != benchmark.Synthetic {
			p.Breach(rule, record.ResultID, "it is %s and has no challenge", s)
		}
		return nil
	}
	row, err := tx.ChallengeGet(ctx, said.ChallengeID)
	if err != nil && !db.IsNotFound(err) {
		return fmt.Errorf("read a challenge: %w", err)
	}
	if drawnOf(row).Challenge != said.Challenge || row.ResultID != record.ResultID || row.FrameSha256 != said.FrameSHA256 {
		p.Breach(rule, record.ResultID, "challenge %s is of %q, and another one", said.ChallengeID, row.ResultID)
	}
	return nil
}

// grouped checks that a result is in the groups of its versions and its GPU.
func (p *resultPage) grouped(ctx context.Context, tx *db.Tx, shown query.BenchmarkResult, v Versions, slug string) error {
	for _, in := range []struct {
		group int64
		slug  string
		none  bool
	}{{shown.BoardID, "", false}, {shown.GroupID, slug, slug == ""}} {
		if in.none {
			if in.group != 0 {
				p.Breach("a result is ranked in its group", shown.ResultID, "it is in group %d, and not to be ranked", in.group)
			}
			continue
		}
		group, known := p.groups[in.group]
		if !known {
			var err error
			if group, err = tx.BenchmarkGroupGet(ctx, in.group); err != nil && !db.IsNotFound(err) {
				return fmt.Errorf("read a group: %w", err)
			}
			p.groups[in.group] = group
		}
		if group.GroupID == 0 || group.GpuSlug != in.slug || (Versions{group.BenchmarkVersion, group.SceneVersion, group.ScoringVersion}) != v {
			p.Breach("a result is ranked in its group", shown.ResultID, "group %d is of %q under %s, %s, %s", in.group, group.GpuSlug, group.BenchmarkVersion, group.SceneVersion, group.ScoringVersion)
		}
	}
	return nil
}

// searched checks that the page's results are found by exactly their values.
func (p *resultPage) searched(ctx context.Context, tx *db.Tx) error {
	for f, want := range p.facets {
		facetID, err := tx.BenchmarkFacetFind(ctx, query.BenchmarkFacetFindParams{Field: f.field, Value: f.value})
		if err != nil && !db.IsNotFound(err) {
			return fmt.Errorf("find a value: %w", err)
		}
		found, err := tx.AuditBenchmarkPostings(ctx, query.AuditBenchmarkPostingsParams{FacetID: facetID, Behind: p.behind, Last: p.lastNumber})
		if err != nil {
			return fmt.Errorf("read postings: %w", err)
		}
		if !slices.Equal(found, want) {
			p.Breach("a result is found by its values", f.field+" "+f.value, "of the results %d to %d it finds %d, and %d have it", p.behind+1, p.lastNumber, len(found), len(want))
		}
	}
	return nil
}
