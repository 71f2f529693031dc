package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/blender"
	"svc.example/internal/db"
	"svc.example/internal/identity"
	"svc.example/internal/wallet"
	"svc.example/internal/worker"
)

// Rows of one job each: they are measured in the same run of it.
const (
	rowWhole = "render/20 frames, upload to verified ZIP"
	rowFirst = "render/start answered to first frame begun"
	rowGap   = "render/end of a frame to begin of the next"
)

// renderGroup measures a whole job of the light scene on a service with a warm
// worker inside, beside Blender rendering the same frames from a shell.
func renderGroup() group {
	return group{
		rows: []row{
			{name: rowWhole, unit: duration, baseline: "blender -b FILE -a by hand", goal: ratioAtMost(0.9),
				note: "320x180, 4 samples, on the CPU"},
			{name: rowFirst, unit: duration, baseline: "blender by hand, from its start to its first frame", goal: under(0.1, duration),
				note: "file fetched and opened in between"},
			{name: rowGap, unit: duration, baseline: "blender by hand, saved to next begun", goal: under(0.02, duration)},
		},
		measure: measureRender,
	}
}

func measureRender(ctx context.Context, b *bench, into record) (err error) {
	file, err := lightScene(ctx, b)
	if err != nil {
		return err
	}
	house, err := openHouse(ctx, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, house.stop()) }()
	return b.rounds(ctx, into, func(r record) error {
		var job rendered
		var hand handRun
		err := b.turns(func() (err error) {
			job, err = house.render(ctx, b, file)
			return err
		}, func() error {
			out, err := b.dir("hand-")
			if err != nil {
				return err
			}
			hand, err = b.byHand(ctx, "-b", file, "-o", filepath.Join(out, "frame_####"), "-a")
			return err
		})
		if err != nil {
			return err
		}
		if len(hand.saves) != len(job.frames) || len(hand.begins) != len(hand.saves) {
			return fmt.Errorf("the service rendered %d frames, Blender by hand began %d and saved %d", len(job.frames), len(hand.begins), len(hand.saves))
		}
		r.add(rowWhole, job.took.Seconds(), hand.took.Seconds())
		r.add(rowFirst, job.frames[0].began.Sub(job.answered).Seconds(), hand.begins[0].Sub(hand.began).Seconds())
		gaps := r.of(rowGap)
		gaps.subject, gaps.baseline = append(gaps.subject, job.gaps()...), append(gaps.baseline, hand.gaps()...)
		return nil
	})
}

// house is a running service with a watched worker inside.
type house struct {
	client *client.Client
	watch  *watched
	cancel context.CancelFunc
	served chan error
	ended  chan struct{} // closed when the service has stopped
	app    *app.App
}

// credit pays for any number of rounds, in cents.
const credit = 1000000

func openHouse(ctx context.Context, b *bench) (*house, error) {
	data, err := b.dir("house-")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(data, "service.log"))
	if err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	h := &house{watch: newWatched(worker.Blender{Path: b.blender, Sandbox: b.sandbox}), served: make(chan error, 1), ended: make(chan struct{})}
	h.app, err = app.Open(ctx, app.Config{
		Listen: "127.0.0.1:0", Data: data, Log: slog.New(slog.NewTextHandler(log, nil)), Announce: func(address string) { listening <- address },
		Embedded: &app.EmbeddedWorker{Renderer: h.watch, Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true},
	})
	if err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h.cancel = cancel
	go func() {
		defer close(h.ended)
		h.served <- h.app.Serve(serving)
	}()
	select {
	case address := <-listening:
		key, err := h.workspace(ctx)
		if err == nil {
			h.client, err = client.New(address, key)
		}
		if err == nil {
			err = h.ready(ctx)
		}
		if err != nil {
			return nil, errors.Join(err, h.stop())
		}
		return h, nil
	case <-h.ended:
		return nil, errors.Join(errors.New("the service ended before it listened"), h.stop())
	}
}

func (h *house) workspace(ctx context.Context) (agentKey string, err error) {
	err = h.app.DB.Write(ctx, func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "bench@localhost")
		if err != nil {
			return err
		}
		key, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, "bench", nil)
		if err != nil {
			return err
		}
		agentKey = key.Secret
		return wallet.Credit(ctx, tx, p.WorkspaceID, "bench", credit)
	})
	return agentKey, err
}

// stop ends the service and returns why it ended, nil when it was told to.
func (h *house) stop() error {
	h.cancel()
	return errors.Join(<-h.served, h.app.Close())
}

// rendered is one job as its caller and its worker saw it.
type rendered struct {
	took     time.Duration // from the upload's first byte to the verified ZIP
	answered time.Time     // when start was answered
	frames   []span        // in the order of rendering
}

// gaps are the times between a frame's end and the next one's begin.
func (r rendered) gaps() []float64 {
	var all []float64
	for i := 1; i < len(r.frames); i++ {
		all = append(all, r.frames[i].began.Sub(r.frames[i-1].ended).Seconds())
	}
	return all
}

// ready waits for a warm worker.
func (h *house) ready(ctx context.Context) error {
	select {
	case <-h.watch.warm:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-h.ended:
		return errors.New("the service ended")
	}
}

// render has the whole file rendered by a warm worker, and returns when the next
// Blender is warm again: its start is not to slow what is measured after it.
func (h *house) render(ctx context.Context, b *bench, path string) (rendered, error) {
	out, err := b.dir("job-")
	if err != nil {
		return rendered{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return rendered{}, err
	}
	defer func() { _ = file.Close() }()
	h.watch.clear()
	var r rendered
	began := time.Now()
	quote, err := h.client.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(path), Body: file})
	if err != nil {
		return r, err
	}
	job, err := h.client.Start(ctx, quote.UploadID, quote.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		return r, err
	}
	r.answered = time.Now()
	if job, err = h.client.Follow(ctx, job.JobID, nil); err != nil {
		return r, err
	}
	if job.Status != client.StatusCompleted {
		return r, fmt.Errorf("the job ended as %s: %+v", job.Status, job.Failure)
	}
	if err := h.fetch(ctx, job.JobID, filepath.Join(out, "result.zip")); err != nil {
		return r, err
	}
	r.took, r.frames = time.Since(began), h.watch.clear()
	return r, h.ready(ctx)
}

// fetch downloads the ZIP and its receipt and verifies both.
func (h *house) fetch(ctx context.Context, jobID, path string) error {
	artifact, err := h.client.Download(ctx, jobID, path, nil)
	if err != nil {
		return err
	}
	receipt, err := h.client.Receipt(ctx, jobID)
	if err != nil {
		return err
	}
	keys, err := h.client.SigningKeys(ctx)
	if err != nil {
		return err
	}
	zip, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = zip.Close() }()
	_, err = client.Verify(receipt, keys, zip, artifact.SizeBytes)
	return err
}

// watched is the real renderer, with a clock beside it.
type watched struct {
	worker.Renderer
	warm chan struct{} // receives once for each Blender that is started ahead and waits

	mu     sync.Mutex
	frames []span
}

// span is when a frame began and ended, as its worker heard of it.
type span struct{ began, ended time.Time }

// warmAhead is more Blenders than ever wait unused.
const warmAhead = 16

func newWatched(r worker.Renderer) *watched {
	return &watched{Renderer: r, warm: make(chan struct{}, warmAhead)}
}

// Start implements worker.Renderer.
func (w *watched) Start(ctx context.Context, o blender.Options) (worker.Session, error) {
	s, err := w.Renderer.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	w.warm <- struct{}{}
	return watchedSession{s, w}, nil
}

// clear gives the frames seen since it was last called.
func (w *watched) clear() []span {
	w.mu.Lock()
	defer w.mu.Unlock()
	frames := w.frames
	w.frames = nil
	return frames
}

type watchedSession struct {
	worker.Session
	watch *watched
}

// Render implements worker.Session.
func (s watchedSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	f, err := s.Session.Render(ctx, frame, progress)
	if err != nil {
		return f, err
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.frames = append(s.watch.frames, span{began: f.Started, ended: time.Now()})
	return f, nil
}
