package blob

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/test/await"
)

// Linux reports to a file once that what was written to it is lost; the next sync
// says that all is well.
func TestAnErrorOfAnEarlySyncFailsTheCommit(t *testing.T) {
	t.Parallel()
	d, err := OpenDisk(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Create(t.Context(), "uploads/UPL-1")
	if err != nil {
		t.Fatal(err)
	}
	lost, reported := errors.New("input/output error"), false
	w.(*diskWriter).sync = func() error {
		if reported {
			return nil
		}
		reported = true
		return lost
	}
	for range 3 {
		if _, err := w.Write(bytes.Repeat([]byte{1}, earlySync)); err != nil {
			t.Fatal(err)
		}
		<-w.(*diskWriter).early
	}
	if err := w.Commit(); !errors.Is(err, lost) {
		t.Errorf("the commit of a file that the disk has lost says %v", err)
	}
	if _, err := d.Open(t.Context(), "uploads/UPL-1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the lost file can be opened: %v", err)
	}
}

// TestDiscardingABlobWaitsForNoSync discards a blob while its early sync does not end. An
// upload of known bytes is answered only after that.
func TestDiscardingABlobWaitsForNoSync(t *testing.T) {
	t.Parallel()
	d, err := OpenDisk(t.TempDir(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Create(t.Context(), "uploads/a")
	if err != nil {
		t.Fatal(err)
	}
	syncing, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	w.(*diskWriter).sync = func() error { close(syncing); <-end; return nil }
	if _, err := w.Write(make([]byte, earlySync)); err != nil {
		t.Fatal(err)
	}
	await.Next(t, syncing, "the early sync")
	discarded := make(chan struct{})
	go func() { defer close(discarded); w.Abort() }()
	await.Next(t, discarded, "the discarded blob")
	if left, err := os.ReadDir(d.temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestNoWriterTrustsAFolderThatIsNotDurableYet holds the first writer up between
// making a folder and its sync: a second one there is not acknowledged before.
func TestNoWriterTrustsAFolderThatIsNotDurableYet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, err := OpenDisk(dir, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		durable := make(chan struct{})
		d.sync = func(dir string) error {
			if dir == d.root {
				<-durable
			}
			return atomicfile.Sync(dir)
		}
		ended := make(chan error, 2)
		for _, key := range []string{"jobs/1", "jobs/2"} {
			w, err := d.Create(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			go func() { ended <- w.Commit() }()
			synctest.Wait()
			if len(ended) != 0 {
				t.Errorf("%s is acknowledged, and its folder could still be lost", key)
			}
		}
		close(durable)
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}
