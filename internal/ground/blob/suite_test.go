package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"svc.example/internal/ground/blob"
)

// large is a blob of several parts, and a bit.
func large() []byte {
	text := make([]byte, 20<<20+17)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(text) // it never fails
	return text
}

func TestALargeBlobComesBackAsItWasWritten(t *testing.T) {
	eachStore(t, func(t *testing.T, s blob.Store) {
		want := large()
		w, err := s.Create(t.Context(), "uploads/large")
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		for rest := want; len(rest) > 0; { // pieces of no round size
			n := min(len(rest), 300_007)
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if _, err := get(t, s, "uploads/large"); !errors.Is(err, blob.ErrNotFound) {
			t.Fatalf("seen before commit: %v", err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if got, err := get(t, s, "uploads/large"); err != nil || sha256.Sum256([]byte(got)) != sha256.Sum256(want) {
			t.Fatalf("got %d bytes, %v", len(got), err)
		}
		if got, err := writeAgain(t, s, "uploads/large", want[:9<<20]); !errors.Is(err, blob.ErrExists) || got != nil {
			t.Errorf("a second blob of several parts: %v", err)
		}
		r := open(t, s, "uploads/large")
		readsEverywhere(t, r, want)
	})
}

// writeAgain writes a large blob, and returns what is under the key if it was accepted.
func writeAgain(t *testing.T, s blob.Store, key string, text []byte) ([]byte, error) {
	t.Helper()
	w, err := s.Create(t.Context(), key)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	got, err := get(t, s, key)
	return []byte(got), err
}

func open(t *testing.T, s blob.Store, key string) blob.Reader {
	t.Helper()
	r, err := s.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// readsEverywhere reads at random places, from several goroutines, and from one place on.
func readsEverywhere(t *testing.T, r blob.Reader, want []byte) {
	t.Helper()
	if r.Size() != int64(len(want)) || r.Version() == "" {
		t.Fatalf("size %d, version %q", r.Size(), r.Version())
	}
	var wg sync.WaitGroup
	for seed := range uint64(4) {
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(seed, 1))
			for range 25 {
				at := dice.IntN(len(want))
				p := make([]byte, 1+dice.IntN(3<<20))
				n, err := r.ReadAt(p, int64(at))
				end := min(at+len(p), len(want))
				if !bytes.Equal(p[:n], want[at:end]) || (err != nil) != (n < len(p)) || err != nil && !errors.Is(err, io.EOF) {
					t.Errorf("at %d: %d bytes of %d, %v", at, n, len(p), err)
				}
			}
		})
	}
	wg.Wait()
	for _, at := range []int64{0, 12 << 20, 5, int64(len(want))} {
		if place, err := r.Seek(at, io.SeekStart); err != nil || place != at {
			t.Fatalf("seek to %d: %d, %v", at, place, err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, want[at:]) {
			t.Errorf("from %d on: %d bytes, %v", at, len(got), err)
		}
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("a place before the first byte was found")
	}
	if place, err := r.Seek(-3, io.SeekEnd); err != nil || place != int64(len(want)-3) {
		t.Errorf("three bytes before the end: %d, %v", place, err)
	}
}

func TestAnEmptyBlobIsOne(t *testing.T) {
	eachStore(t, func(t *testing.T, s blob.Store) {
		if err := put(t, s, "a", ""); err != nil {
			t.Fatal(err)
		}
		if text, err := get(t, s, "a"); err != nil || text != "" {
			t.Errorf("got %q, %v", text, err)
		}
		if n, err := open(t, s, "a").ReadAt(make([]byte, 1), 0); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("a byte of it: %d, %v", n, err)
		}
	})
}

func TestWhatIsAbortedLeavesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s blob.Store) {
		w, err := s.Create(t.Context(), "a/b")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(large()); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		w.Abort() // twice is no harm
		if got := list(t, s, ""); len(got) != 0 {
			t.Errorf("left %v", got)
		}
		if err := put(t, s, "a/b", "whole"); err != nil {
			t.Errorf("the key is not free: %v", err)
		}
	})
}

func TestAWholeBlobIsHashedOnceForAllWhoWait(t *testing.T) {
	eachStore(t, func(t *testing.T, s blob.Store) {
		if err := put(t, s, "a", "text"); err != nil {
			t.Fatal(err)
		}
		var whole blob.Whole
		const sum = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
		for range 2 {
			r, err := whole.Open(t.Context(), s, "a", sum)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(r); err != nil || string(text) != "text" {
				t.Errorf("got %q, %v", text, err)
			}
			_ = r.Close()
		}
		if _, err := whole.Open(t.Context(), s, "a", sum[1:]+"0"); !errors.Is(err, blob.ErrDamaged) {
			t.Errorf("another hash: %v", err)
		}
		if _, err := whole.Open(context.Background(), s, "b", sum); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("another key: %v", err)
		}
	})
}
