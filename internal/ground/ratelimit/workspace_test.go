package ratelimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
)

// shared is slow, with five times as much for a workspace.
var shared = ratelimit.Limits{Client: slow.Client, Workspace: slow.Client.Times(5)}

// workspace makes a workspace with ten keys, and returns a claim of each.
func workspace(t *testing.T, d *db.DB, email string) (claims []ratelimit.Claim) {
	t.Helper()
	ctx := t.Context()
	err := d.Write(ctx, func(tx *db.Tx) error {
		claims = nil
		p, err := identity.CreateWorkspace(ctx, tx, email)
		for i := range 5 {
			var account, agent identity.NewKey
			if err == nil {
				account, err = identity.CreateAccountKey(ctx, tx, p.WorkspaceID, fmt.Sprint(i))
			}
			if err == nil {
				agent, err = identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: fmt.Sprint(i)})
			}
			claims = append(claims, ratelimit.Claim{Bearer: account.Secret, Address: "here"}, ratelimit.Claim{Bearer: agent.Secret, Address: "here"})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// rushAll has counters take 25 requests of each claim, all at once, and returns how
// many passed of each.
func rushAll(t *testing.T, claims []ratelimit.Claim, counters ...*ratelimit.Counter) (total int64, each []int64) {
	t.Helper()
	passed := make([]atomic.Int64, len(claims))
	var all sync.WaitGroup
	for i := range 25 * len(claims) {
		all.Go(func() {
			of := i % len(claims)
			d, err := counters[i/len(claims)%len(counters)].Take(t.Context(), "test", shared, claims[of], 1)
			if err != nil {
				t.Error(err)
			}
			if d.Allowed {
				passed[of].Add(1)
			}
		})
	}
	all.Wait()
	for i := range passed {
		total += passed[i].Load()
		each = append(each, passed[i].Load())
	}
	return total, each
}

func TestTenKeysOfAWorkspaceAreFiveBudgets(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := counter(d)
		one, two := workspace(t, d, "one@example.com"), workspace(t, d, "two@example.com")
		total, each := rushAll(t, one, c)
		if total != 100 {
			t.Errorf("%d passed of the first workspace, want 100: %v", total, each)
		}
		for i, n := range each {
			if n > 20 {
				t.Errorf("%d passed of key %d", n, i)
			}
		}
		if total, each := rushAll(t, two[:1], c); total != 20 {
			t.Errorf("%d passed of another workspace's key, want 20: %v", total, each)
		}
		got, err := c.Take(t.Context(), "test", shared, ratelimit.Claim{Address: "here"}, 1)
		if err != nil || !got.Allowed || got.Workspace {
			t.Errorf("without a key %+v, %v", got, err)
		}
	})
}

// TestASessionCountsForItsWorkspace: a browser in addition to the keys gives no
// further budget.
func TestASessionCountsForItsWorkspace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		var session ratelimit.Claim
		var keys []ratelimit.Claim
		err := d.Write(ctx, func(tx *db.Tx) error {
			keys = nil
			p, err := identity.CreateWorkspace(ctx, tx, "one@example.com")
			if err != nil {
				return err
			}
			for i := range 5 {
				key, err := identity.CreateAccountKey(ctx, tx, p.WorkspaceID, fmt.Sprint(i))
				if err != nil {
					return err
				}
				keys = append(keys, ratelimit.Claim{Bearer: key.Secret})
			}
			link, err := identity.CreateSignInLink(ctx, tx, "one@example.com")
			if err != nil {
				return err
			}
			opened, err := identity.SignIn(ctx, tx, link, "")
			session = ratelimit.Claim{Session: opened.Token}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		c := counter(d)
		if total, each := rushAll(t, keys, c); total != 100 {
			t.Fatalf("%d passed: %v", total, each)
		}
		got, err := c.Take(ctx, "test", shared, session, 1)
		if err != nil || got.Allowed || !got.Workspace || got.Retry <= 0 {
			t.Errorf("the session: %+v, %v", got, err)
		}
	})
}

// TestProcessesHoldAWorkspacesLimitTogether has two processes that have not learned
// of each other yet: each is half a burst ahead at most, and never again.
func TestProcessesHoldAWorkspacesLimitTogether(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		one, two := dbtest.Open(t, db.Config{URL: url}), dbtest.Open(t, db.Config{URL: url})
		claims := workspace(t, one, "one@example.com")
		a, b := counter(one), counter(two)
		passed, each := rushAll(t, claims, a, b)
		if passed < 100 || passed > 150 {
			t.Errorf("%d passed, want 100 to 150: %v", passed, each)
		}
		for _, c := range []*ratelimit.Counter{a, b} {
			if err := c.WriteDown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if again, _ := rushAll(t, claims, a, b); again != 0 {
			t.Errorf("then %d passed", again)
		}
		// What passed too early is missing later.
		got, err := ratelimit.Take(t.Context(), two, "test", shared, claims[0], 1)
		if err != nil || got.Allowed {
			t.Fatalf("%+v, %v", got, err)
		}
		got, err = ratelimit.Take(t.Context(), two, "test", ratelimit.Limits{Client: ratelimit.Policy{PerMinute: 1, Burst: 1000}, Workspace: ratelimit.Policy{PerMinute: 5, Burst: 200}}, claims[0], 1)
		if want := shared.Workspace.Every() * time.Duration(passed+1); err != nil || !got.Workspace || got.Full > want || got.Full < want-time.Minute {
			t.Errorf("the workspace's burst is whole again in %s, want %s, %v", got.Full, want, err)
		}
	})
}

// TestWhatOneLimitRefusesCostsTheOtherNothing fills a workspace's limit with one key
// and looks at what another key has left.
func TestWhatOneLimitRefusesCostsTheOtherNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		claims := workspace(t, d, "one@example.com")
		narrow := ratelimit.Limits{Client: slow.Client, Workspace: ratelimit.Policy{PerMinute: 1, Burst: 10}}
		c := counter(d)
		take := func(l ratelimit.Limits, of, n int) ratelimit.Decision {
			t.Helper()
			got, err := c.Take(t.Context(), "test", l, claims[of], n)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := take(narrow, 0, 10); !got.Allowed || !got.Workspace || got.Remaining != 0 {
			t.Fatalf("ten at once: %+v", got)
		}
		for range 5 {
			if got := take(narrow, 1, 1); got.Allowed || !got.Workspace {
				t.Fatalf("beyond the workspace's limit: %+v", got)
			}
		}
		if got := take(slow, 1, 1); !got.Allowed || got.Remaining != 19 {
			t.Errorf("the other key alone: %+v", got)
		}
		if got := take(narrow, 0, 11); got.Allowed || !got.Workspace || got.Retry < 10*time.Minute-time.Second {
			t.Errorf("more than a burst: %+v", got)
		}
		if got := take(slow, 2, 21); got.Allowed || got.Remaining != 20 || got.Retry != time.Minute {
			t.Errorf("more than a burst of a new client: %+v", got)
		}
	})
}
