package render_test

import (
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/pixels"
	"svc.example/internal/work/render"
)

// show delivers a picture of a look; its pixels are named by what they show.
func (w *world) show(l lease.Lease, shows string, look pixels.Look) error {
	p := picture(l, time.Second)
	p.SHA256, p.PixelSHA256 = "file of "+shows, shows
	p.Seen = &pixels.Picture{Format: "png", Width: p.Width, Height: p.Height, SHA256: shows, Look: look}
	_, err := w.Accept(w.t.Context(), p)
	return err
}

func (w *world) mustShow(l lease.Lease, shows string, look pixels.Look) {
	w.t.Helper()
	if err := w.show(l, shows, look); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) wantFindings(workspace, job string, want ...string) {
	w.t.Helper()
	frames, err := w.Frames(w.t.Context(), workspace, job)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(frames) != len(want) {
		w.t.Fatalf("there are %d frames, want %d", len(frames), len(want))
	}
	for i, f := range frames {
		if f.Finding != want[i] {
			w.t.Errorf("frame %d: found %q, want %q", f.Frame, f.Finding, want[i])
		}
	}
}

var black = pixels.Look{Blank: 1}

func TestABlackFrameAmongPicturesIsRenderedOnceMoreByAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		job := w.job(t, workspace, 3)
		bad, good := w.worker(t), w.worker(t)
		w.mustShow(w.take(bad), "one", pixels.Look{})
		w.mustShow(w.take(bad), "black", black)
		before, err := w.Preview(t.Context(), workspace, job, 2)
		if err != nil {
			t.Fatal(err)
		}
		w.mustShow(w.take(bad), "three", pixels.Look{})
		w.wantStatus(job, render.Rendering, "")
		w.wantTrueTurns()
		if _, err := w.Preview(t.Context(), workspace, job, 2); fault.Of(err) != fault.FrameNotFound {
			t.Errorf("the preview of a frame that was put back: %v", err)
		}
		w.wantNothing(bad)
		again := w.take(good)
		if again.Item != 2 || again.Attempt != 2 {
			t.Fatalf("attempt %d of frame %d is rendered once more", again.Attempt, again.Item)
		}
		w.mustShow(again, "two", pixels.Look{})
		w.wantStatus(job, render.Packaging, "")
		w.wantFindings(workspace, job, "", "", "")
		if after, err := w.Preview(t.Context(), workspace, job, 2); err != nil || after.SHA256 == before.SHA256 {
			t.Errorf("the preview of a frame that was rendered again is named %q, as before (%v)", after.SHA256, err)
		}
	})
}

func TestABlackFrameThatAnotherConfirmsIsTheScenesOwn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		job := w.job(t, workspace, 2)
		first, second := w.worker(t), w.worker(t)
		w.mustShow(w.take(first), "black", black)
		w.mustShow(w.take(first), "two", pixels.Look{})
		w.mustShow(w.take(second), "black", black)
		w.wantStatus(job, render.Packaging, "")
		w.wantFindings(workspace, job, render.FindingUniform, "")
	})
}

func TestAFadeIsTakenAsItIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		job := w.job(t, workspace, 4)
		lone := w.worker(t)
		for range 3 {
			w.mustShow(w.take(lone), "black", black)
		}
		w.mustShow(w.take(lone), "light", pixels.Look{})
		w.wantStatus(job, render.Packaging, "")
		w.wantFindings(workspace, job, render.FindingUniform, render.FindingUniform, render.FindingUniform, "")
	})
}

// Where there is nobody else the same worker must show the same pixels again.
func TestALoneWorkerConfirmsItsOwnBlackFrame(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		job := w.job(t, workspace, 2)
		lone := w.worker(t)
		w.mustShow(w.take(lone), "one", pixels.Look{})
		w.mustShow(w.take(lone), "black", black)
		w.wantStatus(job, render.Rendering, "")
		w.mustShow(w.take(lone), "black", black)
		w.wantStatus(job, render.Packaging, "")
		w.wantFindings(workspace, job, "", render.FindingUniform)
	})
}

func TestAFrameOnWhoseBlankPartNoTwoAgreeFailsItsJob(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		job := w.job(t, w.workspace(t), 2)
		workers := []string{w.worker(t), w.worker(t), w.worker(t)}
		w.mustShow(w.take(workers[0]), "one", pixels.Look{})
		for i, shows := range []string{"a half", "black", "another half"} {
			w.wantStatus(job, render.Rendering, "")
			w.mustShow(w.take(workers[i]), shows, pixels.Look{Blank: 0.5})
		}
		w.wantStatus(job, render.Failed, fault.FrameCheckFailed)
	})
}

func TestPinkThatInspectDidNotWarnOfIsDoubted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		pink := pixels.Look{Pink: 0.4}
		first, second := w.worker(t), w.worker(t)

		job := w.job(t, workspace, 1)
		w.wantRejected(w.show(w.take(first), "pink", pink))
		w.pass(2 * time.Second)
		w.wantNothing(first)
		w.mustShow(w.take(second), "wood", pixels.Look{})
		w.wantStatus(job, render.Packaging, "")
		w.wantFindings(workspace, job, "")

		job = w.job(t, workspace, 1)
		w.wantRejected(w.show(w.take(first), "pink", pink))
		w.pass(2 * time.Second)
		w.mustShow(w.take(second), "pink", pink)
		w.wantStatus(job, render.Packaging, "")
		w.wantFindings(workspace, job, render.FindingPink)

		w.pass(render.WorkerOnline + time.Second)
		w.seen(first) // the only one now
		job = w.job(t, workspace, 1)
		for range 2 {
			w.wantRejected(w.show(w.take(first), "pink", pink))
			w.pass(2 * time.Second)
		}
		w.wantStatus(job, render.Failed, fault.FrameCheckFailed)
	})
}

func (w *world) wantRejected(err error) {
	w.t.Helper()
	if !fault.Is(err, fault.FrameRejected) {
		w.t.Fatalf("got %v, want frame_rejected", err)
	}
}

// A report that comes again after its frame was put back is of an attempt that is
// over.
func TestALateReportOfADoubtedFrameChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		job := w.job(t, w.workspace(t), 2)
		lone := w.worker(t)
		w.mustShow(w.take(lone), "one", pixels.Look{})
		doubted := w.take(lone)
		w.mustShow(doubted, "black", black)
		again := w.take(lone)
		if err := w.show(doubted, "black", black); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("the late report got %v, want lease_lost", err)
		}
		w.mustShow(again, "two", pixels.Look{})
		w.wantStatus(job, render.Packaging, "")
	})
}
