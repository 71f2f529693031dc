package testmode

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
)

// MostMoved is how far ahead of the real time the clock of a test world may be: ten years,
// which is longer than anything that the service keeps.
const MostMoved = 10 * 366 * 24 * time.Hour

// Clock is the clock of a test world. It only goes forward, as times in the store do.
type Clock struct{ DB *db.DB }

// Time is the reading of a clock.
type Time struct {
	Now   time.Time
	Moved time.Duration // by how much it is ahead
}

// Read returns the time of the clock.
func (c *Clock) Read(ctx context.Context) (t Time, err error) {
	err = c.DB.Read(ctx, func(tx *db.Tx) error {
		t, err = read(ctx, tx)
		return err
	})
	return t, err
}

func read(ctx context.Context, tx *db.Tx) (Time, error) {
	us, err := tx.ClockMoved(ctx)
	if err != nil {
		return Time{}, fmt.Errorf("read the clock: %w", err)
	}
	return Time{tx.Time(), time.Duration(us) * time.Microsecond}, nil
}

// Advance moves the clock forward. to, when it is set, says where to; otherwise by does.
// What becomes due is done at once, in every process. Error: invalid_request for a clock that
// would go back, or more than MostMoved ahead.
func (c *Clock) Advance(ctx context.Context, by time.Duration, to time.Time) (t Time, err error) {
	err = c.DB.Write(ctx, func(tx *db.Tx) error {
		now, err := read(ctx, tx)
		if err != nil {
			return err
		}
		step, field := by, "body.advance_seconds"
		if !to.IsZero() {
			step, field = to.Sub(now.Now), "body.now"
		}
		if step < 0 {
			return fault.Field(field, "must not be in the past; the clock can only move forward")
		}
		if now.Moved+step > MostMoved {
			return fault.Field(field, "is more than ten years ahead of the real time")
		}
		if err := tx.ClockMove(ctx, step.Microseconds()); err != nil {
			return fmt.Errorf("move the clock: %w", err)
		}
		t = Time{now.Now.Add(step), now.Moved + step}
		return nil
	})
	if err == nil {
		err = c.DB.WakeAll(ctx) // what sleeps until something is due
	}
	return t, err
}
