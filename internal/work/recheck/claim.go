package recheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/job"
)

// Work is a frame for a worker to render again.
type Work struct {
	Job      job.Record
	Scene    string // the name of the scene that was priced
	Settings settings.Settings
	Lease    lease.Lease
}

// Claim leases to an idle worker the frame that waits longest of those that its class has
// rendered. ok is false when there is none, or it has one already.
func (r *Rechecks) Claim(ctx context.Context, holder string) (w Work, ok bool, err error) {
	waiting := false
	err = r.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		waiting, err = tx.RechecksWaiting(ctx, tx.Now) // idle workers poll often: one indexed read
		return err
	})
	if err != nil || !waiting {
		return w, false, err
	}
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		w, ok = Work{}, false // the transaction may run again after a conflict
		if held, err := tx.RechecksHeld(ctx, holder); err != nil || held > 0 {
			return err
		}
		if idle, err := dispatch.Idles(ctx, tx, holder); err != nil || !idle {
			return err
		}
		next, err := tx.RecheckNext(ctx, query.RecheckNextParams{Now: tx.Now, WorkerID: holder})
		if db.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		leases, err := lease.ClaimIDs(ctx, tx, []string{LeaseID(next.Subject, int(next.Item))}, holder, r.LeaseLife)
		if err != nil || len(leases) == 0 {
			return err
		}
		w.Lease, ok = leases[0], true
		if w.Job, err = job.Read(ctx, tx, next.Subject); err != nil {
			return err
		}
		scene, chosen, err := frames.PricedScene(ctx, tx, next.Subject)
		w.Scene, w.Settings = scene.Name, chosen.Picture()
		return err
	})
	if err != nil {
		return Work{}, false, fmt.Errorf("claim a frame to render again: %w", err)
	}
	return w, ok, nil
}

// Heartbeat extends leases and returns the ids of those that the worker no longer holds.
func (r *Rechecks) Heartbeat(ctx context.Context, held []lease.Ref, progress []float64) (lost []string, err error) {
	err = r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		lost, err = lease.BeatAll(ctx, tx, held, progress, r.LeaseLife)
		return err
	})
	return lost, err
}

// longestHold bounds the time from a claim to its report, despite heartbeats.
func (r *Rechecks) longestHold() time.Duration { return r.FrameTime + 2*contract.TransferTime }

// Release returns frames of a worker that stops or gets a paid one. One that is not the worker's
// any more is skipped.
func (r *Rechecks) Release(ctx context.Context, refs []lease.Ref) error {
	for _, ref := range refs {
		err := r.DB.Write(ctx, func(tx *db.Tx) error { return lease.Release(ctx, tx, ref, Queue) })
		if err != nil && !errors.Is(err, lease.ErrLost) {
			return fmt.Errorf("release a frame to render again: %w", err)
		}
	}
	return nil
}

// Fail ends an attempt that a worker could not finish. Another one follows, unless there were too
// many: a failure says nothing about the pictures. Error: lease_lost.
func (r *Rechecks) Fail(ctx context.Context, ref lease.Ref, f framecheck.Failure) error {
	return lostAs(ref, r.DB.Write(ctx, func(tx *db.Tx) error { return fail(ctx, tx, ref, f) }))
}

// fail keeps what an earlier rendering showed that differs.
func fail(ctx context.Context, tx *db.Tx, ref lease.Ref, f framecheck.Failure) error {
	code, message := string(f.Code), f.Message
	row, err := tx.LeaseGet(ctx, ref.ID)
	if err != nil && !db.IsNotFound(err) {
		return fmt.Errorf("read a frame to render again: %w", err)
	}
	if row.LastCode == string(doubted) {
		code, message = row.LastCode, row.LastError
	}
	failed, err := lease.Fail(ctx, tx, ref, code, message, failureDelay)
	if err != nil || failed.Failures < mostFailures && !f.Final {
		return err
	}
	return lease.Remove(ctx, tx, Queue, failed.Subject, failed.Item)
}

// Leases defines how the lease engine treats frames to render again.
func (r *Rechecks) Leases() lease.Queue {
	return lease.Queue{Name: Queue, Life: r.LeaseLife, LongestDelay: failureDelay, Remote: true, OnLapse: func(ctx context.Context, tx *db.Tx, l lease.Lease, blameless bool) error {
		if blameless {
			return lease.Release(ctx, tx, l.Ref(), Queue)
		}
		return fail(ctx, tx, l.Ref(), framecheck.Failure{Code: fault.WorkerLost, Message: "The worker that rendered it stopped reporting."})
	}}
}

// lostAs gives a report that comes too late the error that workers know.
func lostAs(ref lease.Ref, err error) error {
	if errors.Is(err, lease.ErrLost) {
		return fault.New(fault.LeaseLost, "The lease %s no longer belongs to this worker.", ref.ID)
	}
	return err
}
