package worker

import (
	"context"

	"svc.example/internal/work/worker/outbox"
)

// send delivers reports until ctx ends or, once closing is closed, until none is left.
// Reports go one at a time: a picture fills the connection, and the order of the frames
// stays.
func (w *Worker) send(ctx context.Context, closing <-chan struct{}) {
	for ctx.Err() == nil {
		k := w.out.Next()
		if k == "" {
			select {
			case <-w.out.Arrived():
				continue
			case <-ctx.Done():
			// A report may have come between next and this select.
			case <-closing:
				if w.out.Next() != "" {
					continue
				}
			}
			return
		}
		if err := w.sendOne(ctx, k); err != nil {
			return // ctx has ended; the next run sends the report
		}
	}
}

// sendOne repeats one report until the server answers. It returns an error only when ctx
// ends first. The lease is dropped from the held ones only after the answer: while a large
// picture is on its way, heartbeats keep the lease alive.
func (w *Worker) sendOne(ctx context.Context, k string) error {
	r, err := w.out.Read(k)
	if err != nil {
		w.log.Error("a kept report cannot be read and is dropped", "report", k, "err", err)
		return w.forget(k)
	}
	id, attempt := r.Lease()
	log := w.log.With("lease_id", id, "attempt", attempt)
	first := true
	err = w.persist(ctx, "report", func(workerID string) error {
		// The first try uses the worker id that rendered the frame, which may be an
		// earlier run's: the lease belongs to it.
		err := w.deliver(ctx, k, r, workerID, first)
		first = false
		return err
	})
	if err != nil && !refused(err) {
		return err
	}
	if err != nil {
		log.Warn("the server refuses the report, it is dropped", "err", err)
	} else if r.Frame != nil {
		log.Info("frame delivered", "job_id", r.Frame.JobID, "frame", r.Frame.Frame, "seconds", r.Frame.RenderSeconds)
	}
	w.held.drop(id, attempt)
	return w.forget(k)
}

// forget removes an answered report. A file that stays is only logged: the next run sends
// it once more, and the server refuses or repeats its answer.
func (w *Worker) forget(k string) error {
	if err := w.out.Remove(k); err != nil {
		w.log.Error("an answered report stays in the outbox", "report", k, "err", err)
	}
	return nil
}

// deliver makes one call. asKept leaves the worker id as it was stored; later tries use
// the current one, since the server may have registered this worker again.
func (w *Worker) deliver(ctx context.Context, k string, r outbox.Report, workerID string, asKept bool) error {
	if r.Fail != nil {
		if !asKept {
			r.Fail.WorkerID = workerID
		}
		return w.cfg.Farm.Fail(ctx, *r.Fail)
	}
	if !asKept {
		r.Frame.WorkerID = workerID
	}
	kept, err := w.out.Open(k, *r.Frame)
	if err != nil {
		return err
	}
	defer kept.Close()
	return w.cfg.Farm.Deliver(ctx, *r.Frame, kept.Picture, kept.Outputs...)
}
