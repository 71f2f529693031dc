package frames_test

import (
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// deliverLook delivers a processor's picture with the measured defects; shows represents
// its pixels.
func (w *world) deliverLook(l lease.Lease, shows string, look pixels.Defects) error {
	return w.deliverFrom("CPU", l, shows, look)
}

func (w *world) deliverFrom(device string, l lease.Lease, shows string, look pixels.Defects) error {
	p := jobtest.Picture(l, time.Second)
	p.Device, p.Registered = device, device
	p.SHA256, p.PixelSHA256 = "file of "+shows, shows
	p.Seen = &pixels.Picture{Format: "png", Width: p.Width, Height: p.Height, SHA256: shows, Decoded: true, Comparable: true, Defects: look}
	_, err := w.Frames.Accept(w.T.Context(), p)
	return err
}

func (w *world) mustDeliver(l lease.Lease, shows string, look pixels.Defects) {
	w.T.Helper()
	if err := w.deliverLook(l, shows, look); err != nil {
		w.T.Fatal(err)
	}
}

func (w *world) wantFindings(workspace, jobID string, want ...string) {
	w.T.Helper()
	frames, err := w.Watch.Frames(w.T.Context(), workspace, jobID)
	if err != nil {
		w.T.Fatal(err)
	}
	if len(frames) != len(want) {
		w.T.Fatalf("there are %d frames, want %d", len(frames), len(want))
	}
	for i, f := range frames {
		if f.Finding != want[i] {
			w.T.Errorf("frame %d: found %q, want %q", f.Frame, f.Finding, want[i])
		}
	}
}

var (
	black = pixels.Defects{Blank: 1, Black: true}
	grey  = pixels.Defects{Blank: 1}
)

func TestABlackFrameAmongPicturesIsRenderedOnceMoreByAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 3)
		bad, good := w.Worker(t), w.Worker(t)
		w.mustDeliver(w.ClaimOne(bad), "one", pixels.Defects{})
		w.mustDeliver(w.ClaimOne(bad), "black", black)
		before, err := w.Watch.Preview(t.Context(), workspace, jobID, 2)
		if err != nil {
			t.Fatal(err)
		}
		w.mustDeliver(w.ClaimOne(bad), "three", pixels.Defects{})
		w.WantStatus(jobID, job.Rendering, "")
		w.CheckTurns()
		if _, err := w.Watch.Preview(t.Context(), workspace, jobID, 2); fault.Of(err) != fault.FrameNotFound {
			t.Errorf("the preview of a frame that was put back: %v", err)
		}
		w.WantNoFrame(bad)
		again := w.ClaimOne(good)
		if again.Item != 2 || again.Attempt != 2 {
			t.Fatalf("attempt %d of frame %d is rendered once more", again.Attempt, again.Item)
		}
		w.mustDeliver(again, "two", pixels.Defects{})
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, "", "", "")
		if after, err := w.Watch.Preview(t.Context(), workspace, jobID, 2); err != nil || after.SHA256 == before.SHA256 {
			t.Errorf("the preview of a frame that was rendered again is named %q, as before (%v)", after.SHA256, err)
		}
	})
}

func TestABlackFrameThatAnotherConfirmsIsTheScenesOwn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 2)
		first, second := w.Worker(t), w.Worker(t)
		w.mustDeliver(w.ClaimOne(first), "black", black)
		w.mustDeliver(w.ClaimOne(first), "two", pixels.Defects{})
		w.mustDeliver(w.ClaimOne(second), "black", black)
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, framecheck.FindingBlack, "")
	})
}

func TestAFadeIsTakenAsItIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 4)
		lone := w.Worker(t)
		for range 3 {
			w.mustDeliver(w.ClaimOne(lone), "black", black)
		}
		w.mustDeliver(w.ClaimOne(lone), "light", pixels.Defects{})
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, framecheck.FindingBlack, framecheck.FindingBlack, framecheck.FindingBlack, "")
	})
}

func TestAnEmptyShotIsTakenAsItIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 2)
		lone := w.Worker(t)
		for range 2 {
			w.mustDeliver(w.ClaimOne(lone), "grey", grey)
		}
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, framecheck.FindingUniform, framecheck.FindingUniform)
	})
}

// Without another worker the same worker must show the same pixels again.
func TestALoneWorkerConfirmsItsOwnBlackFrame(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 2)
		lone := w.Worker(t)
		w.mustDeliver(w.ClaimOne(lone), "one", pixels.Defects{})
		w.mustDeliver(w.ClaimOne(lone), "black", black)
		w.WantStatus(jobID, job.Rendering, "")
		w.mustDeliver(w.ClaimOne(lone), "black", black)
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, "", framecheck.FindingBlack)
	})
}

func TestAFrameOnWhoseBlankPartNoTwoAgreeFailsItsJob(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		workers := []string{w.Worker(t), w.Worker(t), w.Worker(t)}
		w.mustDeliver(w.ClaimOne(workers[0]), "one", pixels.Defects{})
		for i, shows := range []string{"a half", "black", "another half"} {
			w.WantStatus(jobID, job.Rendering, "")
			w.mustDeliver(w.ClaimOne(workers[i]), shows, pixels.Defects{Blank: 0.5})
		}
		w.WantStatus(jobID, job.Failed, fault.FrameCheckFailed)
	})
}

// Two renders of a GPU differ in a few pixels, so their hashes say nothing.
func TestOnAGPUABlankPartThatIsRenderedTwiceIsMeantSo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 2)
		first, second := w.Worker(t), w.Worker(t)
		for _, d := range []struct {
			worker, shows string
			blank         float64
		}{{first, "one", 0}, {first, "a half", 0.5}, {second, "a half with other noise", 0.5}} {
			claimed := w.ClaimOne(d.worker)
			w.WantStatus(jobID, job.Rendering, "")
			if err := w.deliverFrom("GPU", claimed, d.shows, pixels.Defects{Blank: d.blank}); err != nil {
				t.Fatal(err)
			}
		}
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, "", framecheck.FindingBlank)
	})
}

func TestPinkWithoutAWarningOfInspectIsSuspect(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		pink := pixels.Defects{Pink: 0.4}
		first, second := w.Worker(t), w.Worker(t)

		jobID := w.Job(t, workspace, 1)
		w.wantRejected(w.deliverLook(w.ClaimOne(first), "pink", pink))
		w.Advance(2 * time.Second)
		w.WantNoFrame(first)
		w.mustDeliver(w.ClaimOne(second), "wood", pixels.Defects{})
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, "")

		jobID = w.Job(t, workspace, 1)
		w.wantRejected(w.deliverLook(w.ClaimOne(first), "pink", pink))
		w.Advance(2 * time.Second)
		w.mustDeliver(w.ClaimOne(second), "pink", pink)
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, framecheck.FindingPink)

		w.Advance(dispatch.OtherKeyWait + time.Second)
		w.Seen(first) // the only one now
		jobID = w.Job(t, workspace, 1)
		w.wantRejected(w.deliverLook(w.ClaimOne(first), "pink", pink))
		w.Advance(2 * time.Second)
		w.mustDeliver(w.ClaimOne(first), "pink", pink)
		w.WantStatus(jobID, job.Packaging, "")
		w.wantFindings(workspace, jobID, framecheck.FindingPink)
	})
}

func (w *world) wantRejected(err error) {
	w.T.Helper()
	if !fault.Is(err, fault.FrameRejected) {
		w.T.Fatalf("got %v, want frame_rejected", err)
	}
}

// A report that comes again after its frame was put back is of an attempt that is
// over.
func TestALateReportOfASuspectFrameChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		lone := w.Worker(t)
		w.mustDeliver(w.ClaimOne(lone), "one", pixels.Defects{})
		suspect := w.ClaimOne(lone)
		w.mustDeliver(suspect, "black", black)
		again := w.ClaimOne(lone)
		if err := w.deliverLook(suspect, "black", black); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("the late report got %v, want lease_lost", err)
		}
		w.mustDeliver(again, "two", pixels.Defects{})
		w.WantStatus(jobID, job.Packaging, "")
	})
}
