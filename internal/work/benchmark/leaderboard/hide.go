package leaderboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/receipt/signing"
)

// Hide takes results off every page and out of every count, and says why on their pages
// (decisions 21). Their receipts stay, and the log keeps them. Results that are hidden
// already do not change. It returns how many it has hidden. The board is recounted, which
// takes as long as opening every receipt, and submissions wait. Error: result_not_found.
func Hide(ctx context.Context, tx *db.Tx, resultIDs []string, reason string) (n int64, err error) {
	return changeShown(ctx, tx, resultIDs, func(resultID string) (int64, error) {
		row := query.BenchmarkHidden{ResultID: resultID, Reason: reason, HiddenAt: tx.Now}
		row.RowSum = hiddenRows.Of(row)
		return tx.BenchmarkHide(ctx, query.BenchmarkHideParams(row))
	})
}

// Show undoes Hide. Results that are shown stay as they are. Error: result_not_found.
func Show(ctx context.Context, tx *db.Tx, resultIDs []string) (n int64, err error) {
	return changeShown(ctx, tx, resultIDs, func(resultID string) (int64, error) { return tx.BenchmarkUnhide(ctx, resultID) })
}

// ResultsOf lists the accepted results of a node key, hidden ones included.
func ResultsOf(ctx context.Context, tx *db.Tx, nodeKeyID string) ([]string, error) {
	all, err := tx.BenchmarkOfNode(ctx, nodeKeyID)
	if err != nil {
		return nil, fmt.Errorf("list the results of a node key: %w", err)
	}
	return all, nil
}

// Accepted returns result_not_found unless each result was accepted: what was rejected is
// on no page.
func Accepted(ctx context.Context, tx *db.Tx, resultIDs []string) error {
	for _, resultID := range resultIDs {
		row, err := tx.BenchmarkReceiptGet(ctx, resultID)
		if db.IsNotFound(err) || (err == nil && row.Status != "accepted") {
			return fault.New(fault.ResultNotFound, "There is no accepted result %s.", resultID).WithAction("Use a result_id from the leaderboard.")
		}
		if err != nil {
			return fmt.Errorf("read benchmark receipt: %w", err)
		}
	}
	return nil
}

// changeShown changes each result under the lock of the board, and recounts the board if
// anything has changed.
func changeShown(ctx context.Context, tx *db.Tx, resultIDs []string, change func(resultID string) (int64, error)) (n int64, err error) {
	if _, err := lock(ctx, tx); err != nil {
		return 0, err
	}
	if err := Accepted(ctx, tx, resultIDs); err != nil {
		return 0, err
	}
	for _, resultID := range resultIDs {
		changed, err := change(resultID)
		if err != nil {
			return n, fmt.Errorf("change what is shown: %w", err)
		}
		n += changed
	}
	if n == 0 {
		return 0, nil
	}
	return n, rebuild(ctx, tx)
}

// rebuild derives everything that is shown and counted again from the accepted receipts
// that are not hidden, in the order of the log. The caller holds the lock.
func rebuild(ctx context.Context, tx *db.Tx) error {
	for _, clear := range []func(context.Context) error{
		tx.BenchmarkClearPostings, tx.BenchmarkClearFacets, tx.BenchmarkClearTallies, tx.BenchmarkClearResults, tx.BenchmarkClearGroups,
		func(ctx context.Context) error { return tx.BenchmarkAdvance(ctx, query.BenchmarkAdvanceParams{}) },
	} {
		if err := clear(ctx); err != nil {
			return fmt.Errorf("empty the leaderboard: %w", err)
		}
	}
	records, err := shownRecords(ctx, tx)
	if err != nil {
		return err
	}
	l := &locked{}
	for _, r := range records {
		record, err := r.open(ctx, tx)
		if err != nil {
			return err
		}
		standing, err := standingNow(ctx, tx, record)
		if err != nil {
			return err
		}
		result := resultOf(record.Receipt, Submitted{ResultID: record.ResultID, ReceiptID: record.ReceiptID, Standing: standing}, record.WorkerKeyID, db.Micros(record.ReceivedAt))
		result.GpuSlug = record.GPUSlug // as it was signed, even if the table of names has changed
		if err := l.add(ctx, tx, record.Receipt, result); err != nil {
			return err
		}
	}
	return nil
}

// standingNow is the standing of a result: that of its record, or what reference renders
// have said since.
func standingNow(ctx context.Context, tx *db.Tx, record benchmark.Record) (benchmark.Standing, error) {
	standing := record.StandingOf()
	if standing != benchmark.Waiting {
		return standing, nil
	}
	row, err := tx.ChallengeOfResult(ctx, record.ResultID)
	if err != nil && !db.IsNotFound(err) {
		return standing, fmt.Errorf("read the challenge of a result: %w", err)
	}
	switch row.Reference {
	case referenceConfirmed:
		return benchmark.Verified, nil
	case referenceRefuted:
		return benchmark.Refuted, nil
	}
	return standing, nil
}

// CountAnew recounts a board that an upgrade of the store has emptied, which takes
// as long as opening every receipt. It reports whether it had to.
func CountAnew(ctx context.Context, d *db.DB) (done bool, err error) {
	err = d.Write(ctx, func(tx *db.Tx) error {
		done = false
		row, err := tx.BenchmarkLock(ctx)
		if err != nil || row.Stale == 0 {
			return err
		}
		done = true
		return rebuild(ctx, tx)
	})
	return done, err
}

// shownRecord is the place of a record in the log, and what opens it.
type shownRecord struct {
	resultID string
	leaf     int64
	keys     []signingkey.Public
}

func (r shownRecord) open(ctx context.Context, tx *db.Tx) (benchmark.Record, error) {
	row, err := tx.BenchmarkReceiptGet(ctx, r.resultID)
	if err != nil {
		return benchmark.Record{}, fmt.Errorf("read benchmark receipt: %w", err)
	}
	record, err := benchmark.OpenRecord([]byte(row.Envelope), []byte(row.WorkerEnvelope), r.keys)
	if err != nil {
		err = fmt.Errorf("open benchmark record %s: %w", r.resultID, err)
	}
	return record, err
}

// shownRecords lists the records to show, in the order of the log.
func shownRecords(ctx context.Context, tx *db.Tx) ([]shownRecord, error) {
	keys, err := signing.PublicKeys(ctx, tx)
	if err != nil {
		return nil, err
	}
	var all []shownRecord
	for last := (query.BenchmarkReceipt{}); ; {
		rows, err := tx.BenchmarkReceiptAfter(ctx, last.ResultID)
		if err != nil {
			return nil, fmt.Errorf("read benchmark receipts: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			_, err := tx.BenchmarkHiddenGet(ctx, row.ResultID)
			if err != nil && !db.IsNotFound(err) {
				return nil, fmt.Errorf("read what is hidden: %w", err)
			}
			if err == nil || row.Status != "accepted" {
				continue
			}
			r := shownRecord{resultID: row.ResultID, keys: keys}
			record, err := r.open(ctx, tx)
			if err != nil {
				return nil, err
			}
			r.leaf = record.LogIndex
			all = append(all, r)
		}
		last = rows[len(rows)-1]
	}
	slices.SortFunc(all, func(a, b shownRecord) int { return cmp.Compare(a.leaf, b.leaf) })
	return all, nil
}

// Hidden is a result that an operator has hidden.
type Hidden struct {
	ResultID, Reason string
	HiddenAt         time.Time
}

// HiddenResults lists what is hidden, the latest first.
func HiddenResults(ctx context.Context, tx *db.Tx, most int) ([]Hidden, error) {
	rows, err := tx.BenchmarkHiddenLast(ctx, int64(most))
	if err != nil {
		return nil, fmt.Errorf("list what is hidden: %w", err)
	}
	all := make([]Hidden, 0, len(rows))
	for _, r := range rows {
		all = append(all, Hidden{r.ResultID, r.Reason, db.Time(r.HiddenAt)})
	}
	return all, nil
}

// hidden returns the refusal for a result that is hidden; nil when it is not.
func hidden(ctx context.Context, tx *db.Tx, resultID string) error {
	row, err := tx.BenchmarkHiddenGet(ctx, resultID)
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what is hidden: %w", err)
	}
	return fault.New(fault.ResultNotFound, "The operator has hidden result %s: %s", resultID, row.Reason).
		WithAction("Ask the operator. The log of receipts still has it.")
}
