package preview_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/preview"
)

// world is a store with uploads, and the previews of one process over it.
type world struct {
	*jobtest.World
	*preview.Previews
	t *testing.T
}

// each runs a test on both databases. At its end the audit finds nothing, and no picture
// is on disk that no row names.
func each(t *testing.T, test func(t *testing.T, w world)) {
	t.Helper()
	jobtest.Each(t, func(t *testing.T, jobs *jobtest.World) {
		blobs, err := blob.OpenDisk(t.TempDir(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w := world{jobs, &preview.Previews{
			DB: jobs.DB, Blobs: blobs, Whole: &blob.Whole{}, Links: links.Links{PublicURL: "https://svc.example", Key: []byte("key")},
			Limits: preview.Limits{Upload: 3, Day: 20}, LeaseLife: 20 * time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}, t}
		test(t, w)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			named, err := tx.PreviewBlobs(ctx)
			if err != nil {
				return err
			}
			stored := 0
			if err := blobs.List(ctx, "", func(string, time.Time) error { stored++; return nil }); err != nil || stored != len(named) {
				t.Errorf("%d pictures on disk, %d named: %v", stored, len(named), err)
			}
			return preview.Audit(ctx, tx, func(rule, subject, format string, args ...any) {
				t.Errorf("%s: %s: %s", rule, subject, fmt.Sprintf(format, args...))
			})
		})
	})
}

// order orders a preview; frame 0 names none.
func (w world) order(workspace, upload string, frame int) (v preview.View, err error) {
	var number *int
	if frame != 0 {
		number = &frame
	}
	err = w.Previews.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
		v, err = w.Order(context.Background(), tx, workspace, upload, number)
		return err
	})
	return v, err
}

// ordered is order where nothing may go wrong.
func (w world) ordered(workspace, upload string, frame int) preview.View {
	w.t.Helper()
	v, err := w.order(workspace, upload, frame)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// claim claims a preview, which must be there.
func (w world) claim(worker string) preview.Work {
	w.t.Helper()
	got, ok, err := w.Previews.Claim(w.t.Context(), worker)
	if err != nil || !ok {
		w.t.Fatalf("%s got no preview: %v", worker, err)
	}
	return got
}

// wantNone checks that a worker gets no preview.
func (w world) wantNone(why, worker string) {
	w.t.Helper()
	if got, ok, err := w.Previews.Claim(w.t.Context(), worker); err != nil || ok {
		w.t.Errorf("%s: the worker got %s: %v", why, got.PreviewID, err)
	}
}

// find reads the newest preview of an upload.
func (w world) find(workspace, upload string) preview.View {
	w.t.Helper()
	v, err := w.Find(w.t.Context(), workspace, upload, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// painted is a PNG of a size, of one colour where that is given.
func painted(t *testing.T, width, height int, one color.Color) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, color.NRGBA{byte(x), byte(y), byte(x ^ y), 255})
			if one != nil {
				img.Set(x, y, one)
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// delivery is a sound report of a claimed preview: 32 of 128 samples of a third of the
// size, in 2 s.
func delivery(t *testing.T, of preview.Work, content []byte) preview.Picture {
	t.Helper()
	seen, err := pixels.Read(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return preview.Picture{
		Picture: framecheck.Picture{
			Holder: of.Lease.Holder, File: "frame_0001.png", PixelSHA256: seen.SHA256, Width: seen.Width, Height: seen.Height,
			Device: "GPU", Registered: "GPU", Renderer: "blender",
		},
		Lease: of.Lease.Ref(), Content: content, SHA256: hex.EncodeToString(sum[:]), RenderTime: 2 * time.Second, DeviceName: "a GPU",
		Bands: []float64{0.25, 1.5},
		Full:  preview.FullFrame{Width: 3 * seen.Width, Height: 3 * seen.Height, Samples: 128, LeastSamples: 64, Sampling: time.Second},
	}
}

func TestAPreviewGoesFromItsOrderToItsPicture(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace, worker := w.Workspace(t), w.Worker(t)
		upload := w.NewUpload(t, workspace, 9)
		v := w.ordered(workspace, upload, 0)
		if v.Status != preview.Queued || v.Frame != 5 || v.ImageURL != nil || v.Estimate != nil || v.WaitingReason != nil {
			t.Errorf("ordered: %+v, want frame 5 of 1 to 9, about to be claimed", v)
		}
		got := w.claim(worker)
		if got.PreviewID != v.PreviewID || got.Lease.Item != 5 || got.InputSHA256 != strings.Repeat("0", 64) {
			t.Errorf("claimed: %+v", got)
		}
		if held, err := w.Previews.Upload(t.Context(), worker, v.PreviewID); err != nil || held != upload {
			t.Errorf("the worker reads %q: %v", held, err)
		}
		if _, err := w.Previews.Upload(t.Context(), w.Worker(t), v.PreviewID); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("another worker reads the upload: %v", err)
		}
		if v := w.find(workspace, upload); v.Status != preview.Rendering {
			t.Errorf("claimed, it is %s", v.Status)
		}
		sent := delivery(t, got, painted(t, 320, 180, nil))
		for range 2 { // the first answer was lost on the way
			if err := w.Accept(t.Context(), sent); err != nil {
				t.Fatal(err)
			}
		}
		v = w.find(workspace, upload)
		if v.Status != preview.Ready || *v.Width != 320 || *v.Height != 180 || *v.Seconds != 2 || len(v.Findings) != 0 || v.Failure != nil {
			t.Errorf("ready: %+v", v)
		}
		// Of one second for 32 samples of a ninth of the pixels, 64 to 128 samples take 18 to
		// 36 s, and one more is for what comes before them. Two workers share nine frames.
		if e := v.Estimate; e == nil || e.FrameLow != 15.2 || e.FrameHigh != 55.5 || *e.TotalLow != 68.4 || *e.TotalHigh != 249.8 {
			t.Errorf("the estimate is %+v", v.Estimate)
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			row, err := tx.PreviewGet(ctx, v.PreviewID)
			if err == nil && row.Bands != "[0.25,1.5]" {
				t.Errorf("its bands are kept as %q", row.Bands)
			}
			return err
		})
		picture := w.image(*v.ImageURL)
		if img, err := jpeg.Decode(bytes.NewReader(picture)); err != nil || img.Bounds().Dx() != 320 {
			t.Errorf("the picture cannot be read: %v", err)
		}
		if again := w.ordered(workspace, upload, 5); again.PreviewID != v.PreviewID || again.Status != preview.Ready {
			t.Errorf("the same frame again is %s, %s", again.PreviewID, again.Status)
		}
		w.wantNone("nothing is ordered", worker)
	})
}

// image fetches a picture by its address.
func (w world) image(address string) []byte {
	w.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		w.t.Fatal(err)
	}
	file, _, err := w.Image(w.t.Context(), strings.TrimPrefix(u.Path, links.PreviewImagePath), u.Query().Get("expires"), u.Query().Get("signature"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		w.t.Fatal(err)
	}
	return content
}

func TestOnlyTheOwnerSeesAPreviewAndOnlyItsLinkShowsThePicture(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace, other := w.Workspace(t), w.Workspace(t)
		upload := w.NewUpload(t, workspace, 1)
		if _, err := w.Find(t.Context(), workspace, upload, nil); !fault.Is(err, fault.PreviewNotFound) {
			t.Errorf("before the order: %v", err)
		}
		w.ordered(workspace, upload, 0)
		if _, err := w.order(other, upload, 0); !fault.Is(err, fault.UploadNotFound) {
			t.Errorf("another workspace's order: %v", err)
		}
		if _, err := w.Find(t.Context(), other, upload, nil); !fault.Is(err, fault.UploadNotFound) {
			t.Errorf("another workspace's look: %v", err)
		}
		if err := w.Accept(t.Context(), delivery(t, w.claim(w.Worker(t)), painted(t, 8, 8, nil))); err != nil {
			t.Fatal(err)
		}
		v := w.find(workspace, upload)
		for _, signature := range []string{"", "0"} {
			if _, _, err := w.Image(t.Context(), v.PreviewID, "9999999999", signature); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("by the signature %q: %v", signature, err)
			}
		}
		for _, frame := range []int{-1, contract.MaxFrameNumber + 1} {
			if _, err := w.order(workspace, upload, frame); !fault.Is(err, fault.InvalidFrameRange) {
				t.Errorf("frame %d: %v", frame, err)
			}
		}
	})
}

// expireAll ends what is due, as the service's own process does, after the lease of a
// silent worker has lapsed, unless that is spared.
func (w world) expireAll(spared string) {
	w.t.Helper()
	var lapsed []query.Lease
	w.Read(w.t, func(ctx context.Context, tx *db.Tx) (err error) {
		lapsed, err = tx.LeaseLapsed(ctx, query.LeaseLapsedParams{Queue: preview.Queue, Now: tx.Now})
		return err
	})
	for _, l := range lapsed {
		if l.LeaseID == spared {
			w.Write(w.t, func(ctx context.Context, tx *db.Tx) error {
				return lease.Beat(ctx, tx, lease.Ref{ID: l.LeaseID, Holder: l.Holder, Attempt: l.Attempt}, 0, w.LeaseLife)
			})
		}
	}
	if _, err := (lease.Reaper{DB: w.Previews.DB, Queues: []lease.Queue{w.Leases()}, Log: w.Log}).Run(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	var due []lease.Lease
	w.Write(w.t, func(ctx context.Context, tx *db.Tx) (err error) {
		due, err = lease.Claim(ctx, tx, lease.ExpireQueue, "test", 100, time.Minute)
		return err
	})
	for _, l := range due {
		id, ok := strings.CutPrefix(l.Subject, preview.ExpirePreview+"/")
		if !ok {
			w.t.Fatalf("the queue has %s", l.Subject)
		}
		if err := w.Expire(w.t.Context(), l, id); err != nil {
			w.t.Fatal(err)
		}
	}
}
