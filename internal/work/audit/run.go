package audit

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

// Run is an audit that has ended.
type Run struct {
	BeganAt, EndedAt time.Time
	// BreachCount is how many breaches it found; Breaches are the first of them.
	BreachCount int
	Audited
}

// Record keeps the outcome of an audit, for operators to read later, and forgets old ones.
func Record(ctx context.Context, tx *db.Tx, began time.Time, found Audited) error {
	kept := found
	kept.Breaches = append([]Breach{}, found.Breaches[:min(len(found.Breaches), keptBreaches)]...)
	text, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("write the outcome of an audit: %w", err)
	}
	row := query.AuditRun{RunID: id.New(id.AuditRun), BeganAt: db.Micros(began), EndedAt: tx.Now, Breaches: int64(len(found.Breaches)), Found: string(text)}
	row.RowSum = runRows.Of(row)
	if err := tx.AuditRunAdd(ctx, query.AuditRunAddParams(row)); err != nil {
		return fmt.Errorf("keep the outcome of an audit: %w", err)
	}
	if err := tx.AuditRunsForget(ctx, keptRuns); err != nil {
		return fmt.Errorf("forget old audits: %w", err)
	}
	return nil
}

// LastRun reads the latest audit that was recorded; nil where there is none.
func LastRun(ctx context.Context, tx *db.Tx) (*Run, error) {
	row, err := tx.AuditRunLast(ctx)
	if db.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last audit: %w", err)
	}
	r := Run{BeganAt: db.Time(row.BeganAt), EndedAt: db.Time(row.EndedAt), BreachCount: int(row.Breaches)}
	if err := json.Unmarshal([]byte(row.Found), &r.Audited); err != nil {
		return nil, fmt.Errorf("read the last audit: %w", err)
	}
	return &r, nil
}

// runRows carry checksums: what an audit found follows from nothing else.
var runRows = rowsum.Table[query.AuditRun]{
	Name: "audit_run", Key: 1,
	After: func(ctx context.Context, tx *db.Tx, last query.AuditRun) ([]query.AuditRun, error) {
		return tx.AuditRunAfter(ctx, last.RunID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.AuditRun, sum string) error {
		return tx.AuditRunSum(ctx, query.AuditRunSumParams{RowSum: sum, RunID: r.RunID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{runRows}

// auditRuns reports outcomes that are not as they were recorded.
func auditRuns(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	return runRows.Audit(ctx, tx, breach, nil)
}
