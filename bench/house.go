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
	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// house is a running service with a watched worker inside.
type house struct {
	client  *client.Client
	watch   *watched
	workers int            // whose Blenders are waited for
	farm    sync.WaitGroup // workers outside the service
	cancel  context.CancelFunc
	served  chan error
	ended   chan struct{} // closed when the service has stopped
	app     *app.App
	log     *slog.Logger
	address string
	serving context.Context
}

// credit pays for any number of rounds, in cents.
const credit = 1000000

// openHouse starts a service with a worker inside.
func openHouse(ctx context.Context, b *bench, renderer worker.Blender) (*house, error) {
	return b.openHouse(ctx, renderer, func(h *house, c *app.Config) error {
		h.workers = 1
		c.Embedded = &app.EmbeddedWorker{Renderer: h.watch, Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true}
		return nil
	})
}

// openFarm starts a service with so many workers outside.
func openFarm(ctx context.Context, b *bench, renderer worker.Blender, workers int) (*house, error) {
	h, err := b.openHouse(ctx, renderer, func(*house, *app.Config) error { return nil })
	if err != nil {
		return nil, err
	}
	h.workers = workers
	key, err := h.nodeKey(ctx)
	for n := range workers {
		if err != nil {
			break
		}
		var work string
		work, err = b.dir("worker-")
		w := worker.New(worker.Config{
			Farm: farmapi.NewClient(h.address, key), Renderer: h.watch, WorkDir: work, Name: fmt.Sprint(n), Log: h.log,
			Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true,
		})
		h.farm.Go(func() { _ = w.Run(h.serving) }) // why it ended stands in the log
	}
	if err == nil {
		err = h.ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, h.stop())
	}
	return h, nil
}

// openHouse starts a service as set says, with Blender in its sandbox.
func (b *bench) openHouse(ctx context.Context, renderer worker.Blender, set func(*house, *app.Config) error) (*house, error) {
	data, err := b.dir("house-")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(data, "service.log"))
	if err != nil {
		return nil, err
	}
	renderer.Path, renderer.Sandbox = b.blender, b.sandbox
	listening := make(chan string, 1)
	h := &house{watch: newWatched(renderer), served: make(chan error, 1), ended: make(chan struct{}), log: slog.New(slog.NewTextHandler(log, nil))}
	config := app.Config{Listen: "127.0.0.1:0", Data: data, Log: h.log, Announce: func(address string) { listening <- address }}
	if err := set(h, &config); err != nil {
		return nil, err
	}
	if h.app, err = app.Open(ctx, config); err != nil {
		return nil, err
	}
	h.serving, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(h.ended)
		h.served <- h.app.Serve(h.serving)
	}()
	select {
	case h.address = <-listening:
		key, err := h.workspace(ctx)
		if err == nil {
			h.client, err = client.New(h.address, key)
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

func (h *house) nodeKey(ctx context.Context) (secret string, err error) {
	err = h.app.DB.Write(ctx, func(tx *db.Tx) error {
		key, err := identity.CreateNodeKey(ctx, tx, "bench")
		secret = key.Secret
		return err
	})
	return secret, err
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
	h.farm.Wait()
	return errors.Join(<-h.served, h.app.Close())
}

// rendered is one job as its caller and its worker saw it.
type rendered struct {
	took     time.Duration // from the upload's first byte to the verified ZIP
	answered time.Time     // when start was answered
	frames   []span        // in the order of rendering
}

// share is Blender's part of the time between the first frame's begin and the last
// one's end.
func (r rendered) share() float64 {
	var rendering float64
	for _, f := range r.frames {
		rendering += f.ended.Sub(f.began).Seconds()
	}
	return rendering / r.frames[len(r.frames)-1].ended.Sub(r.frames[0].began).Seconds()
}

// gaps are the times between a frame's end and the next one's begin.
func (r rendered) gaps() []float64 {
	var all []float64
	for i := 1; i < len(r.frames); i++ {
		all = append(all, r.frames[i].began.Sub(r.frames[i-1].ended).Seconds())
	}
	return all
}

// ready waits until every worker has a Blender that waits.
func (h *house) ready(ctx context.Context) error {
	for {
		waiting, changed := h.watch.waits()
		if waiting >= h.workers {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-h.ended:
			return errors.New("the service ended")
		}
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
