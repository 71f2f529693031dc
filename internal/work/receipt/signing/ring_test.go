package signing_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
)

// service is a database whose clock the test moves.
type service struct {
	*db.DB
	t    *testing.T
	skew *atomic.Int64
}

func each(t *testing.T, test func(t *testing.T, h service)) {
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		d := dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }})
		test(t, service{d, t, &skew})
	})
}

func (h service) write(do func(tx *db.Tx) error) {
	h.t.Helper()
	if err := h.Write(context.Background(), do); err != nil {
		h.t.Fatal(err)
	}
}

// ring opens the keys of a folder and publishes them, as a starting service does.
func (h service) ring(folder string) *signing.Ring {
	h.t.Helper()
	r, err := signing.Open(folder, rand.Reader)
	if err != nil {
		h.t.Fatal(err)
	}
	h.register(r)
	return r
}

func (h service) register(r *signing.Ring) {
	h.t.Helper()
	h.write(func(tx *db.Tx) error { return r.Register(context.Background(), tx) })
}

// signs gives the id of the key that a ring would sign with, or the error.
func (h service) signs(r *signing.Ring) string {
	h.t.Helper()
	var id string
	err := h.Read(context.Background(), func(tx *db.Tx) error {
		key, err := r.Current(context.Background(), tx)
		if err == nil {
			id = key.Public().ID()
		}
		return err
	})
	if err != nil {
		return err.Error()
	}
	return id
}

func (h service) published() (all []signing.Published) {
	h.t.Helper()
	err := h.Read(context.Background(), func(tx *db.Tx) (err error) { all, err = signing.All(context.Background(), tx); return err })
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

func TestKeyIsPublishedBeforeItSigns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		r, err := signing.Open(t.TempDir(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.signs(r); got != signing.ErrNoKey.Error() {
			t.Errorf("an unpublished key signs: %s", got)
		}
		h.register(r)
		h.register(r) // each start does
		if all := h.published(); len(all) != 1 || all[0].Key.ID() != h.signs(r) || !all[0].ValidTo.IsZero() {
			t.Errorf("published %+v, signing %s", all, h.signs(r))
		}
	})
}

func TestKeySignsAlsoWhenTheClockIsSetBackBehindItsPublication(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		r := h.ring(t.TempDir())
		want := h.signs(r)
		h.skew.Add(-int64(time.Hour))
		if got := h.signs(r); got != want {
			t.Errorf("with the clock an hour back: %s", got)
		}
	})
}

func TestRotationReachesRunningProcessesOfTheFolderAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		folder := t.TempDir()
		running, operator := h.ring(folder), h.ring(folder)
		first := h.signs(running)
		h.skew.Add(int64(time.Minute))
		next, err := operator.Make(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		h.write(func(tx *db.Tx) error { return operator.Rotate(t.Context(), tx, next, time.Hour, receipt.Superseded) })
		for name, r := range map[string]*signing.Ring{"running": running, "restarted": h.ring(folder)} {
			if got := h.signs(r); got != next.Public().ID() {
				t.Errorf("the %s process signs with %s", name, got)
			}
		}
		all := h.published()
		if len(all) != 2 || all[0].Key.ID() != next.Public().ID() || all[1].Key.ID() != first || all[1].ValidTo.Sub(all[0].ValidFrom) != time.Hour {
			t.Errorf("published %+v", all)
		}
	})
}

func TestAKeyEndsAtItsPlaceInTheLog(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		ctx := t.Context()
		ring := h.ring(t.TempDir())
		first := h.signs(ring)
		// append adds a leaf and gives the key that signs it.
		appended := func() (by string) {
			t.Helper()
			h.write(func(tx *db.Tx) error {
				_, err := receiptlog.Append(ctx, tx, func(index int64) (e receipt.Entry, err error) {
					key, err := ring.CurrentAt(ctx, tx, index)
					by = key.Public().ID()
					return e, err
				})
				return err
			})
			return by
		}
		ends := func(id string) (reason string, size int64) {
			t.Helper()
			for _, p := range h.published() {
				if p.Key.ID() == id {
					return p.Reason, p.EndSize
				}
			}
			t.Fatalf("key %s is not published", id)
			return "", 0
		}
		rotate := func(overlap time.Duration, reason string) string {
			t.Helper()
			h.skew.Add(int64(time.Second)) // the newest signs
			next, err := ring.Make(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			h.write(func(tx *db.Tx) error { return ring.Rotate(ctx, tx, next, overlap, reason) })
			return next.Public().ID()
		}
		appended()
		second := rotate(time.Hour, receipt.Superseded)
		if by := appended(); by != second {
			t.Errorf("after the rotation %s signs", by)
		}
		if reason, size := ends(first); reason != "superseded" || size != -1 {
			t.Errorf("while it overlaps: %q, %d", reason, size)
		}
		h.skew.Add(int64(time.Hour + settling))
		if _, size := ends(first); size != 2 {
			t.Errorf("ended while nothing was appended: at %d, wanted 2", size)
		}
		appended()
		appended()
		if _, size := ends(first); size != 2 {
			t.Errorf("leaves after the end moved it to %d", size)
		}
		third := rotate(24*time.Hour, receipt.Compromised)
		if reason, size := ends(second); reason != "compromised" || size != 4 {
			t.Errorf("a stolen key: %q, %d, wanted its end at once", reason, size)
		}
		if by := appended(); by != third {
			t.Errorf("after the end %s signs", by)
		}
		// What was stolen before its end, but only known later.
		h.write(func(tx *db.Tx) error { return signing.Retire(ctx, tx, first, 0, receipt.Compromised) })
		if reason, size := ends(first); reason != "compromised" || size != 2 {
			t.Errorf("known later: %q, %d", reason, size)
		}
		err := h.Write(ctx, func(tx *db.Tx) error { return signing.Retire(ctx, tx, first, 0, receipt.Superseded) })
		if !fault.Is(err, fault.KeyNotFound) {
			t.Errorf("a theft is taken back: %v", err)
		}
		err = h.Write(ctx, func(tx *db.Tx) error { return signing.Retire(ctx, tx, first, 0, "bored") })
		if !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("another reason: %v", err)
		}
	})
}

// settling is longer than a transaction lives.
const settling = time.Minute

func TestProcessWithoutTheNewKeySignsWithTheOldOneUntilItEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		old, err := signingkey.New(strings.NewReader(strings.Repeat("o", 32)))
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := signing.Given(old)
		h.register(elsewhere)
		h.skew.Add(int64(time.Minute))
		h.ring(t.TempDir()) // another machine with a newer key of its own
		if got := h.signs(elsewhere); got != old.Public().ID() {
			t.Errorf("it signs with %s", got)
		}
		h.write(func(tx *db.Tx) error {
			return signing.Retire(t.Context(), tx, old.Public().ID(), time.Hour, receipt.Superseded)
		})
		h.skew.Add(int64(59 * time.Minute))
		if got := h.signs(elsewhere); got != old.Public().ID() {
			t.Errorf("before its end: %s", got)
		}
		h.skew.Add(int64(2 * time.Minute))
		if got := h.signs(elsewhere); got != signing.ErrNoKey.Error() {
			t.Errorf("after its end: %s", got)
		}
		if n := len(h.published()); n != 2 {
			t.Errorf("%d keys are published: what an ended key signed could no longer be checked", n)
		}
	})
}

// TestLastKeyIsNotEnded: without a key that stays, no job could be completed.
func TestLastKeyIsNotEnded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		r := h.ring(t.TempDir())
		first := h.signs(r)
		end := func(id string, after time.Duration) error {
			return h.Write(t.Context(), func(tx *db.Tx) error { return signing.Retire(t.Context(), tx, id, after, receipt.Superseded) })
		}
		for _, after := range []time.Duration{0, time.Hour} {
			if err := end(first, after); !fault.Is(err, fault.LastSigningKey) {
				t.Errorf("the only key, in %s: %v", after, err)
			}
		}
		h.skew.Add(int64(time.Minute))
		next, err := r.Make(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		h.write(func(tx *db.Tx) error { return r.Rotate(t.Context(), tx, next, time.Hour, receipt.Superseded) })
		if err := end(next.Public().ID(), 0); !fault.Is(err, fault.LastSigningKey) {
			t.Errorf("the newest key, while the old one has an hour left: %v", err)
		}
		if err := end(first, 0); err != nil {
			t.Errorf("the old key: %v", err)
		}
		if got := h.signs(r); got != next.Public().ID() {
			t.Errorf("afterwards %s signs", got)
		}
	})
}

func TestEndOfAKeyIsNeverPostponed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		id := h.signs(h.ring(t.TempDir()))
		h.skew.Add(int64(time.Minute))
		h.ring(t.TempDir()) // one that stays
		h.write(func(tx *db.Tx) error { return signing.Retire(t.Context(), tx, id, time.Hour, receipt.Superseded) })
		for _, c := range []struct {
			id    string
			after time.Duration
		}{{id, 2 * time.Hour}, {strings.Repeat("0", 64), 0}} {
			if err := h.Write(t.Context(), func(tx *db.Tx) error { return signing.Retire(t.Context(), tx, c.id, c.after, receipt.Superseded) }); err == nil {
				t.Errorf("key %.8s was ended in %s", c.id, c.after)
			}
		}
	})
}

// TestKeyOfAnotherFolderIsNotRotated: the service would never find it, and
// have none once the overlap is over.
func TestKeyOfAnotherFolderIsNotRotated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		h.ring(t.TempDir())
		mistyped, err := signing.Open(t.TempDir(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		next, err := mistyped.Make(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		err = h.Write(t.Context(), func(tx *db.Tx) error { return mistyped.Rotate(t.Context(), tx, next, time.Hour, receipt.Superseded) })
		if n := len(h.published()); !errors.Is(err, signing.ErrForeign) || n != 1 {
			t.Errorf("error %v, %d keys are published", err, n)
		}
	})
}

func TestGivenKeyIsNotRotatedHere(t *testing.T) {
	t.Parallel()
	key, err := signingkey.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signing.Given(key).Make(rand.Reader); err == nil || errors.Is(err, signing.ErrNoKey) {
		t.Errorf("error %v", err)
	}
}
