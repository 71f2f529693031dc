package dispatch

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Audit reports queue positions that disagree with the waiting frames or belong to no
// workspace or job, and workers and failed attempts that are not as they were written.
// Next would otherwise look for frames that do not exist, or overlook some. An error
// means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	rows, err := tx.AuditTurns(ctx)
	if err != nil {
		return fmt.Errorf("audit the turns: %w", err)
	}
	for _, r := range rows {
		breach("a job's turn says what waits", r.Party, "the counter is %d, %d leases wait", r.Waiting, r.Leases)
	}
	strange, err := tx.AuditTurnOwners(ctx)
	if err != nil {
		return fmt.Errorf("audit whose turns there are: %w", err)
	}
	for _, r := range strange {
		breach("a turn is a workspace's or a job's", r.Party, "within %q, served %d, counted %d", r.Within, r.ServedUs, r.CountedUs)
	}
	if err := trustRows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	if err := failureRows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	return workerRows.Audit(ctx, tx, breach, func(r query.Worker) error {
		if r.SeenAt < r.RegisteredAt-clockSlack.Microseconds() || r.SeenAt > tx.Now+clockSlack.Microseconds() {
			breach("a worker is seen between its registration and now", r.WorkerID, "registered at %s, seen at %s",
				db.Time(r.RegisteredAt).Format(time.RFC3339), db.Time(r.SeenAt).Format(time.RFC3339))
		}
		if kind := kindOf(r.BlenderVersion, r.Denoise); r.Kind != kind {
			breach("a worker is of its kind", r.WorkerID, "it is %q, by its version and denoising it is %q", r.Kind, kind)
		}
		return nil
	})
}

// clockSlack is how far a clock may have been wrong when a time was written. Correcting
// a clock must not cause breaches.
const clockSlack = 24 * time.Hour
