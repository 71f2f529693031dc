package blob

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"svc.example/internal/ground/digest"
)

// ErrDamaged says that the bytes of a blob are not those of its hash.
var ErrDamaged = errors.New("blob is damaged")

// Whole opens blobs whose every byte is right. It hashes a blob once for each
// version of its file, because the disk may lose a bit, or a file may be changed,
// while the process runs. The zero value is ready. Safe for concurrent use.
type Whole struct {
	mu      sync.Mutex
	right   map[string]string // the version that was hashed, by key and hash
	hashing singleflight.Group
}

// maxRight bounds the versions that are remembered. With more, all are forgotten, and
// hashed again when they are asked for.
const maxRight = 10_000

// Open opens a blob whose SHA-256 is sum, in lower-case hex. The first call reads it
// once as a whole; calls meanwhile wait for that. Errors: ErrNotFound, ErrDamaged.
func (w *Whole) Open(ctx context.Context, store Store, key, sum string) (Reader, error) {
	r, err := store.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	if w.known(key+" "+sum, r.Version()) {
		return r, nil
	}
	if err := w.check(ctx, store, key, sum); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Recheck hashes a blob again even if it was found right before, because a caller
// reports that it is damaged. Errors are those of Open.
func (w *Whole) Recheck(ctx context.Context, store Store, key, sum string) error {
	w.remember(key+" "+sum, "")
	return w.check(ctx, store, key, sum)
}

func (w *Whole) known(name, version string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return version != "" && w.right[name] == version
}

func (w *Whole) remember(name, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.right == nil || len(w.right) >= maxRight {
		w.right = map[string]string{}
	}
	if version == "" {
		delete(w.right, name)
		return
	}
	w.right[name] = version
}

// check hashes a blob and remembers the version that was right. A caller that stops
// waiting does not end the hashing for the others.
func (w *Whole) check(ctx context.Context, store Store, key, sum string) error {
	name := key + " " + sum
	done := w.hashing.DoChan(name, func() (any, error) {
		r, err := store.Open(context.WithoutCancel(ctx), key)
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.Close() }()
		version := r.Version()
		got, err := digest.Of(r)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read blob %s: %w", key, err)
		case got != sum:
			return nil, fmt.Errorf("%w: %s has SHA-256 %s, not %s", ErrDamaged, key, got, sum)
		}
		w.remember(name, version)
		return nil, nil
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case result := <-done:
		return result.Err
	}
}
