package webhook

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// Limits of a delivery queue's pace.
const (
	// pollInterval is how often a delivery queue with open calls reads what has become due.
	pollInterval = time.Second
	// busyDelay is how long a delivery queue waits while its workspace drives all the delivery queues
	// that it may.
	busyDelay = time.Second
	// dueBatch is how many deliveries a delivery queue reads at once. It covers pollInterval
	// without holding a long backlog, with all its bodies, in memory.
	dueBatch = 4 * perQueue
)

// Drive handles a lease of Queue. It makes the deliveries of one delivery queue until none is
// due. Then it reschedules the delivery queue for the next due delivery, or finishes its lease.
//
// It returns nil when it has given the lease back itself. An error leaves the lease to
// the runner, which counts it as a failure of the delivery queue and tries again after a pause;
// the deliveries are still pending then. The end of ctx stops the delivery queue in the middle:
// calls that are open are cut off, and a later driver makes them again.
func (h *Hooks) Drive(ctx context.Context, l lease.Lease) error {
	workspaceID := workspaceOf(l.Subject)
	if !h.admit(workspaceID) {
		return h.DB.Write(ctx, func(tx *db.Tx) error { return lease.Reschedule(ctx, tx, l.Ref(), Queue, tx.Time().Add(busyDelay)) })
	}
	defer h.release(workspaceID)
	// Listen before the first read of due deliveries: one that is added between the two
	// is then seen by the read or by the wake, never by neither.
	wake, stop := h.DB.Listen(queueTopic(l.Subject))
	defer stop()
	calls, cancel := context.WithCancel(ctx)
	d := &queueDriver{Hooks: h, lease: l, open: map[string]bool{}, ended: make(chan outcome, perQueue)}
	defer func() { // no call outlives the lease: another process may drive the delivery queue next
		cancel()
		for range len(d.open) {
			<-d.ended
		}
	}()
	return d.run(ctx, calls, wake)
}

// queueDriver runs one delivery queue. Only its own goroutine touches its fields; calls report
// through ended. ended has room for every open call, so that a call never blocks on a
// driver that has stopped.
type queueDriver struct {
	*Hooks
	lease  lease.Lease
	open   map[string]bool // ids of deliveries whose call is open
	ended  chan outcome
	due    []attempt // due and not open, the longest waiting first
	readAt time.Time // when due was read
}

// run alternates between starting calls and recording their outcomes. ctx ends the
// run; calls ends the open calls.
func (d *queueDriver) run(ctx, calls context.Context, wake <-chan struct{}) error {
	var done []outcome
	for {
		if err := d.fill(ctx, calls); err != nil {
			return err
		}
		if len(d.open) == 0 {
			settled, err := d.finishIfIdle(ctx)
			if settled || err != nil {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
			continue
		case <-time.After(pollInterval):
			continue
		case o := <-d.ended:
			done = d.collect(o)
		}
		// Checked apart from the select, which chooses at random when a call ended
		// because of ctx.
		if ctx.Err() != nil {
			return ctx.Err() // the calls ended because the delivery queue stops, so their outcomes mean nothing
		}
		settled, err := d.record(ctx, done)
		if settled || err != nil {
			return err
		}
	}
}

// fill starts calls for due deliveries, up to perQueue at once. It reads the database
// only when it has nothing left to start or what it read is older than pollInterval: a
// delivery queue with a backlog would otherwise read it again after every call.
func (d *queueDriver) fill(ctx, calls context.Context) error {
	slots := perQueue - len(d.open)
	if slots == 0 {
		return nil
	}
	if len(d.due) == 0 || time.Since(d.readAt) > pollInterval {
		if err := d.readDue(ctx); err != nil {
			return err
		}
	}
	slots = min(slots, len(d.due))
	for _, a := range d.due[:slots] {
		// The attempt's time is the database's clock plus the time since the read, so
		// that a slow local clock cannot date a signature.
		a.at = a.at.Add(time.Since(d.readAt))
		d.open[a.delivery.DeliveryID] = true
		go func() {
			if a.endpoint.DisabledAt != 0 || a.endpoint.DeletedAt != 0 {
				d.ended <- outcome{attempt: a} // the endpoint was disabled while the event was written
				return
			}
			d.ended <- d.call(calls, a)
		}()
	}
	d.due = d.due[slots:]
	return nil
}

// readDue reads the delivery queue's deliveries that are due and not open. It asks for dueBatch
// rows beyond the open ones, because those are still due in the database and would
// otherwise fill the batch.
func (d *queueDriver) readDue(ctx context.Context) error {
	d.readAt = time.Now()
	return d.DB.Read(ctx, func(tx *db.Tx) error {
		d.due = nil
		rows, err := tx.WebhookDue(ctx, query.WebhookDueParams{Lane: d.lease.Subject, Now: tx.Now, Max: dueBatch + int64(len(d.open))})
		if err != nil {
			return fmt.Errorf("read due webhooks: %w", err)
		}
		// Deliveries of a delivery queue mostly share an endpoint. Its secrets are opened once
		// a batch.
		secrets := map[string][]string{}
		for _, row := range rows {
			// An open call's row is still pending until its outcome is stored.
			if d.open[row.WebhookDelivery.DeliveryID] {
				continue
			}
			endpointID := row.WebhookEndpoint.EndpointID
			if secrets[endpointID] == nil {
				if secrets[endpointID], err = d.secretsOf(ctx, tx, endpointID); err != nil {
					return err
				}
			}
			d.due = append(d.due, attempt{row.WebhookDelivery, row.WebhookEndpoint, row.Body, secrets[endpointID], tx.Time()})
		}
		return nil
	})
}

// collect takes one outcome and all others that are ready, so that one transaction
// records them all.
func (d *queueDriver) collect(first outcome) []outcome {
	done := []outcome{first}
	for {
		select {
		case o := <-d.ended:
			done = append(done, o)
			continue
		default:
		}
		for _, o := range done {
			delete(d.open, o.delivery.DeliveryID)
		}
		return done
	}
}

// record stores outcomes. When no call is open, it also tries to release the delivery queue. It
// reports true when the delivery queue's lease is gone and the run is over.
//
// The heartbeat comes first: it proves that the lease is still this process's and locks
// its row. Without it a process that was silent for LeaseLife would overwrite what its
// successor has stored.
func (d *queueDriver) record(ctx context.Context, done []outcome) (settled bool, err error) {
	err = d.DB.Write(ctx, func(tx *db.Tx) error {
		// The transaction may run twice after a conflict, and the first run may have
		// set it.
		settled = false
		if err := lease.Beat(ctx, tx, d.lease.Ref(), 0, d.LeaseLife); err != nil {
			return err // another process drives the delivery queue and has repeated the calls
		}
		for _, o := range done {
			if err := d.recordAttempt(ctx, tx, o); err != nil {
				return err
			}
		}
		if len(d.open) > 0 {
			return nil
		}
		settled, err = d.releaseQueue(ctx, tx)
		return err
	})
	return settled, err
}

// finishIfIdle ends the run when nothing is due. A false result means that a delivery
// became due in between; the run continues.
func (d *queueDriver) finishIfIdle(ctx context.Context) (settled bool, err error) {
	return d.record(ctx, nil)
}

// releaseQueue finishes the delivery queue's lease when nothing waits, otherwise reschedules it
// for the next due delivery. It reports false when a delivery is due already. The
// lease's row is locked by now. An event that is written at the same moment is
// therefore either seen here, or its own wakeQueue adds the delivery queue again.
func (d *queueDriver) releaseQueue(ctx context.Context, tx *db.Tx) (settled bool, err error) {
	next, err := tx.WebhookNext(ctx, d.lease.Subject)
	switch {
	case db.IsNotFound(err):
		return true, lease.Finish(ctx, tx, d.lease.Ref())
	case err != nil:
		return false, fmt.Errorf("read next webhook: %w", err)
	case next <= tx.Now:
		return false, nil
	}
	return true, lease.Reschedule(ctx, tx, d.lease.Ref(), Queue, db.Time(next))
}

// admit counts a delivery queue of a workspace, unless the workspace already drives perWorkspace
// delivery queues. Without this limit one workspace with many slow receivers would fill the whole
// process. The count is per process; several processes drive that much more.
func (h *Hooks) admit(workspaceID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.driving[workspaceID] >= perWorkspace {
		return false
	}
	h.driving[workspaceID]++
	return true
}

// release undoes one admit. Calling it without a successful admit would let a workspace
// exceed its share.
func (h *Hooks) release(workspaceID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.driving[workspaceID]--; h.driving[workspaceID] == 0 {
		delete(h.driving, workspaceID)
	}
}
