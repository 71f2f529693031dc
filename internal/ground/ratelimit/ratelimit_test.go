package ratelimit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
)

var published = ratelimit.Policy{PerMinute: 60, Burst: 20}

func TestTwentyPassAtOnceThenOneASecond(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second / time.Microsecond)
	now, arrival := int64(1_000*second), int64(0)
	for i := range 20 {
		next, d := published.Decide(arrival, now, 1)
		if !d.Allowed || d.Remaining != 19-i {
			t.Fatalf("request %d: %+v", i, d)
		}
		arrival = next
	}
	if _, d := published.Decide(arrival, now, 1); d.Allowed || d.Retry != time.Second || d.Full != 20*time.Second {
		t.Errorf("the 21st: %+v", d)
	}
	next, d := published.Decide(arrival, now+second, 1)
	if !d.Allowed {
		t.Errorf("a second later: %+v", d)
	}
	if _, d := published.Decide(next, now+second, 1); d.Allowed {
		t.Errorf("and at once again: %+v", d)
	}
}

// TestTheDatabaseDecidesAsTheRule plays any times and policies on the statement
// and on the pure rule. Pauses are whole earnings, so that the delays of a real
// clock change no decision.
func TestTheDatabaseDecidesAsTheRule(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var now atomic.Int64
		d := dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(now.Load()) }})
		round := 0
		rapid.Check(t, func(t *rapid.T) {
			round++
			p := ratelimit.Policy{PerMinute: rapid.IntRange(1, 5).Draw(t, "per minute"), Burst: rapid.IntRange(1, 5).Draw(t, "burst")}
			arrival, ideal := int64(0), int64(0) // by the rule alone, at times without delay
			for range rapid.IntRange(1, 12).Draw(t, "requests") {
				n := rapid.IntRange(1, 6).Draw(t, "counts as")
				got, err := ratelimit.Take(t.Context(), d, "test", ratelimit.Limits{Client: p}, ratelimit.Claim{Address: time.Duration(round).String()}, n)
				if err != nil {
					t.Fatal(err)
				}
				var want ratelimit.Decision
				arrival, want = p.Decide(arrival, ideal, n)
				if got.Allowed != want.Allowed || got.Remaining != want.Remaining || got.Retry > want.Retry {
					t.Fatalf("got %+v, want %+v", got, want)
				}
				pause := time.Duration(rapid.IntRange(0, 2).Draw(t, "pause")) * p.Every()
				now.Add(int64(pause))
				ideal += pause.Microseconds()
			}
		})
	})
}

func TestABurstFromManyProcessesIsCountedOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		houses := []*db.DB{dbtest.Open(t, db.Config{URL: url}), dbtest.Open(t, db.Config{URL: url})}
		var passed atomic.Int64
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				d, err := ratelimit.Take(t.Context(), houses[i%2], "test", slow, ratelimit.Claim{Address: "here"}, 1)
				if err != nil {
					t.Error(err)
				}
				if d.Allowed {
					passed.Add(1)
				}
			})
		}
		all.Wait()
		if passed.Load() != 20 {
			t.Errorf("%d passed, want 20", passed.Load())
		}
	})
}

func TestAKeyIsAClientAndAGuessIsItsAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		var key identity.NewKey
		err := d.Write(ctx, func(tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, "one@example.com")
			if err != nil {
				return err
			}
			key, err = identity.CreateAccountKey(ctx, tx, p.WorkspaceID, "key")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		one := ratelimit.Limits{Client: ratelimit.Policy{PerMinute: 1, Burst: 1}}
		for _, c := range []struct {
			claim ratelimit.Claim
			pass  bool
		}{
			{ratelimit.Claim{Bearer: key.Secret, Address: "here"}, true},
			{ratelimit.Claim{Bearer: key.Secret, Address: "there"}, false}, // the same key
			{ratelimit.Claim{Bearer: "svc_guess1", Address: "here"}, true},
			{ratelimit.Claim{Bearer: "svc_guess2", Address: "here"}, false}, // the same address
			{ratelimit.Claim{Session: "guess", Address: "here"}, false},
			{ratelimit.Claim{Address: "elsewhere"}, true},
		} {
			got, err := ratelimit.Take(ctx, d, "test", one, c.claim, 1)
			if err != nil || got.Allowed != c.pass {
				t.Errorf("%+v: %+v, %v", c.claim, got, err)
			}
		}
	})
}
