package idempotency_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/test/dbtest"
)

// bench is a database with a workspace and a clock that can be moved.
type bench struct {
	*db.DB
	later atomic.Int64
}

func each(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		b := &bench{}
		b.DB = dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(b.later.Load()) }})
		b.workspace(t)
		test(t, b)
	})
}

// workspace makes the workspace that requests belong to.
func (b *bench) workspace(t *testing.T) {
	t.Helper()
	err := b.Write(t.Context(), func(tx *db.Tx) error {
		return tx.WorkspaceCreate(t.Context(), query.WorkspaceCreateParams{WorkspaceID: "WSP-1"})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func request(fingerprint string) idempotency.Request {
	return idempotency.Request{WorkspaceID: "WSP-1", Route: "do", Key: "key", Fingerprint: fingerprint}
}

// dead is the hold of a process that was killed.
func (b *bench) dead(t *testing.T) *idempotency.Hold {
	t.Helper()
	h, _, err := idempotency.Begin(t.Context(), b.DB, request("a"))
	if err != nil {
		t.Fatal(err)
	}
	h.Die()
	return h
}

func (b *bench) finish(ctx context.Context, h *idempotency.Hold, text string) error {
	return b.Write(ctx, func(tx *db.Tx) error {
		return h.Finish(ctx, tx, idempotency.Answer{Status: 200, Body: []byte(text)})
	})
}

func TestAHoldOfADeadProcessLapsesAndCannotFinish(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		dead := b.dead(t)
		if _, _, err := idempotency.Begin(ctx, b.DB, request("a")); !fault.Is(err, fault.IdempotencyInProgress) {
			t.Fatalf("while it is held: %v", err)
		}
		b.later.Store(int64(time.Minute)) // it was not extended
		next, answer, err := idempotency.Begin(ctx, b.DB, request("a"))
		if err != nil || answer != nil {
			t.Fatalf("after it: %v %v", answer, err)
		}
		if err := b.finish(ctx, dead, "late"); !fault.Is(err, fault.IdempotencyInProgress) {
			t.Errorf("the dead one finished: %v", err)
		}
		if err := errors.Join(dead.Release(ctx), b.finish(ctx, next, "done"), next.Release(ctx)); err != nil {
			t.Fatal(err)
		}
		if _, answer, err := idempotency.Begin(ctx, b.DB, request("a")); err != nil || string(answer.Body) != "done" {
			t.Errorf("got %v, %v", answer, err)
		}
	})
}

func TestAnAnswerIsKeptForADay(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		h, _, err := idempotency.Begin(ctx, b.DB, request("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.finish(ctx, h, "done"), h.Release(ctx)); err != nil {
			t.Fatal(err)
		}
		b.later.Store(int64(idempotency.AnswerLife - time.Minute))
		if _, answer, err := idempotency.Begin(ctx, b.DB, request("a")); err != nil || answer == nil {
			t.Errorf("within the day: %v %v", answer, err)
		}
		b.later.Store(int64(idempotency.AnswerLife + time.Minute))
		h, answer, err := idempotency.Begin(ctx, b.DB, request("b"))
		if err != nil || answer != nil {
			t.Fatalf("after the day: %v %v", answer, err)
		}
		if err := errors.Join(b.finish(ctx, h, "other"), h.Release(ctx)); err != nil {
			t.Fatal(err)
		}
		b.later.Store(int64(3 * idempotency.AnswerLife))
		if n, err := idempotency.Forget(ctx, b.DB); n != 1 || err != nil {
			t.Errorf("forgot %d, %v", n, err)
		}
	})
}

func TestAHoldThatADeadProcessLeftIsForgottenToo(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		dead := b.dead(t)
		b.later.Store(int64(idempotency.AnswerLife - time.Minute))
		if n, err := idempotency.Forget(ctx, b.DB); n != 0 || err != nil {
			t.Errorf("within the day: forgot %d, %v", n, err)
		}
		b.later.Store(int64(idempotency.AnswerLife + time.Minute))
		if n, err := idempotency.Forget(ctx, b.DB); n != 1 || err != nil {
			t.Errorf("forgot %d, %v", n, err)
		}
		if err := b.finish(ctx, dead, "late"); !fault.Is(err, fault.IdempotencyInProgress) {
			t.Errorf("a forgotten hold finished: %v", err)
		}
		if err := dead.Release(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestAnAnswerKeptWithoutAHoldIsForTheSameRequestForADay(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		keep := func(text string) {
			t.Helper()
			err := b.Write(ctx, func(tx *db.Tx) error {
				return idempotency.Keep(ctx, tx, request("a"), idempotency.Answer{Status: 200, Body: []byte(text)})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		want := func(fingerprint, text string) {
			t.Helper()
			var got *idempotency.Answer
			err := b.Write(ctx, func(tx *db.Tx) (err error) {
				got, err = idempotency.Kept(ctx, tx, request(fingerprint))
				return err
			})
			if err != nil || (got != nil) != (text != "") || (got != nil && (got.Status != 200 || string(got.Body) != text)) {
				t.Errorf("kept for %s is %v, %v, want %q", fingerprint, got, err, text)
			}
		}
		want("a", "")
		keep("first")
		keep("second")
		want("a", "first")
		want("b", "")
		b.later.Store(int64(idempotency.AnswerLife + time.Minute))
		want("a", "")
		keep("third")
		want("a", "third")
	})
}

// TestReplaysFollowTheModel compares any sequence of requests with a map.
func TestReplaysFollowTheModel(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx, round := t.Context(), 0
		rapid.Check(t, func(t *rapid.T) {
			round++
			answered := map[string][2]string{} // by key: fingerprint and answer
			for range rapid.IntRange(1, 8).Draw(t, "requests") {
				r := request(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "fingerprint"))
				key := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "key")
				r.Key = time.Duration(round).String() + key
				h, answer, err := idempotency.Begin(ctx, b.DB, r)
				known, is := answered[key]
				switch {
				case is && known[0] != r.Fingerprint:
					if !fault.Is(err, fault.IdempotencyKeyReused) {
						t.Fatalf("reused: %v %v", answer, err)
					}
				case is:
					if err != nil || string(answer.Body) != known[1] {
						t.Fatalf("replayed %v, %v, want %q", answer, err, known[1])
					}
				case err != nil:
					t.Fatal(err)
				case rapid.Bool().Draw(t, "refused"):
					if err := h.Release(ctx); err != nil {
						t.Fatal(err)
					}
				default:
					text := rapid.StringMatching(`[a-z]{3}`).Draw(t, "answer")
					if err := errors.Join(b.finish(ctx, h, text), h.Release(ctx)); err != nil {
						t.Fatal(err)
					}
					answered[key] = [2]string{r.Fingerprint, text}
				}
			}
		})
	})
}
