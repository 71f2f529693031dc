package dispatch

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/workertags"
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
	pools, err := tx.AuditPoolBits(ctx)
	if err != nil {
		return fmt.Errorf("read the pools: %w", err)
	}
	for i, p := range pools {
		if (i == 0) != (p == query.Pool{Bit: openPool}) || p.Bit < 1 || p.Bit > openPool<<mostPools || p.Bit&(p.Bit-1) != 0 {
			breach("a tag has a bit", p.Tag, "it is %d", p.Bit)
		}
	}
	if len(pools) == 0 {
		breach("a tag has a bit", "", "there is none of workspaces without tags")
	}
	if err := auditPools(ctx, tx, pools, breach); err != nil {
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
		if is := poolsIn(pools, workertags.Read(r.Tags), r.Reserved == 1); r.Pools != is {
			breach("a worker is in the pools of its tags", r.WorkerID, "they are %d, by its tags %d", r.Pools, is)
		}
		return nil
	})
}

// auditPools reports jobs and workspaces whose turns require something else of workers than the
// workspace does.
func auditPools(ctx context.Context, tx *db.Tx, pools []query.Pool, breach func(rule, subject, format string, args ...any)) error {
	jobs, err := tx.AuditPools(ctx)
	if err != nil {
		return fmt.Errorf("audit the pools of jobs: %w", err)
	}
	for _, jobID := range jobs {
		breach("a job requires the tags of its workspace", jobID, "its pools are others")
	}
	rows, err := tx.AuditRequired(ctx)
	if err != nil {
		return fmt.Errorf("audit what workspaces require: %w", err)
	}
	for _, r := range rows {
		if is := requiredBits(pools, workertags.Read(r.Tags)); is != r.Pools || r.MostHeld != r.FramesAtOnce {
			breach("a turn requires what its workspace does", r.WorkspaceID, "the pools %d and %d frames at once, by its turn %d and %d", is, r.FramesAtOnce, r.Pools, r.MostHeld)
		}
	}
	return nil
}

// clockSlack is how far a clock may have been wrong when a time was written. Correcting
// a clock must not cause breaches.
const clockSlack = 24 * time.Hour
