package watch_test

import (
	"fmt"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
)

// The thumbnail of a job is there as soon as any frame is, whichever came first.
func TestTheFirstPreviewIsOfTheLowestFrameThatIsAccepted(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 3)
		var held []lease.Lease
		for range 3 {
			held = append(held, w.ClaimOne(w.Worker(t)))
		}
		if _, err := w.Watch.FirstPreview(t.Context(), workspace, jobID); !fault.Is(err, fault.FrameNotFound) {
			t.Errorf("before the first frame: %v", err)
		}
		for _, i := range []int{2, 1} {
			picture := jobtest.Picture(held[i], time.Second)
			picture.SHA256 = fmt.Sprintf("%02d", picture.Frame)
			if _, err := w.Frames.Accept(t.Context(), picture); err != nil {
				t.Fatal(err)
			}
			if found, err := w.Watch.FirstPreview(t.Context(), workspace, jobID); err != nil || found.SHA256 != picture.SHA256 {
				t.Errorf("after frame %d: %q, %v", picture.Frame, found.SHA256, err)
			}
		}
		if _, err := w.Watch.FirstPreview(t.Context(), w.Workspace(t), jobID); !fault.Is(err, fault.RenderNotFound) {
			t.Errorf("of another workspace: %v", err)
		}
	})
}
