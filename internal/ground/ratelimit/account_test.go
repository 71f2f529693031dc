package ratelimit_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/ratelimit"
)

// thread is a clock that a test sets; all work is on one thread.
type thread struct{ used time.Duration }

func (c *thread) Used() time.Duration { return c.used }
func (*thread) ID() int               { return 1 }

func TestWaitingCostsNothing(t *testing.T) {
	t.Parallel()
	var a ratelimit.Account
	began := time.Now().Add(-time.Hour)
	ctx := a.With(t.Context())
	ratelimit.Idle(ctx, began)
	ratelimit.Store(ctx, 42)
	if s := a.Spent("WSP-1", began, 7); s.Busy > time.Minute || s.Stored != 42 || s.Received != 7 {
		t.Errorf("spent %+v", s)
	}
}

func TestCostlySectionsAreChargedWithTheTimeOfTheirThread(t *testing.T) {
	t.Parallel()
	clock := &thread{}
	use := func(d time.Duration) func() { return func() { clock.used += d } }
	a := (&ratelimit.Ledger{Thread: clock}).Account()
	ctx := a.With(t.Context())
	use(time.Hour)() // by others, before
	ratelimit.Work(ctx, use(time.Second))
	use(time.Hour)() // in between
	ratelimit.Work(ctx, func() {
		use(time.Second)()
		ratelimit.Work(ctx, use(time.Second)) // counted once
		ratelimit.Pause(ctx, use(time.Hour))  // by others, while it waits for its caller
		use(time.Second)()
	})
	ratelimit.Pause(ctx, use(time.Hour)) // in no section
	if s := a.Spent("WSP-1", time.Now(), 0); s.CPU != 4*time.Second {
		t.Errorf("charged %s, want 4s", s.CPU)
	}
}

func TestASectionThatPanicsEnds(t *testing.T) {
	t.Parallel()
	clock := &thread{}
	a := (&ratelimit.Ledger{Thread: clock}).Account()
	ctx := a.With(t.Context())
	func() {
		defer func() { _ = recover() }()
		ratelimit.Work(ctx, func() {
			clock.used += time.Second
			panic("a bug")
		})
	}()
	clock.used += time.Hour
	if s := a.Spent("WSP-1", time.Now(), 0); s.CPU != time.Second {
		t.Errorf("charged %s, want 1s", s.CPU)
	}
}

func TestWorkThatNobodyAskedForIsDone(t *testing.T) {
	t.Parallel()
	done := 0
	ratelimit.Work(context.Background(), func() { done++ })
	ratelimit.Pause(context.Background(), func() { done++ })
	ctx := (*ratelimit.Ledger)(nil).Account().With(t.Context())
	ratelimit.Work(ctx, func() { ratelimit.Pause(ctx, func() { done++ }) })
	if done != 3 {
		t.Errorf("%d of 3 were done", done)
	}
}
