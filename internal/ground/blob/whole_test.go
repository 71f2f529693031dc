package blob_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
)

// opened counts how often a blob is opened: once to be served, once more to be hashed.
type opened struct {
	blob.Store
	n int
}

func (o *opened) Open(ctx context.Context, key string) (blob.Reader, error) {
	o.n++
	return o.Store.Open(ctx, key)
}

func TestADamagedBlobIsNeverOpenedAsWhole(t *testing.T) {
	t.Parallel()
	disk, dir := openDisk(t)
	if err := put(t, disk, "a/b", "every byte counts"); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte("every byte counts"))
	sum := hex.EncodeToString(hash[:])
	store, whole := &opened{Store: disk}, &blob.Whole{}
	open := func() error {
		r, err := whole.Open(t.Context(), store, "a/b", sum)
		if err == nil {
			err = r.Close()
		}
		return err
	}
	for i, opens := range []int{2, 3, 4} { // hashed the first time only
		if err := open(); err != nil || store.n != opens {
			t.Errorf("call %d: %v after %d opens, want %d", i, err, store.n, opens)
		}
	}
	path := filepath.Join(dir, "blobs", "a", "b")
	if err := os.WriteFile(path, []byte("every bite counts"), 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := open(); !errors.Is(err, blob.ErrDamaged) {
			t.Errorf("a changed file: %v, want ErrDamaged", err)
		}
	}
	// A bit that the disk lost leaves the file's times as they are.
	if err := os.WriteFile(path, []byte("every byte counts"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chtimes(path, later, later), open()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("every bite counts"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if err := whole.Recheck(t.Context(), store, "a/b", sum); !errors.Is(err, blob.ErrDamaged) {
		t.Errorf("a lost bit: %v, want ErrDamaged", err)
	}
	if err := open(); !errors.Is(err, blob.ErrDamaged) {
		t.Errorf("after a lost bit was found: %v, want ErrDamaged", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := open(); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a file that is gone: %v, want ErrNotFound", err)
	}
}
