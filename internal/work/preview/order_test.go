package preview_test

import (
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/preview"
)

// TestAnOrderIsRepeatedWithoutASecondPreview: by many at once, of one frame.
func TestAnOrderIsRepeatedWithoutASecondPreview(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		upload := w.NewUpload(t, workspace, 9)
		ids := w.orderAtOnce(8, func(w world, _ int) (preview.View, error) { return w.order(workspace, upload, 3) })
		if len(ids) != 1 {
			t.Errorf("one frame has the previews %v", ids)
		}
		w.claim(w.Worker(t))
		if v := w.ordered(workspace, upload, 3); ids[v.PreviewID] == 0 || v.Status != preview.Rendering {
			t.Errorf("while it is rendered, the order gives %s, %s", v.PreviewID, v.Status)
		}
	})
}

// The scene of a hostile file is five megabytes of JSON, and on SQLite every other write waits for
// an order. It is read for a preview that is made, and not for those that are refused or repeated.
func TestNoSceneIsReadForAnOrderThatMakesNoPreview(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		upload := w.NewUpload(t, workspace, 9)
		for frame := range w.Limits.Upload {
			w.ordered(workspace, upload, frame+1)
		}
		if _, err := dbtest.Raw(t, w.URL).ExecContext(t.Context(), "UPDATE upload SET scene = 'not JSON'"); err != nil {
			t.Fatal(err)
		}
		w.ordered(workspace, upload, 1)
		if _, err := w.order(workspace, upload, 9); !fault.Is(err, fault.PreviewLimitReached) {
			t.Errorf("one too many is answered: %v", err)
		}
	})
}

// orderAtOnce orders many previews at the same moment, every other one by another process
// where the database has several. It counts each preview's orders.
func (w world) orderAtOnce(n int, order func(w world, i int) (preview.View, error)) map[string]int {
	w.t.Helper()
	processes := []world{w, w}
	if w.Previews.DB.Engine() == "postgres" {
		second := *w.Previews
		second.DB = dbtest.Open(w.t, db.Config{URL: w.URL})
		processes[1].Previews = &second
	}
	var mu sync.Mutex
	ids := map[string]int{}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			v, err := order(processes[i%2], i)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				ids[v.PreviewID]++
			case !fault.Is(err, fault.PreviewLimitReached):
				w.t.Errorf("order %d: %v", i, err)
			}
		})
	}
	all.Wait()
	return ids
}

func TestLimitsHoldWhoeverOrdersAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace, other := w.Workspace(t), w.Workspace(t)
		w.Limits = preview.Limits{Upload: 3, Day: 5}
		uploads := []string{w.NewUpload(t, workspace, 9), w.NewUpload(t, workspace, 9), w.NewUpload(t, workspace, 9)}
		if ids := w.orderAtOnce(9, func(w world, i int) (preview.View, error) { return w.order(workspace, uploads[0], i+1) }); len(ids) != 3 {
			t.Errorf("an upload has %d previews at once, want 3", len(ids))
		}
		if ids := w.orderAtOnce(9, func(w world, i int) (preview.View, error) { return w.order(workspace, uploads[1+i%2], i+1) }); len(ids) != 2 {
			t.Errorf("a workspace has %d more previews of two other uploads, want 2", len(ids))
		}
		w.ordered(other, w.NewUpload(t, other, 1), 0)
		// What no worker has begun counts for nothing once it is over; what one has begun does.
		begun := w.claim(w.Worker(t))
		w.Advance(contract.PreviewWait)
		w.expireAll(preview.LeaseID(begun.PreviewID, int(begun.Lease.Item)))
		if ids := w.orderAtOnce(9, func(w world, i int) (preview.View, error) { return w.order(workspace, uploads[1+i%2], i+1) }); len(ids) != 4 {
			t.Errorf("in addition to one that a worker has begun there are %d, want 4", len(ids))
		}
		w.Advance(24 * time.Hour)
		w.expireAll("")
		if _, err := w.order(workspace, uploads[0], 7); err != nil {
			t.Errorf("a day later: %v", err)
		}
		w.Limits = preview.Limits{}
		if _, err := w.order(workspace, uploads[2], 1); !fault.Is(err, fault.PreviewsOff) {
			t.Errorf("while previews are off: %v", err)
		}
	})
}
