package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Queue describes how the work of one queue is treated.
type Queue struct {
	Name string
	// Life is how long a claim lives between heartbeats.
	Life time.Duration
	// LongestPause bounds the pause before failed work is tried again: 1 s after
	// the first failure, then twice as long each time.
	LongestPause time.Duration
	// LongestDelay is the longest time for which work is ever delayed, by plan or after a
	// failure. Work that is due later was written while the clock was ahead. 0 means no
	// bound.
	LongestDelay time.Duration
	// MaxFailures is the number of failures and lapses that makes an item a dead letter;
	// 0 if the queue's owner decides when to stop.
	MaxFailures int64
	// Remote says that workers hold the leases, and report over the network. Their time
	// stands still while no worker is heard.
	Remote bool
	// OnLapse, when set, ends a lapsed lease in the Reaper's transaction; ErrLost if it is
	// no longer held. blameless says that the holder may not be at fault: see Pulse. Without
	// it a lapse counts as a failure.
	OnLapse func(ctx context.Context, tx *db.Tx, l Lease, blameless bool) error
}

// pause is how long an item waits after that many failures.
func (q Queue) pause(failures int64) time.Duration {
	return min(time.Second<<min(max(failures-1, 0), 30), q.LongestPause)
}

// Fail returns the work as failed. It is due again after the queue's pause, or becomes a
// dead letter (died) at MaxFailures. Error: ErrLost.
func (q Queue) Fail(ctx context.Context, tx *db.Tx, l Lease, code, reason string) (died bool, err error) {
	failed, err := Fail(ctx, tx, l.Ref(), code, reason, q.pause(l.Failures+1))
	if err != nil || q.MaxFailures == 0 || failed.Failures < q.MaxFailures {
		return false, err
	}
	dead := query.DeadLetter{
		LeaseID: failed.ID, Queue: failed.Queue, Subject: failed.Subject, Item: failed.Item,
		Attempt: failed.Attempt, Failures: failed.Failures, LastCode: code, LastError: reason, DiedAt: tx.Now,
	}
	dead.RowSum = deadLetterRows.Of(dead)
	if err = tx.DeadLetterAdd(ctx, query.DeadLetterAddParams(dead)); err == nil {
		err = tx.LeaseRemove(ctx, failed.ID)
	}
	if err != nil {
		return false, fmt.Errorf("keep %s as a dead letter: %w", failed.ID, err)
	}
	return true, nil
}

// Lapsed is the failure code of an attempt whose holder sent no heartbeat in time.
const Lapsed = "lapsed"

// Reaper ends the leases whose holders sent no heartbeat in time. Several may run at
// once.
type Reaper struct {
	DB     *db.DB
	Queues []Queue
	Pulse  *Pulse // nil: the service hears everybody at all times
	Log    *slog.Logger
}

// Run ends lapsed leases, up to 1000 of each queue, and calls RepairClockSkew. It returns
// the number of leases that it ended. One that cannot be ended does not stop the others.
func (r Reaper) Run(ctx context.Context) (n int, err error) {
	deaf, err := r.beat(ctx)
	if err != nil {
		return 0, err
	}
	for _, q := range r.Queues {
		if broken := RepairClockSkew(ctx, r.DB, q); broken != nil {
			err = errors.Join(err, broken)
			continue
		}
		if q.Remote && deaf {
			continue
		}
		lapsed, broken := lapsedOf(ctx, r.DB, q.Name)
		err = errors.Join(err, broken)
		for _, l := range lapsed {
			// ErrLost: a heartbeat came after all, or another process was first.
			broken := r.endLapsed(ctx, q, l)
			if errors.Is(broken, ErrLost) {
				continue
			}
			n, err = n+1, errors.Join(err, broken)
		}
	}
	return n, err
}

func lapsedOf(ctx context.Context, d *db.DB, queue string) (lapsed []Lease, err error) {
	err = d.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.LeaseLapsed(ctx, query.LeaseLapsedParams{Queue: queue, Now: tx.Now})
		lapsed, err = claimed(rows, err)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list lapsed leases: %w", err)
	}
	return lapsed, nil
}

func (r Reaper) endLapsed(ctx context.Context, q Queue, l Lease) error {
	dead := false
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		now, err := tx.LeaseGet(ctx, l.ID)
		if db.IsNotFound(err) || (err == nil && now.LapsesAt > tx.Now) {
			return ErrLost // a heartbeat came in between
		}
		if err != nil {
			return fmt.Errorf("read lease: %w", err)
		}
		blameless, err := r.judge(ctx, tx, q, l)
		if err != nil {
			return err
		}
		if q.OnLapse == nil {
			dead, err = q.Fail(ctx, tx, l, Lapsed, "the process that worked on it sent no heartbeat in time")
			return err
		}
		if err := q.OnLapse(ctx, tx, l, blameless); err != nil {
			return err
		}
		return tx.LeaseRememberLapse(ctx, query.LeaseRememberLapseParams{LeaseID: l.ID, Attempt: l.Attempt, Holder: l.Holder})
	})
	if err == nil && dead {
		logDeath(r.Log, l, errors.New(Lapsed))
	}
	return err
}

func logDeath(log *slog.Logger, l Lease, err error) {
	log.Error("work failed too often and is now a dead letter: see svc admin dead-letter", "queue", l.Queue, "lease_id", l.ID, "err", err)
}

// RepairClockSkew corrects times that were written while the clock was ahead. Without it,
// after the clock is set back by an hour, a dead holder would keep its lease for an hour,
// and due work would wait as long. Afterwards every lease lapses within q.Life, and work
// that was due later than q.LongestDelay is due at once.
func RepairClockSkew(ctx context.Context, d *db.DB, q Queue) error {
	lapses := func(tx *db.Tx) int64 { return tx.Now + q.Life.Microseconds() }
	due := func(tx *db.Tx) int64 {
		if q.LongestDelay == 0 {
			return math.MaxInt64
		}
		return tx.Now + q.LongestDelay.Microseconds()
	}
	ahead := int64(0)
	err := d.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		ahead, err = tx.LeaseAhead(ctx, query.LeaseAheadParams{Queue: q.Name, LapsesAt: lapses(tx), DueAt: due(tx)})
		return err
	})
	if err == nil && ahead > 0 {
		err = d.Write(ctx, func(tx *db.Tx) error {
			if err := tx.LeaseRepairHeld(ctx, query.LeaseRepairHeldParams{Queue: q.Name, LapsesAt: lapses(tx)}); err != nil {
				return err
			}
			tx.Announce(Topic(q.Name))
			return tx.LeaseRepairWaiting(ctx, query.LeaseRepairWaitingParams{Queue: q.Name, Now: tx.Now, DueAt: due(tx)})
		})
	}
	if err != nil {
		return fmt.Errorf("repair clock skew of leases: %w", err)
	}
	return nil
}
