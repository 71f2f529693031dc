package blob_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/test/s3test"
)

func openDisk(t *testing.T) (*blob.Disk, string) {
	t.Helper()
	dir := t.TempDir()
	d, err := blob.OpenDisk(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return d, dir
}

// eachStore runs a test on every kind of store.
func eachStore(t *testing.T, test func(t *testing.T, s blob.Store)) {
	t.Parallel()
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		d, _ := openDisk(t)
		test(t, d)
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		test(t, openS3(t, s3test.Address(t)))
	})
}

func openS3(t *testing.T, address string) *blob.S3 {
	t.Helper()
	s, _, err := blob.OpenS3(t.Context(), address, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s blob.Store, key, text string) error {
	t.Helper()
	w, err := s.Create(t.Context(), key)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	return w.Commit()
}

func get(t *testing.T, s blob.Store, key string) (string, error) {
	t.Helper()
	r, err := s.Open(t.Context(), key)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if int64(len(text)) != r.Size() {
		t.Errorf("size %d, read %d", r.Size(), len(text))
	}
	return string(text), err
}

func list(t *testing.T, s blob.Store, prefix string) (keys []string) {
	t.Helper()
	err := s.List(context.Background(), prefix, func(key string, _ time.Time) error {
		keys = append(keys, key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestABlobAppearsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	d, dir := openDisk(t)
	w, err := d.Create(t.Context(), "uploads/UPL-1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "half"); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, d, "uploads/UPL-1"); !errors.Is(err, blob.ErrNotFound) {
		t.Fatalf("seen before commit: %v", err)
	}
	w.Abort()
	if left, _ := filepath.Glob(filepath.Join(dir, "incoming", "*")); len(left) != 0 {
		t.Fatalf("abort left %v", left)
	}
	if err := put(t, d, "uploads/UPL-1", "whole"); err != nil {
		t.Fatal(err)
	}
	if text, err := get(t, d, "uploads/UPL-1"); err != nil || text != "whole" {
		t.Fatalf("got %q, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "incoming", "*")); len(left) != 0 {
		t.Fatalf("commit left %v", left)
	}
}

func TestACommittedBlobIsNeverReplaced(t *testing.T) {
	eachStore(t, func(t *testing.T, s blob.Store) {
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				switch err := put(t, s, "frames/JOB-1/frame_0001.png", "x"); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, blob.ErrExists):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d writers won", won.Load())
		}
		if err := put(t, s, "frames/JOB-1/frame_0001.png", "y"); !errors.Is(err, blob.ErrExists) {
			t.Errorf("a later writer: %v", err)
		}
		if text, err := get(t, s, "frames/JOB-1/frame_0001.png"); err != nil || text != "x" {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

func TestWhatIsDeletedIsNotListed(t *testing.T) {
	eachStore(t, func(t *testing.T, s blob.Store) {
		for _, key := range []string{"frames/JOB-1/a.png", "frames/JOB-1/b.png", "frames/JOB-2/a.png"} {
			if err := put(t, s, key, key); err != nil {
				t.Fatal(err)
			}
		}
		if got := list(t, s, "frames/JOB-1/"); len(got) != 2 {
			t.Fatalf("got %v", got)
		}
		if got := list(t, s, "frames/JOB-"); len(got) != 3 {
			t.Fatalf("got %v", got)
		}
		for range 2 { // deleting twice is no error
			for _, key := range []string{"frames/JOB-1/a.png", "frames/JOB-1/b.png"} {
				if err := s.Delete(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := list(t, s, ""); len(got) != 1 || got[0] != "frames/JOB-2/a.png" {
			t.Fatalf("got %v", got)
		}
		stop := errors.New("enough")
		if err := s.List(t.Context(), "", func(string, time.Time) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("a visit that ends the listing: %v", err)
		}
	})
}

func TestAFolderThatBecomesEmptyGoes(t *testing.T) {
	t.Parallel()
	d, dir := openDisk(t)
	if err := put(t, d, "frames/JOB-1/a.png", "x"); err != nil {
		t.Fatal(err)
	}
	if err := d.Delete(t.Context(), "frames/JOB-1/a.png"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "blobs", "frames", "JOB-1")); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("an empty folder stayed")
	}
}

func TestKeysCannotLeaveTheStore(t *testing.T) {
	eachStore(t, func(t *testing.T, s blob.Store) {
		for _, key := range []string{"", "../x", "a/../../x", "/etc/passwd", "a//b", ".hidden", "a/.b", "a\\b", "a b"} {
			if err := put(t, s, key, "x"); err == nil {
				t.Errorf("%q was accepted", key)
			}
			if err := s.Delete(t.Context(), key); err == nil {
				t.Errorf("%q was deleted", key)
			}
			if _, err := get(t, s, key); err == nil {
				t.Errorf("%q was read", key)
			}
		}
	})
}

func TestOldUnfinishedWritesAreCleared(t *testing.T) {
	t.Parallel()
	d, dir := openDisk(t)
	w, err := d.Create(t.Context(), "a/b") // a process that dies here leaves it
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := blob.OpenDisk(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "incoming", "*"))
	if len(left) != 1 {
		t.Fatal("a fresh one may belong to a running process")
	}
	if _, err := blob.OpenDisk(dir, time.Now().Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "incoming", "*")); len(left) != 0 {
		t.Fatalf("left %v", left)
	}
}
