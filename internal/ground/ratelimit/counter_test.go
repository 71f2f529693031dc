package ratelimit_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/dbtest"
)

// slow earns nothing back while a test runs. It has no limit for workspaces.
var slow = ratelimit.Limits{Client: ratelimit.Policy{PerMinute: 1, Burst: 20}}

func counter(d *db.DB) *ratelimit.Counter {
	return ratelimit.NewCounter(d, slog.New(slog.DiscardHandler))
}

// rush has counters take many requests of one client at once and returns how
// many passed.
func rush(t *testing.T, requests int, counters ...*ratelimit.Counter) int64 {
	t.Helper()
	var passed atomic.Int64
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() {
			d, err := counters[i%len(counters)].Take(t.Context(), "test", slow, ratelimit.Claim{Address: "here"}, 1)
			if err != nil {
				t.Error(err)
			}
			if d.Allowed {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	return passed.Load()
}

func TestACounterAloneIsExact(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := counter(d)
		writing := make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() { // all the while, at full speed
			for {
				select {
				case <-writing:
					return
				default:
				}
				if err := c.WriteDown(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
		if passed := rush(t, 200, c); passed != 20 {
			t.Errorf("%d passed, want 20", passed)
		}
		close(writing)
		writer.Wait()
		if d, err := ratelimit.Take(t.Context(), d, "test", slow, ratelimit.Claim{Address: "here"}, 1); err != nil || d.Allowed {
			t.Errorf("then %+v, %v", d, err)
		}
	})
}

// TestAFullDiskIsLoggedOnce: requests are written down ten times a second.
func TestAFullDiskIsLoggedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var log strings.Builder
		c := ratelimit.NewCounter(d, slog.New(slog.NewTextHandler(&log, nil)))
		rush(t, 5, c)
		rush(t, 1, c) // counted in memory by now
		over, stop := context.WithCancel(t.Context())
		stop()
		for range 10 {
			err := c.WriteDown(over)
			if err == nil {
				t.Fatal("written down without a database")
			}
			c.LogOutcome(err)
		}
		for range 2 {
			c.LogOutcome(c.WriteDown(t.Context()))
		}
		if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), "again") {
			t.Errorf("%d lines:\n%s", n, log.String())
		}
	})
}

// TestCountersTogetherAreHalfABurstAheadAtMost has two processes that have not
// learned of each other yet: what they let pass too early is missing later.
func TestCountersTogetherAreHalfABurstAheadAtMost(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		one, two := dbtest.Open(t, db.Config{URL: url}), dbtest.Open(t, db.Config{URL: url})
		a, b := counter(one), counter(two)
		passed := rush(t, 120, a, b)
		if passed < 20 || passed > 40 {
			t.Errorf("%d passed, want 20 to 40", passed)
		}
		for _, c := range []*ratelimit.Counter{a, b} {
			if err := c.WriteDown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if again := rush(t, 40, a, b); again != 0 {
			t.Errorf("then %d passed", again)
		}
		d, err := ratelimit.Take(t.Context(), one, "test", slow, ratelimit.Claim{Address: "here"}, 1)
		if want := slow.Client.Every().Seconds() * float64(passed); err != nil || d.Full.Seconds() > want || d.Full.Seconds() < want-60 {
			t.Errorf("the burst is whole again in %s, want %.0f s, %v", d.Full, want, err)
		}
	})
}

// TestACounterSparesTheDatabase counts commits: one for the first request of a
// client, one for the next nine.
// TestAClockThatIsSetBackRefusesNobody: it was ten hours ahead for a while, and is right again, for a
// process that has counted meanwhile and for one that starts then.
func TestAClockThatIsSetBackRefusesNobody(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var ahead atomic.Int64
		d := dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(ahead.Load()) }})
		c := counter(d)
		ahead.Store(int64(10 * time.Hour))
		if passed := rush(t, 25, c); passed != 20 {
			t.Errorf("%d passed, want 20", passed)
		}
		if err := c.WriteDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		ahead.Store(0)
		if passed := rush(t, 25, counter(d)); passed != 20 {
			t.Errorf("of a process that starts, %d passed, want 20", passed)
		}
		if passed := rush(t, 5, c); passed != 0 {
			t.Errorf("then %d passed of the other, want 0", passed)
		}
	})
}

func TestACounterSparesTheDatabase(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var commits atomic.Int64
		d := dbtest.Open(t, db.Config{URL: url, AfterCommit: func() { commits.Add(1) }})
		c := counter(d)
		for i := range 10 {
			got, err := c.Take(t.Context(), "test", slow, ratelimit.Claim{Address: "here"}, 1)
			if err != nil || !got.Allowed || got.Remaining != 19-i || commits.Load() != 1 {
				t.Fatalf("request %d: %+v after %d commits, %v", i, got, commits.Load(), err)
			}
		}
		if err := c.WriteDown(t.Context()); err != nil || commits.Load() != 2 {
			t.Fatalf("%d commits, %v", commits.Load(), err)
		}
		// Another process learns of all of them.
		if got, err := ratelimit.Take(t.Context(), d, "test", slow, ratelimit.Claim{Address: "here"}, 1); err != nil || got.Remaining != 9 {
			t.Errorf("elsewhere %+v, %v", got, err)
		}
	})
}

// TestASenderWhoNeverWaitsAsksNoDatabase: a flood of refused requests must not take the
// writer from others.
func TestASenderWhoNeverWaitsAsksNoDatabase(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var commits atomic.Int64
		c := counter(dbtest.Open(t, db.Config{URL: url, AfterCommit: func() { commits.Add(1) }}))
		rush(t, 21, c)
		before := commits.Load()
		for i := range 100 {
			d, err := c.Take(t.Context(), "test", slow, ratelimit.Claim{Address: "here"}, 1)
			// After a burst of refusals they are held back.
			if err != nil || d.Allowed || d.Retry <= 0 || (i < 19 && d.Hold > 0) || (i > 20 && d.Hold <= 0) {
				t.Fatalf("refusal %d: %+v, %v", i, d, err)
			}
		}
		if after := commits.Load(); after != before {
			t.Errorf("100 refusals cost %d commits", after-before)
		}
	})
}

func TestGuessesCountForTheirAddressInMemoryToo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := counter(d)
		passed := 0
		for i := range 30 {
			got, err := c.Take(t.Context(), "test", slow, ratelimit.Claim{Bearer: string(rune('a' + i)), Address: "here"}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got.Allowed {
				passed++
			}
		}
		if passed != 20 {
			t.Errorf("%d guesses passed", passed)
		}
	})
}
