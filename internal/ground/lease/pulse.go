package lease

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Pulse tells holders that fell silent from a service that could not hear. The processes of
// a service share one row: when a process could last write, and when a worker was last
// heard. What always holds:
//
//   - Time does not run for leases while nothing can be written, and for those of workers
//     while none of them is heard, for longestSilence at most. Afterwards every lease lives
//     for a whole life again.
//   - Leases of two or more workers, at least half of those that hold any, that fall silent
//     together lapse without blame. So do those that lapse while no worker is heard. An item
//     that was claimed more than mostBlameless times is an exception: work that takes down
//     every machine looks like an outage too, and must fail some day.
//
// It is for one Reaper. The fields are set before the first Run.
type Pulse struct {
	// Heard reports whether a worker was heard by this process since the last call.
	Heard func() bool

	idle int64 // when the Reaper last saw that nothing was held; microseconds since 1970
}

// longestSilence is how long the leases of workers wait for the first one to be heard again.
const longestSilence = 5 * time.Minute

// mostBlameless is up to which claim an item may lapse without blame.
const mostBlameless = 12

// leastGap is the shortest time without a write or a report that counts as an outage. It is
// longer than the pause between two runs of a Reaper.
const leastGap = 3 * time.Second

// gapOf is the shortest outage that matters to leases of so long a life: shorter ones leave
// time for further heartbeats.
func gapOf(life time.Duration) int64 { return max(life/2, leastGap).Microseconds() }

// life is the longest life of the queues' leases.
func (r Reaper) life() (longest time.Duration) {
	for _, q := range r.Queues {
		longest = max(longest, q.Life)
	}
	return longest
}

// beat records that this process can write and whether it hears workers, and gives the
// leases the time back that an outage took. It writes nothing while nothing is held. deaf
// says that no worker is heard.
func (r Reaper) beat(ctx context.Context) (deaf bool, err error) {
	if r.Pulse == nil {
		return false, nil
	}
	idle := false
	err = r.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) error {
		held, err := tx.LeaseAnyHeld(ctx)
		if idle = err == nil && held == 0; idle {
			r.Pulse.idle = tx.Now
		}
		return err
	})
	if err != nil || idle {
		return false, wrapPulse(err)
	}
	heard := r.Pulse.Heard()
	var gap time.Duration
	var prolonged int64
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		last, err := tx.PulseLock(ctx)
		if err != nil && !db.IsNotFound(err) {
			return err
		}
		p := query.PulseSetParams{WrittenAt: tx.Now, HeardAt: last.HeardAt, TogetherUntil: last.TogetherUntil}
		written, listened := tx.Now-max(last.WrittenAt, r.Pulse.idle), tx.Now-max(last.HeardAt, r.Pulse.idle)
		if heard {
			p.HeardAt = tx.Now
		}
		gap, prolonged = 0, 0
		if least := gapOf(r.life()); written > least || (heard && listened > least) {
			lost := written
			if heard {
				lost = max(written, listened)
			}
			gap = time.Duration(lost) * time.Microsecond
			if prolonged, err = r.prolong(ctx, tx, lost); err != nil {
				return err
			}
		}
		deaf = !heard && listened > gapOf(r.life()) && listened < longestSilence.Microseconds()
		if p.TogetherUntil, err = r.together(ctx, tx, p.TogetherUntil); err != nil {
			return err
		}
		return tx.PulseSet(ctx, p)
	})
	if err == nil && prolonged > 0 {
		r.Log.Warn("the service could not hear its workers: their leases continue", "gap", gap.Round(time.Second), "leases", prolonged)
	}
	return deaf, wrapPulse(err)
}

func wrapPulse(err error) error {
	if err != nil {
		return fmt.Errorf("record that workers are heard: %w", err)
	}
	return nil
}

// prolong gives every held lease a whole life from now, and takes an outage of so many
// microseconds out of the time for which workers have had theirs. It returns the number of
// leases that would have lapsed soon.
func (r Reaper) prolong(ctx context.Context, tx *db.Tx, lost int64) (n int64, err error) {
	for _, q := range r.Queues {
		soon, err := tx.LeaseProlong(ctx, query.LeaseProlongParams{Queue: q.Name, LapsesAt: tx.Now + q.Life.Microseconds()})
		if err != nil {
			return n, err
		}
		if n += soon; !q.Remote {
			continue
		}
		if err := tx.LeaseShiftClaims(ctx, query.LeaseShiftClaimsParams{Queue: q.Name, By: lost, Now: tx.Now}); err != nil {
			return n, err
		}
	}
	return n, nil
}

// together returns until when leases lapse together: for a life from now if leases of
// workers lapse now and many of their holders have fallen silent.
func (r Reaper) together(ctx context.Context, tx *db.Tx, until int64) (int64, error) {
	for _, q := range slices.DeleteFunc(slices.Clone(r.Queues), func(q Queue) bool { return !q.Remote }) {
		found, err := tx.LeaseSilence(ctx, query.LeaseSilenceParams{Queue: q.Name, Now: tx.Now, Soon: tx.Now + q.Life.Microseconds()/2})
		if err != nil {
			return until, err
		}
		if found.Lapsed > 0 && found.Silent >= 2 && 2*found.Silent >= found.Holders {
			until = max(until, tx.Now+q.Life.Microseconds())
		}
	}
	return until, nil
}

// judge reports whether a lease that lapses now does so without blame. Error: ErrLost while
// time does not run.
func (r Reaper) judge(ctx context.Context, tx *db.Tx, q Queue, l Lease) (blameless bool, err error) {
	if r.Pulse == nil {
		return false, nil
	}
	last, err := tx.PulseGet(ctx)
	if err != nil {
		return false, wrapPulse(err)
	}
	gap := gapOf(r.life())
	if tx.Now-last.WrittenAt > gap {
		return false, ErrLost // the next run gives the lease its time back
	}
	return q.Remote && l.Attempt <= mostBlameless && (tx.Now < last.TogetherUntil || tx.Now-max(last.HeardAt, r.Pulse.idle) > gap), nil
}

// Probe writes one row, to see whether the database can be written.
func Probe(ctx context.Context, d *db.DB) error {
	if err := d.Write(ctx, func(tx *db.Tx) error { return tx.PulseProbe(ctx, tx.Now) }); err != nil {
		return fmt.Errorf("write to the database: %w", err)
	}
	return nil
}
