package webhook

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// Paces of a lane.
const (
	// lookEvery is how often a lane with open calls looks for what has become due.
	lookEvery = time.Second
	// crowded is how long a lane of a workspace that has its share waits.
	crowded = time.Second
	// inStock is how many deliveries a lane reads at once, each for lookEvery.
	inStock = 4 * perLane
)

// Drive is the work of a lease of Queue: it makes the deliveries of one lane
// until none is due, and leaves the lane to come again when the next one is.
func (h *Hooks) Drive(ctx context.Context, l lease.Lease) error {
	workspaceID := workspaceOf(l.Subject)
	if !h.enter(workspaceID) {
		return h.DB.Write(ctx, func(tx *db.Tx) error { return lease.Reschedule(ctx, tx, l.Ref(), Queue, tx.Time().Add(crowded)) })
	}
	defer h.leave(workspaceID)
	wake, stop := h.DB.Listen(laneTopic(l.Subject))
	defer stop()
	calls, cancel := context.WithCancel(ctx)
	d := &drive{Hooks: h, lease: l, open: map[string]bool{}, ended: make(chan outcome, perLane)}
	defer func() { // no call outlives its lane's lease
		cancel()
		for range len(d.open) {
			<-d.ended
		}
	}()
	return d.run(ctx, calls, wake)
}

// drive is one lane being driven.
type drive struct {
	*Hooks
	lease lease.Lease
	open  map[string]bool // deliveries under way
	ended chan outcome
	stock []letter  // due and not under way, the longest waiting first
	read  time.Time // when the stock was
}

func (d *drive) run(ctx, calls context.Context, wake <-chan struct{}) error {
	var done []outcome
	for {
		if err := d.fill(ctx, calls); err != nil {
			return err
		}
		if len(d.open) == 0 {
			settled, err := d.settle(ctx)
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
		case <-time.After(lookEvery):
			continue
		case o := <-d.ended:
			done = d.collect(o)
		}
		if ctx.Err() != nil {
			return ctx.Err() // they ended because we do
		}
		settled, err := d.record(ctx, done)
		if settled || err != nil {
			return err
		}
	}
}

// fill opens calls for what is due, as many as the lane may have.
func (d *drive) fill(ctx, calls context.Context) error {
	room := perLane - len(d.open)
	if room == 0 {
		return nil
	}
	if len(d.stock) == 0 || time.Since(d.read) > lookEvery {
		if err := d.restock(ctx); err != nil {
			return err
		}
	}
	room = min(room, len(d.stock))
	for _, l := range d.stock[:room] {
		l.at = l.at.Add(time.Since(d.read))
		d.open[l.delivery.DeliveryID] = true
		go func() {
			if l.endpoint.DisabledAt != 0 || l.endpoint.DeletedAt != 0 {
				d.ended <- outcome{letter: l} // it was disabled while the event was written
				return
			}
			d.ended <- d.call(calls, l)
		}()
	}
	d.stock = d.stock[room:]
	return nil
}

// restock reads what of the lane is due and not under way.
func (d *drive) restock(ctx context.Context) error {
	d.read = time.Now()
	return d.DB.Read(ctx, func(tx *db.Tx) error {
		d.stock = nil
		rows, err := tx.WebhookDue(ctx, query.WebhookDueParams{Lane: d.lease.Subject, Now: tx.Now, Max: inStock + int64(len(d.open))})
		if err != nil {
			return fmt.Errorf("read due webhooks: %w", err)
		}
		secrets := map[string][]string{}
		for _, row := range rows {
			if d.open[row.WebhookDelivery.DeliveryID] {
				continue
			}
			endpointID := row.WebhookEndpoint.EndpointID
			if secrets[endpointID] == nil {
				if secrets[endpointID], err = d.secretsOf(ctx, tx, endpointID); err != nil {
					return err
				}
			}
			d.stock = append(d.stock, letter{row.WebhookDelivery, row.WebhookEndpoint, row.Body, secrets[endpointID], tx.Time()})
		}
		return nil
	})
}

// collect takes an outcome and those that have come with it.
func (d *drive) collect(first outcome) []outcome {
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

// record writes what became of calls and, when none is open, settles the lane.
func (d *drive) record(ctx context.Context, done []outcome) (settled bool, err error) {
	err = d.DB.Write(ctx, func(tx *db.Tx) error {
		settled = false
		if err := lease.Beat(ctx, tx, d.lease.Ref(), 0, d.LeaseLife); err != nil {
			return err // another process drives the lane; it has called again
		}
		for _, o := range done {
			if err := d.note(ctx, tx, o); err != nil {
				return err
			}
		}
		if len(d.open) > 0 {
			return nil
		}
		settled, err = d.rest(ctx, tx)
		return err
	})
	return settled, err
}

// settle ends the drive if nothing is due by now.
func (d *drive) settle(ctx context.Context) (settled bool, err error) { return d.record(ctx, nil) }

// rest gives the lane's lease back: for good when nothing waits, else until the
// next delivery is due. It is not settled when one is due already. The lease's
// row is locked by now, so that an event which is written at this moment is
// either seen here or adds the lane again.
func (d *drive) rest(ctx context.Context, tx *db.Tx) (settled bool, err error) {
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

// enter counts a lane of a workspace in, unless it has its share.
func (h *Hooks) enter(workspaceID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.driving[workspaceID] >= perWorkspace {
		return false
	}
	h.driving[workspaceID]++
	return true
}

func (h *Hooks) leave(workspaceID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.driving[workspaceID]--; h.driving[workspaceID] == 0 {
		delete(h.driving, workspaceID)
	}
}
