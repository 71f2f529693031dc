package preview_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/preview"
)

func TestAPreviewEndsWithItsTime(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		shown, waiting := w.NewUpload(t, workspace, 1), w.NewUpload(t, workspace, 1)
		w.ordered(workspace, shown, 0)
		if err := w.Accept(t.Context(), delivery(t, w.claim(w.Worker(t)), painted(t, 8, 8, nil))); err != nil {
			t.Fatal(err)
		}
		w.ordered(workspace, waiting, 0)
		w.Advance(contract.PreviewWait)
		w.expireAll("")
		if v := w.find(workspace, waiting); v.Status != preview.Expired || v.ExpiresAt != nil || v.Estimate != nil {
			t.Errorf("what no worker had time for is %+v", v)
		}
		ready := w.find(workspace, shown)
		if ready.Status != preview.Ready {
			t.Fatalf("the picture of a quarter of an hour is %s", ready.Status)
		}
		w.Advance(contract.PreviewRetention)
		w.expireAll("")
		v := w.find(workspace, shown)
		if v.Status != preview.Expired || v.ImageURL != nil || v.Estimate == nil {
			t.Errorf("the picture of a day is %+v; its estimate stays", v)
		}
		if again := w.ordered(workspace, shown, 1); again.PreviewID == v.PreviewID {
			t.Error("a picture that is gone is not rendered again")
		}
	})
}

// TestAnUploadTakesItsPreviewsWithIt: in each of their states.
func TestAnUploadTakesItsPreviewsWithIt(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		upload := w.NewUpload(t, workspace, 9)
		w.ordered(workspace, upload, 1)
		if err := w.Accept(t.Context(), delivery(t, w.claim(w.Worker(t)), painted(t, 8, 8, nil))); err != nil {
			t.Fatal(err)
		}
		w.ordered(workspace, upload, 2)
		rendering := w.claim(w.Worker(t))
		w.ordered(workspace, upload, 3)
		drop := func() (keys []string) {
			w.Write(t, func(ctx context.Context, tx *db.Tx) (err error) {
				if _, err := tx.UploadRemove(ctx, query.UploadRemoveParams{Now: tx.Now, UploadID: upload}); err != nil && !db.IsNotFound(err) {
					return err
				}
				keys, err = preview.Drop(ctx, tx, upload)
				return err
			})
			return keys
		}
		keys := drop()
		if len(keys) != 1 || len(drop()) != 0 {
			t.Fatalf("the pictures %q go", keys)
		}
		if err := w.Blobs.Delete(t.Context(), keys[0]); err != nil {
			t.Fatal(err)
		}
		if err := w.Accept(t.Context(), delivery(t, rendering, painted(t, 8, 8, nil))); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("a picture of an upload that is gone: %v", err)
		}
		w.wantNone("the upload is gone", w.Worker(t))
		if _, err := w.Find(t.Context(), workspace, upload, nil); !fault.Is(err, fault.UploadNotFound) {
			t.Errorf("of an upload that is gone: %v", err)
		}
		// A day later nothing counts any more.
		count := func() (n int) {
			w.Read(t, func(ctx context.Context, tx *db.Tx) error {
				rows, err := tx.PreviewAfter(ctx, "")
				n = len(rows)
				return err
			})
			return n
		}
		for _, c := range []struct {
			after time.Duration
			left  int
		}{{23 * time.Hour, 3}, {2 * time.Hour, 0}} {
			w.Advance(c.after)
			if _, err := preview.Forget(t.Context(), w.Previews.DB); err != nil || count() != c.left {
				t.Errorf("%d previews are left: %v", count(), err)
			}
		}
		w.expireAll("") // of rows that are gone
	})
}
