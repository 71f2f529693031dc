package blob

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

// Linux tells a file once that what was written to it is lost; the next sync
// says that all is well.
func TestALossThatAnEarlySyncIsToldOfFailsTheCommit(t *testing.T) {
	t.Parallel()
	d, err := OpenDisk(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Create(t.Context(), "uploads/UPL-1")
	if err != nil {
		t.Fatal(err)
	}
	lost, told := errors.New("input/output error"), false
	w.(*diskWriter).sync = func() error {
		if told {
			return nil
		}
		told = true
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
