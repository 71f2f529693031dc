package caller

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rerenderOptions order frames of JOB-0 again, into the folder in which that job lies.
func (d *fakeService) rerenderOptions(t *testing.T, frames string) (Options, func() string) {
	t.Helper()
	o, seen := d.options(t)
	o.File, o.RerenderOf, o.Frames = "", "JOB-0", FrameList(frames)
	first := &jobFile{State: stateFinished, Server: d.URL, JobID: "JOB-0", InputSHA256: d.job.Receipt.Input.SHA256, folder: o.Folder}
	if err := first.create(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Folder, "frame_0003.png"), []byte("of the first job"), 0o644); err != nil {
		t.Fatal(err)
	}
	return o, seen.String
}

func TestARerenderLandsBesideTheJobAndIsPaidOnce(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, seen := d.rerenderOptions(t, "1-3")
	result, err := Run(t.Context(), o)
	if err != nil || result.JobID != "JOB-1" || len(result.Frames) != 3 || result.Resumed || result.Folder != filepath.Join(o.Folder, "JOB-1") {
		t.Fatalf("result %+v, error %v, seen:\n%s", result, err, seen())
	}
	for _, line := range []string{"frames of JOB-0", "frames   1-3 (3 frames)", "price "} {
		if !strings.Contains(seen(), line) {
			t.Errorf("%q is not in:\n%s", line, seen())
		}
	}
	if text, err := os.ReadFile(filepath.Join(o.Folder, "frame_0003.png")); err != nil || string(text) != "of the first job" {
		t.Errorf("the first job's frame is %q, %v", text, err)
	}
	again := o
	again.Accept = neverAsked(t)
	if result, err := Run(t.Context(), again); err != nil || !result.Resumed || d.started.Load() != 1 || d.rerendered.Load() != 1 || d.inspected.Load() != 0 {
		t.Errorf("again: %+v, %v, %d starts, %d quotes, %d uploads", result, err, d.started.Load(), d.rerendered.Load(), d.inspected.Load())
	}
	again.Frames, again.Accept = "2", func(context.Context, Offer) error { return errDeclined }
	if _, err := Run(t.Context(), again); err != errDeclined || d.started.Load() != 1 || d.rerendered.Load() != 2 {
		t.Errorf("other frames: %v, %d starts, %d quotes", err, d.started.Load(), d.rerendered.Load())
	}
}

// A quote that has expired is replaced by one for the same frames of the same job.
func TestAnExpiredRerenderIsPricedAnew(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.expired = 1
	o, seen := d.rerenderOptions(t, "1-3")
	if result, err := Run(t.Context(), o); err != nil || len(result.Frames) != 3 || d.started.Load() != 2 || d.rerendered.Load() != 2 || d.inspected.Load() != 0 {
		t.Errorf("%+v, %v, %d starts, %d quotes, %d uploads; seen:\n%s", result, err, d.started.Load(), d.rerendered.Load(), d.inspected.Load(), seen())
	}
}
