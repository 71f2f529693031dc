package app

import (
	"context"
	"maps"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/share"
)

// reaper returns the loop that takes back lapsed leases. heard reports whether a worker was
// heard since the last call; nil for a store whose workers are in this process.
func (a *App) reaper(queues map[string]lease.Queue, heard func() bool) func(context.Context) {
	r := lease.Reaper{DB: a.DB, Queues: slices.Collect(maps.Values(queues)), Log: a.Config.Log}
	if heard != nil {
		r.Pulse = &lease.Pulse{Heard: heard}
	}
	return func(ctx context.Context) {
		for pause(ctx, reapEvery) {
			n, err := r.Run(ctx)
			if err != nil && ctx.Err() == nil {
				a.Config.Log.Error("cannot take back lapsed leases", "err", err)
			}
			if n > 0 {
				a.Config.Log.Warn("leases lapsed", "count", n)
			}
		}
	}
}

// judge returns the loop that takes back frames that were held for too long, decides what a failed
// attempt means once other workers' results are there, accepts pictures that no worker can compare
// any more, and pauses node keys.
func (a *App) judge(p parts) func(context.Context) {
	return func(ctx context.Context) {
		for pause(ctx, judgeEvery) {
			for _, part := range []struct {
				does string
				do   func(context.Context) error
			}{
				{"decide failed attempts", p.frames.DecideFailures}, {"take back overdue frames", p.frames.TakeBackOverdue}, {"settle compared pictures", p.frames.SettleCompared},
				{"look after frames that are cut into strips", p.cuts.Tend}, {"look after reused frames to render again", p.rechecks.Tend}, {"compare node keys", p.workers.PauseKeys},
			} {
				if err := part.do(ctx); err != nil && ctx.Err() == nil {
					a.Config.Log.Error("cannot "+part.does, "err", err)
				}
			}
		}
	}
}

// sweeper returns the loop that removes blobs that a crash left without a row,
// and rows that are out of date.
func (a *App) sweeper(artifacts *artifact.Artifacts) func(context.Context) {
	return func(ctx context.Context) {
		for pause(ctx, sweepEvery) {
			if a.test {
				a.Forget(ctx) // its clock does not give the age of a file; strays are removed with the world
				continue
			}
			n, err := artifacts.Sweep(ctx)
			if err != nil && ctx.Err() == nil {
				a.Config.Log.Error("cannot sweep the blobs", "err", err)
			}
			if n > 0 {
				a.Config.Log.Warn("stray blobs removed", "count", n)
			}
			a.Forget(ctx)
		}
	}
}

// Forget deletes rows whose retention is over. One failure does not keep the
// others from being deleted; the next hour tries again.
func (a *App) Forget(ctx context.Context) {
	workers, logs := a.Config.WorkerLife, a.Config.LogLife
	for what, forget := range map[string]func(context.Context, *db.DB) (int64, error){
		"answers kept for idempotency keys": idempotency.Forget, "clients of the rate limit": ratelimit.Forget,
		"uploads that never came": intake.Forget, "links that were never sent": identity.ForgetUnsent, "invitations": identity.ForgetInvitations, "webhooks": func(ctx context.Context, _ *db.DB) (int64, error) { return a.webhooks.Forget(ctx) },
		"failed attempts":   func(ctx context.Context, d *db.DB) (int64, error) { return dispatch.ForgetFailedAttempts(ctx, d, logs) },
		"logs of frames":    func(ctx context.Context, d *db.DB) (int64, error) { return frames.ForgetLogs(ctx, d, logs) },
		"previews":          preview.Forget,
		"comments":          share.Forget,
		"parts":             func(ctx context.Context, d *db.DB) (int64, error) { return intake.ForgetParts(ctx, d, a.Blobs) },
		"rejected receipts": func(ctx context.Context, d *db.DB) (int64, error) { return leaderboard.ForgetRejected(ctx, d, workers) },
		"challenges": func(ctx context.Context, d *db.DB) (int64, error) {
			return leaderboard.ForgetChallenges(ctx, d, workers)
		},
		"workers that left": func(ctx context.Context, d *db.DB) (int64, error) { return dispatch.ForgetWorkers(ctx, d, workers) },
	} {
		if _, err := forget(ctx, a.DB); err != nil && ctx.Err() == nil {
			a.Config.Log.Error("cannot forget "+what, "err", err)
		}
	}
}

// pause waits for d and reports whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
