package delivery_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"io"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/delivery"
	"svc.example/internal/work/frames"
)

// painted is a PNG of the job's size, and its report.
func painted(t *testing.T, l lease.Lease) (p frames.Picture, content []byte) {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 8, 6))
	for i := range img.Pix {
		img.Pix[i] = byte(i*7) | 0x80
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	p = jobtest.Picture(l, time.Second)
	p.Seen = nil
	return describe(p, out.Bytes(), pixels.Of(img).SHA256), out.Bytes()
}

// describe gives a report the sums of other bytes.
func describe(p frames.Picture, content []byte, shows string) frames.Picture {
	sum := sha256.Sum256(content)
	p.SHA256, p.SizeBytes, p.PixelSHA256 = hex.EncodeToString(sum[:]), int64(len(content)), shows
	return p
}

// unread fails a test that reads it.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the bytes were read")
	return 0, io.EOF
}

// empty fails unless the store holds nothing.
func empty(t *testing.T, store blob.Store) {
	t.Helper()
	if err := store.List(t.Context(), "", func(key string, _ time.Time) error { return errors.New(key) }); err != nil {
		t.Errorf("the store has %v", err)
	}
}

func TestAPictureIsTakenInByItsLeaseThenItsBytes(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		store, err := blob.OpenDisk(t.TempDir(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		desk := delivery.New(w.Frames, store)
		workspace := w.Workspace(t)
		w.Job(t, workspace, 9)
		worker := w.Worker(t)
		p, content := painted(t, w.ClaimOne(worker))

		// Nothing is read for a worker that does not hold the lease, and nothing of a picture
		// whose description does not match the scene.
		stranger := p
		stranger.Holder, stranger.Lease.Holder = "NOD-other", "NOD-other"
		if err := desk.Receive(t.Context(), stranger, unread{t}, nil); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("without the lease: %v", err)
		}
		old := p
		old.Lease.Attempt++
		if err := desk.Receive(t.Context(), old, unread{t}, nil); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("with another attempt: %v", err)
		}
		if err := desk.Receive(t.Context(), p, bytes.NewReader(content), nil); err != nil {
			t.Fatalf("a sound picture: %v", err)
		}
		if err := desk.Receive(t.Context(), p, unread{t}, nil); err != nil {
			t.Errorf("the same once more: %v", err)
		}
		for name, spoil := range map[string]func(p frames.Picture) (frames.Picture, []byte){
			"a program's name": func(p frames.Picture) (frames.Picture, []byte) {
				p.File = p.File[:len(p.File)-3] + "exe"
				return p, nil
			},
			"another size": func(p frames.Picture) (frames.Picture, []byte) { p.Width *= 2; return p, nil },
			"bytes after the picture": func(p frames.Picture) (frames.Picture, []byte) {
				longer := append(bytes.Clone(content), "MZ"...)
				return describe(p, longer, p.PixelSHA256), longer
			},
			"another format": func(p frames.Picture) (frames.Picture, []byte) {
				other := []byte("BM this is no PNG, whatever its name says and however long it is, as far as anyone can tell")
				return describe(p, other, p.PixelSHA256), other
			},
			"another hash of its pixels": func(p frames.Picture) (frames.Picture, []byte) {
				return describe(p, content, p.SHA256), content
			},
		} {
			w.Job(t, workspace, 1)
			p, _ := painted(t, w.ClaimOne(w.Worker(t)))
			p, spoilt := spoil(p)
			var from io.Reader = bytes.NewReader(spoilt)
			if spoilt == nil {
				from = unread{t}
			}
			if err := desk.Receive(t.Context(), p, from, nil); !fault.Is(err, fault.FrameRejected) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := store.Open(t.Context(), p.BlobKey); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("%s is kept: %v", name, err)
			}
		}
	})
}

// A worker that goes away while its picture is checked loses nothing: the attempt continues.
func TestAWorkerThatLeavesEndsTheLookAtItsPicture(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		store, err := blob.OpenDisk(t.TempDir(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		desk := delivery.New(w.Frames, store)
		w.Job(t, w.Workspace(t), 1)
		p, content := painted(t, w.ClaimOne(w.Worker(t)))
		all, err := desk.Hold(t.Context(), 1<<40) // so that the look waits
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		if err := desk.Receive(ctx, p, &leaving{bytes.NewReader(content), leave}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		empty(t, store)
		all()
		if err := desk.Receive(t.Context(), p, bytes.NewReader(content), nil); err != nil {
			t.Errorf("its next delivery: %v", err)
		}
	})
}

// leaving is the body of a client that goes away once it has sent everything.
type leaving struct {
	io.Reader
	leave func()
}

func (l *leaving) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err == io.EOF {
		l.leave()
	}
	return n, err
}
