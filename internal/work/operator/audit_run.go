package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/rowsum"
)

// Bounds of what is kept of audits.
const (
	keptRuns     = 30
	keptBreaches = 100 // of one run
)

// AuditRun is the outcome of an audit of the whole store.
type AuditRun struct {
	BeganAt, EndedAt                            time.Time
	Jobs, Wallets, Receipts, Benchmarks, Leaves int
	// BreachCount is how many breaches it found; Breaches are the first of them.
	BreachCount int
	Breaches    []Breach
}

// Breach is a promise of the service that the store does not keep: which one, by which
// row, and how.
type Breach struct{ Rule, Subject, Detail string }

// RecordAudit keeps the outcome of an audit that ends now, for operators to read later, and
// forgets old ones.
func RecordAudit(ctx context.Context, tx *db.Tx, run AuditRun) error {
	run.EndedAt = tx.Time()
	run.Breaches = run.Breaches[:min(len(run.Breaches), keptBreaches)]
	text, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("write the outcome of an audit: %w", err)
	}
	row := query.AuditRun{RunID: id.New(id.AuditRun), BeganAt: db.Micros(run.BeganAt), EndedAt: tx.Now, Breaches: int64(run.BreachCount), Found: string(text)}
	row.RowSum = runRows.Of(row)
	if err := tx.AuditRunAdd(ctx, query.AuditRunAddParams(row)); err != nil {
		return fmt.Errorf("keep the outcome of an audit: %w", err)
	}
	if err := tx.AuditRunsForget(ctx, keptRuns); err != nil {
		return fmt.Errorf("forget old audits: %w", err)
	}
	return nil
}

// LastAudit reads the latest audit that was recorded; nil where there is none.
func LastAudit(ctx context.Context, tx *db.Tx) (*AuditRun, error) {
	row, err := tx.AuditRunLast(ctx)
	if db.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last audit: %w", err)
	}
	var run AuditRun
	if err := json.Unmarshal([]byte(row.Found), &run); err != nil {
		return nil, fmt.Errorf("read the last audit: %w", err)
	}
	return &run, nil
}

// runRows carry checksums: what an audit found cannot be derived from anything
// else.
var runRows = rowsum.Table[query.AuditRun]{Name: "audit_run", Key: 1}
