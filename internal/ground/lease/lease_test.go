package lease_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/dbtest"
)

const life = 20 * time.Second

// engine is a database whose clock the test moves.
type engine struct {
	*db.DB
	t    *testing.T
	skew *atomic.Int64
}

func each(t *testing.T, test func(t *testing.T, e engine)) {
	eachURL(t, func(t *testing.T, e engine, _ string) { test(t, e) })
}

func eachURL(t *testing.T, test func(t *testing.T, e engine, url string)) {
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		d := dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }})
		test(t, engine{d, t, &skew}, url)
	})
}

func (e engine) pass(d time.Duration) { e.skew.Add(int64(d)) }

func (e engine) write(do func(tx *db.Tx) error) error {
	return e.Write(context.Background(), do)
}

func (e engine) must(do func(tx *db.Tx) error) {
	e.t.Helper()
	if err := e.write(do); err != nil {
		e.t.Fatal(err)
	}
}

func (e engine) add(subject string, count int64) {
	e.t.Helper()
	e.must(func(tx *db.Tx) error { return lease.AddSpan(e.t.Context(), tx, "frame", subject, 1, 1, count) })
}

func (e engine) claim(holder string, limit int) (got []lease.Lease) {
	e.t.Helper()
	e.must(func(tx *db.Tx) (err error) {
		got, err = lease.Claim(context.Background(), tx, "frame", holder, limit, life)
		return err
	})
	return got
}

func TestAnItemIsQueuedOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx := t.Context()
		for range 2 {
			e.must(func(tx *db.Tx) error { return lease.Add(ctx, tx, "frame", "JOB-1", 7, time.Time{}) })
		}
		if got := e.claim("a", 10); len(got) != 1 || got[0].Item != 7 || got[0].Attempt != 1 {
			t.Fatalf("got %+v", got)
		}
		err := e.write(func(tx *db.Tx) error { return lease.AddSpan(ctx, tx, "frame", "JOB-1", 5, 1, 5) })
		if err == nil {
			t.Fatal("a span over existing work was added")
		}
	})
}

func TestAnItemAddedConcurrentlyIsQueuedOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		for round := range 20 {
			subject := fmt.Sprint("JOB-", round)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					err := e.write(func(tx *db.Tx) error {
						return lease.Add(context.Background(), tx, "frame", subject, 1, time.Time{})
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
		if got := e.claim("a", 100); len(got) != 20 {
			t.Fatalf("%d pieces are there", len(got))
		}
	})
}

func TestARollbackRemovesAddedWork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		boom := errors.New("boom")
		err := e.write(func(tx *db.Tx) error {
			if err := lease.AddSpan(t.Context(), tx, "frame", "JOB-1", 1, 1, 3); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) || len(e.claim("a", 9)) != 0 {
			t.Fatalf("got %v", err)
		}
	})
}

func TestAddSpanAddsEachItem(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		e.must(func(tx *db.Tx) error { return lease.AddSpan(t.Context(), tx, "frame", "JOB-1", 5, 3, 4) })
		got := e.claim("a", 10)
		if len(got) != 4 || fmt.Sprint(got[0].Item, got[1].Item, got[2].Item, got[3].Item) != "5 8 11 14" {
			t.Fatalf("got %+v", got)
		}
	})
}

func TestNoItemIsClaimedTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		const pieces = 200
		e.add("JOB-1", pieces)
		var mu sync.Mutex
		seen := map[int64]string{}
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				holder := fmt.Sprint("w", w)
				for {
					got := e.claim(holder, 3)
					if len(got) == 0 {
						return
					}
					mu.Lock()
					for _, l := range got {
						if other, taken := seen[l.Item]; taken {
							t.Errorf("item %d claimed by %s and %s", l.Item, other, holder)
						}
						seen[l.Item] = holder
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(seen) != pieces {
			t.Fatalf("%d of %d claimed", len(seen), pieces)
		}
	})
}

func TestOnlyTheCurrentAttemptsReportsCount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx := t.Context()
		e.add("JOB-1", 1)
		first := e.claim("a", 1)[0]
		e.must(func(tx *db.Tx) error { return lease.Release(ctx, tx, first.Ref(), "frame") })
		second := e.claim("a", 1)[0]
		if second.Attempt != first.Attempt+1 || second.Failures != 0 {
			t.Fatalf("got %+v", second)
		}
		otherHolder := second.Ref()
		otherHolder.Holder = "b"
		for _, ref := range []lease.Ref{first.Ref(), otherHolder} {
			reports := map[string]func(tx *db.Tx) error{
				"beat":    func(tx *db.Tx) error { return lease.Beat(ctx, tx, ref, 0.5, life) },
				"finish":  func(tx *db.Tx) error { return lease.Finish(ctx, tx, ref) },
				"release": func(tx *db.Tx) error { return lease.Release(ctx, tx, ref, "frame") },
				"fail": func(tx *db.Tx) error {
					_, err := lease.Fail(ctx, tx, ref, "c", "r", 0)
					return err
				},
			}
			for name, report := range reports {
				if err := e.write(report); !errors.Is(err, lease.ErrLost) {
					t.Errorf("%s by %+v: got %v", name, ref, err)
				}
			}
		}
		e.must(func(tx *db.Tx) error { return lease.Finish(ctx, tx, second.Ref()) })
		if len(e.claim("c", 1)) != 0 {
			t.Fatal("finished work was handed out again")
		}
	})
}

func TestFailedWorkWaitsForItsDelay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		e.add("JOB-1", 1)
		l := e.claim("a", 1)[0]
		e.must(func(tx *db.Tx) error {
			_, err := lease.Fail(t.Context(), tx, l.Ref(), "x", "y", time.Minute)
			return err
		})
		if len(e.claim("a", 1)) != 0 {
			t.Fatal("handed out before its delay")
		}
		e.pass(61 * time.Second)
		if len(e.claim("a", 1)) != 1 {
			t.Fatal("not handed out after its delay")
		}
	})
}

func TestAClaimOfASubjectTakesItsLowestItemsExceptTheSkipped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx := t.Context()
		e.add("JOB-1", 6)
		e.add("JOB-2", 6)
		claim := func(limit int, skipped ...int64) (items []int64) {
			e.must(func(tx *db.Tx) error {
				got, err := lease.ClaimOf(ctx, tx, "frame", "JOB-1", skipped, "w", limit, life)
				for _, l := range got {
					items = append(items, l.Item)
					if l.Subject != "JOB-1" || l.Attempt != 1 || l.Holder != "w" {
						t.Errorf("claimed %+v", l)
					}
				}
				return err
			})
			return items
		}
		if got := claim(2, 1, 3); !slices.Equal(got, []int64{2, 4}) {
			t.Errorf("two without 1 and 3: %v", got)
		}
		if got := claim(2); !slices.Equal(got, []int64{1, 3}) {
			t.Errorf("two of the rest: %v", got)
		}
		if got := claim(10, 5); !slices.Equal(got, []int64{6}) {
			t.Errorf("all without 5: %v", got)
		}
		if got := claim(10, 5); len(got) != 0 {
			t.Errorf("claimed what another has, or what is skipped: %v", got)
		}
	})
}

func TestConcurrentClaimsOfASubjectShareNoItem(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		const claimers, each = 8, 3
		for round := range 10 {
			subject := fmt.Sprint("JOB-", round)
			e.add(subject, claimers*each)
			var taken atomic.Int64
			var wg sync.WaitGroup
			for c := range claimers {
				wg.Go(func() {
					err := e.write(func(tx *db.Tx) error {
						got, err := lease.ClaimOf(context.Background(), tx, "frame", subject, nil, fmt.Sprint("w", c), each, life)
						taken.Add(int64(len(got)))
						if len(got) != each {
							t.Errorf("claimed %d of %d, though there are enough for all", len(got), each)
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if taken.Load() != claimers*each {
				t.Fatalf("%d of %d pieces were taken", taken.Load(), claimers*each)
			}
		}
	})
}

func TestAClaimByIDsTakesOnlyWaitingItems(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx := t.Context()
		e.add("JOB-1", 4)
		id := func(item int64) string { return lease.ID("frame", "JOB-1", item) }
		claim := func(ids ...string) (got []lease.Lease) {
			e.must(func(tx *db.Tx) (err error) { got, err = lease.ClaimIDs(ctx, tx, ids, "w", life); return err })
			return got
		}
		if got := claim(); len(got) != 0 {
			t.Errorf("a claim of nothing took %+v", got)
		}
		if got := claim(id(3), id(1)); len(got) != 2 || got[0].Item != 1 || got[1].Item != 3 || got[1].Attempt != 1 {
			t.Fatalf("got %+v", got)
		}
		held := claim(id(1), id(2), id(9))
		if len(held) != 1 || held[0].Item != 2 {
			t.Fatalf("of a held, a waiting and an unknown one: %+v", held)
		}
		e.must(func(tx *db.Tx) error {
			_, err := lease.Fail(ctx, tx, held[0].Ref(), "x", "y", time.Minute)
			return err
		})
		if got := claim(id(2)); len(got) != 0 {
			t.Errorf("claimed before it is due: %+v", got)
		}
		e.pass(61 * time.Second)
		if got := claim(id(2)); len(got) != 1 || got[0].Failures != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestConcurrentClaimsByIDsShareNoItem(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		const pieces, claimers = 16, 8
		for round := range 10 {
			subject := fmt.Sprint("JOB-", round)
			e.add(subject, pieces)
			var ids []string
			for item := range int64(pieces) {
				ids = append(ids, lease.ID("frame", subject, item+1))
			}
			var taken atomic.Int64
			var wg sync.WaitGroup
			for c := range claimers {
				mine := slices.Clone(ids)
				if c%2 == 1 {
					slices.Reverse(mine)
				}
				wg.Go(func() {
					var got []lease.Lease
					err := e.write(func(tx *db.Tx) (err error) {
						got, err = lease.ClaimIDs(context.Background(), tx, mine, fmt.Sprint("w", c), life)
						return err
					})
					if err != nil {
						t.Error(err)
					}
					taken.Add(int64(len(got)))
				})
			}
			wg.Wait()
			if taken.Load() != pieces {
				t.Fatalf("%d of %d pieces were taken", taken.Load(), pieces)
			}
		}
	})
}

// A model of one piece of work: whatever claims and reports come, the engine
// and the model agree on who holds it and how often it failed.
func TestEngineFollowsItsModel(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		subject := 0
		rapid.Check(t, func(rt *rapid.T) {
			ctx := context.Background()
			subject++
			name := fmt.Sprint("JOB-", subject)
			if err := e.write(func(tx *db.Tx) error { return lease.Add(ctx, tx, "frame", name, 1, time.Time{}) }); err != nil {
				rt.Fatal(err)
			}
			var refs []lease.Ref
			held, attempt, failures := false, int64(0), int64(0)
			for range rapid.IntRange(1, 8).Draw(rt, "steps") {
				op := rapid.SampledFrom([]string{"claim", "beat", "fail", "release"}).Draw(rt, "op")
				if op == "claim" {
					var got []lease.Lease
					err := e.write(func(tx *db.Tx) (err error) {
						got, err = lease.ClaimIDs(ctx, tx, []string{lease.ID("frame", name, 1)}, "w", life)
						return err
					})
					if err != nil || (len(got) == 1) == held {
						rt.Fatalf("held=%v but claim gave %+v, %v", held, got, err)
					}
					if len(got) == 1 {
						held, attempt = true, attempt+1
						if got[0].Attempt != attempt || got[0].Failures != failures {
							rt.Fatalf("want attempt %d failures %d, got %+v", attempt, failures, got[0])
						}
						refs = append(refs, got[0].Ref())
					}
					continue
				}
				if len(refs) == 0 {
					continue
				}
				ref := rapid.SampledFrom(refs).Draw(rt, "ref")
				accepted := held && ref.Attempt == attempt
				err := e.write(func(tx *db.Tx) error {
					switch op {
					case "beat":
						return lease.Beat(ctx, tx, ref, 0, life)
					case "release":
						return lease.Release(ctx, tx, ref, "frame")
					}
					_, err := lease.Fail(ctx, tx, ref, "c", "r", 0)
					return err
				})
				if accepted != (err == nil) {
					rt.Fatalf("%s by attempt %d of %d (held %v): got %v", op, ref.Attempt, attempt, held, err)
				}
				if accepted && op != "beat" {
					held = false
				}
				if accepted && op == "fail" {
					failures++
				}
			}
		})
	})
}

// TestAClaimNeverExceedsItsLimit holds for any plan that the database makes:
// one that remembers an empty table compares row by row.
func TestAClaimNeverExceedsItsLimit(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		e := engine{dbtest.Open(t, db.Config{URL: url}), t, nil}
		driver := "sqlite"
		if strings.HasPrefix(url, "postgres") {
			driver = "pgx"
		}
		bare, err := sql.Open(driver, url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = bare.Close() }()
		e.add("JOB-0", 98)
		for _, statement := range []string{"DELETE FROM lease", "ANALYZE lease"} {
			if _, err := bare.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		e.add("JOB-1", 98)
		if got := e.claim("a", 16); len(got) != 16 {
			t.Errorf("a claim of 16 took %d", len(got))
		}
	})
}
