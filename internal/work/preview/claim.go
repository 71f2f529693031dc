package preview

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/quote"
)

// Work is a preview for a worker to render.
type Work struct {
	PreviewID   string
	InputSHA256 string // of the upload's main file
	Settings    settings.Settings
	Lease       lease.Lease
	Divisible   bool // its frames may be rendered in strips
}

// Claim leases the next preview to a worker for which no frame waits and that holds no
// other preview: the first one of each workspace, then the second of each, each time in
// the order of ordering. ok is false when there is none. A crash after the commit leaves
// an abandoned lease, which lapses.
func (p *Previews) Claim(ctx context.Context, holder string) (w Work, ok bool, err error) {
	var waiting int64
	err = p.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		waiting, err = tx.PreviewsAnyWaiting(ctx, holder) // idle workers poll often: one indexed read
		return err
	})
	if err != nil || waiting == 0 {
		return w, false, err
	}
	err = p.DB.Write(ctx, func(tx *db.Tx) error {
		w, ok = Work{}, false // the transaction may run again after a conflict
		held, err := tx.PreviewsHeld(ctx, holder)
		if err != nil || held > 0 {
			return err
		}
		if idle, err := dispatch.Idles(ctx, tx, holder); err != nil || !idle {
			return err
		}
		row, err := tx.PreviewNext(ctx, holder)
		if db.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		leases, err := lease.ClaimIDs(ctx, tx, []string{LeaseID(row.PreviewID, int(row.Frame))}, holder, p.LeaseLife)
		if err != nil || len(leases) == 0 {
			return err
		}
		upload, err := tx.UploadByID(ctx, row.UploadID)
		if err != nil {
			return err
		}
		claimed, err := tx.PreviewClaim(ctx, query.PreviewClaimParams{WorkerID: holder, Now: tx.Now, PreviewID: row.PreviewID})
		if _, err := previewRows.Changed(ctx, tx, claimed, err); err != nil {
			return err
		}
		chosen, err := settings.Read(row.Settings)
		if err != nil {
			return err
		}
		var scene quote.Scene
		if err := json.Unmarshal([]byte(upload.Scene), &scene); err != nil {
			return fmt.Errorf("read the scene of %s: %w", row.UploadID, err)
		}
		w, ok = Work{PreviewID: row.PreviewID, InputSHA256: upload.Sha256, Settings: chosen, Lease: leases[0], Divisible: scene.StripOverlap > 0}, true
		return nil
	})
	if err != nil {
		return Work{}, false, fmt.Errorf("claim a preview: %w", err)
	}
	return w, ok, nil
}

// Upload is the upload of a preview, for the worker that holds it. Error: lease_lost.
func (p *Previews) Upload(ctx context.Context, workerID, previewID string) (uploadID string, err error) {
	err = p.DB.Read(ctx, func(tx *db.Tx) (err error) {
		uploadID, err = tx.PreviewUpload(ctx, query.PreviewUploadParams{PreviewID: previewID, WorkerID: workerID})
		return err
	})
	if db.IsNotFound(err) {
		return "", leaseLost(previewID)
	}
	return uploadID, err
}

// Heartbeat extends the leases of previews and returns the ids of those that the worker no
// longer holds. One that is held for longer than longestHold is taken away.
func (p *Previews) Heartbeat(ctx context.Context, holder string, held []lease.Ref, progress []float64) (lost []string, err error) {
	var late []lease.Ref
	err = p.DB.Write(ctx, func(tx *db.Tx) error {
		lost, late = []string{}, nil // the transaction may run again after a conflict
		for i, ref := range held {
			ref.Holder = holder
			row, err := tx.PreviewGet(ctx, Of(ref.ID))
			if err != nil && !db.IsNotFound(err) {
				return fmt.Errorf("read a preview: %w", err)
			}
			if row.ClaimedAt < tx.Now-longestHold.Microseconds() {
				lost, late = append(lost, ref.ID), append(late, ref)
				continue
			}
			err = lease.Beat(ctx, tx, ref, progress[i], p.LeaseLife)
			if errors.Is(err, lease.ErrLost) {
				lost = append(lost, ref.ID)
				continue
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return lost, err
	}
	for _, ref := range late {
		failure := framecheck.Failure{Code: fault.FrameTimeExceeded, Message: fmt.Sprintf("The preview was not finished after %s.", longestHold)}
		if err := p.Fail(ctx, ref, failure); err != nil && !fault.Is(err, fault.LeaseLost) {
			return lost, err
		}
	}
	return lost, nil
}

// Release returns previews of a worker that stops or gets a frame. It is no failure. One
// that is not the worker's any more is skipped.
func (p *Previews) Release(ctx context.Context, refs []lease.Ref) error {
	for _, ref := range refs {
		err := p.DB.Write(ctx, func(tx *db.Tx) error { return release(ctx, tx, ref) })
		if err != nil && !errors.Is(err, lease.ErrLost) && !db.IsNotFound(err) {
			return fmt.Errorf("release a preview: %w", err)
		}
	}
	return nil
}

func release(ctx context.Context, tx *db.Tx, ref lease.Ref) error {
	if _, err := tx.PreviewLock(ctx, Of(ref.ID)); err != nil {
		return err
	}
	if err := lease.Release(ctx, tx, ref, Queue); err != nil {
		return err
	}
	return requeue(ctx, tx, Of(ref.ID))
}

// requeue lets a preview whose lease waits again wait too.
func requeue(ctx context.Context, tx *db.Tx, previewID string) error {
	row, err := tx.PreviewRequeue(ctx, previewID)
	_, err = previewRows.Changed(ctx, tx, row, err)
	return err
}

// Attempts that fail until a preview fails. Another worker may do better, but a person
// waits, and nothing is paid.
const (
	mostFailures     = 2 // apparently caused by the file
	mostWorkerFaults = 3 // of workers that vanish, or cannot get at the file or their GPU
)

// Fail ends an attempt that a worker could not finish. Another attempt follows, unless it
// would be useless. Error: lease_lost.
func (p *Previews) Fail(ctx context.Context, ref lease.Ref, f framecheck.Failure) error {
	return p.DB.Write(ctx, func(tx *db.Tx) error {
		err := p.fail(ctx, tx, ref, f)
		if errors.Is(err, lease.ErrLost) || db.IsNotFound(err) {
			return leaseLost(ref.ID)
		}
		return err
	})
}

func (p *Previews) fail(ctx context.Context, tx *db.Tx, ref lease.Ref, f framecheck.Failure) error {
	previewID := Of(ref.ID)
	if _, err := tx.PreviewLock(ctx, previewID); err != nil {
		return err
	}
	f.Message = cmp.Or(f.Message, string(f.Code))
	failed, err := lease.Fail(ctx, tx, ref, string(f.Code), f.Message, f.RetryDelay())
	if err != nil {
		return err
	}
	most := int64(mostFailures)
	switch f.Code {
	case fault.WorkerLost, fault.GPUUnavailable, fault.InputDamaged:
		most = mostWorkerFaults
	case fault.FrameTimeExceeded: // each further attempt takes as long
		most = 1
	}
	p.Log.Warn("preview failed", "preview_id", previewID, "frame", failed.Item, "worker_id", ref.Holder, "attempt", ref.Attempt,
		"failures", failed.Failures, "code", f.Code, "message", f.Message)
	if failed.Failures < most && !f.Final {
		return requeue(ctx, tx, previewID)
	}
	if err := lease.Drop(ctx, tx, Queue, previewID); err != nil {
		return err
	}
	row, err := tx.PreviewFailed(ctx, query.PreviewFailedParams{Now: tx.Now, FaultCode: string(f.Code), FaultText: f.Message, PreviewID: previewID})
	_, err = previewRows.Changed(ctx, tx, row, err)
	return err
}

// Leases defines how the lease engine treats previews.
func (p *Previews) Leases() lease.Queue {
	return lease.Queue{Name: Queue, Life: p.LeaseLife, LongestDelay: framecheck.LongestRetryDelay, Remote: true, OnLapse: p.lapse}
}

// lapse ends the attempt of a worker that stopped sending heartbeats. A blameless lapse is
// no failed attempt.
func (p *Previews) lapse(ctx context.Context, tx *db.Tx, l lease.Lease, blameless bool) (err error) {
	if blameless {
		err = release(ctx, tx, l.Ref())
	} else {
		err = p.fail(ctx, tx, l.Ref(), framecheck.Failure{Code: fault.WorkerLost, Message: "The worker that rendered it stopped reporting."})
	}
	if db.IsNotFound(err) {
		return lease.ErrLost
	}
	return err
}

// leaseLost is the one answer to a report that comes too late, for any reason.
func leaseLost(leaseID string) error {
	return fault.New(fault.LeaseLost, "The preview %s no longer belongs to this worker.", leaseID)
}
