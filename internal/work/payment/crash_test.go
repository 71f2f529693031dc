package payment_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/test/long"
	"svc.example/internal/test/stripetest"
)

// doomed is a context that ends when it is checked for the last time: database/sql checks
// before and after each statement, so that each is the last one of some run. What a
// transaction has done until then is rolled back, as by the crash of the process.
type doomed struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

// endsAtLook is a context that ends at the n-th look; free it with its end.
func endsAtLook(n int) *doomed {
	c := &doomed{}
	c.Context, c.end = context.WithCancel(context.Background())
	c.left.Store(int64(n))
	return c
}

func (c *doomed) look() {
	if c.left.Add(-1) == 0 {
		c.end()
	}
}

func (c *doomed) Done() <-chan struct{} { c.look(); return c.Context.Done() }
func (c *doomed) Err() error            { c.look(); return c.Context.Err() }

// TestACrashBetweenAnyTwoStatementsLosesAndDoublesNothing cuts the work on each kind of event
// off at one check of the context after the other, until it completes; the short run at each
// 13th. After each cut the books are sound, and in the end they are as if nothing had been
// cut.
func TestACrashBetweenAnyTwoStatementsLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		topUp := w.create().ID
		dispute := func() error {
			_, err := w.provider.Dispute(topUp)
			return err
		}
		for _, step := range []struct {
			name            string
			act             func() error
			available, owed int64
		}{
			{"paid", func() error { return w.provider.Pay(topUp) }, 2500, 0},
			{"refunded", func() error { return w.provider.Refund(topUp, 400) }, 2100, 0},
			{"disputed", dispute, 0, 0},
			{"won", func() error { return w.provider.Close(topUp, true) }, 2100, 0},
		} {
			w.must(step.act())
			for _, event := range w.provider.Events() {
				cuts := w.cutEverywhere(event)
				t.Logf("%s (%s): cut off %d times", step.name, event.Type, cuts)
				if cuts < long.Scale(5, 80) {
					t.Errorf("%s: %d cuts do not reach all statements", event.Type, cuts)
				}
			}
			if b := w.balance(); b.AvailableCents != step.available || b.OwedCents != step.owed {
				t.Fatalf("%s: the wallet has %+v", step.name, b)
			}
		}
	})
}

// cutEverywhere delivers an event again and again, each time cut off later, until one
// delivery succeeds. It returns how many were cut off.
func (w *world) cutEverywhere(event stripetest.Event) (cuts int) {
	w.Helper()
	for n := 1; n < 10_000; n += long.Scale(13, 1) {
		ctx := endsAtLook(n)
		err := w.Ring(ctx, event.Body, stripetest.Sign(event.Body, stripetest.Secret, time.Now()))
		ctx.end()
		if err == nil {
			return cuts
		}
		cuts++
		w.audit()
	}
	w.Fatal("the work on an event never ends")
	return cuts
}
