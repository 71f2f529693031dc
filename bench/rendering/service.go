package rendering

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// service is a running service with a recorder worker inside.
type service struct {
	client  *client.Client
	watch   *recorder
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

// openOne starts a service with one worker inside, on the CPU. End it with stop.
func openOne(ctx context.Context, b *rounds.Run, renderer worker.Blender) (*service, error) {
	return openService(ctx, b, renderer, func(s *service, c *app.Config) error {
		s.workers = 1
		c.Embedded = &app.EmbeddedWorker{Renderer: s.watch, Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true}
		return nil
	})
}

// openFarm starts a service with so many workers outside, as on other machines but in
// this process, each of so many Blenders (worker.Config) on the device. End it with stop.
func openFarm(ctx context.Context, b *rounds.Run, renderer worker.Blender, device blender.Device, workers, blenders int) (*service, error) {
	s, err := openService(ctx, b, renderer, func(*service, *app.Config) error { return nil })
	if err != nil {
		return nil, err
	}
	s.workers = workers * max(1, blenders)
	key, err := s.nodeKey(ctx)
	for n := range workers {
		if err != nil {
			break
		}
		var work string
		work, err = b.Dir("worker-")
		w := worker.New(worker.Config{
			Farm: farmapi.NewClient(s.address, key), Renderer: s.watch, WorkDir: work, Name: fmt.Sprint(n), Log: s.log,
			Device: device, Denoise: blender.Keep, AllowBlenderVersion: true, Blenders: blenders,
		})
		s.farm.Go(func() { _ = w.Run(s.serving) }) // the log has why it ended
	}
	if err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// openService starts a service as set configures it, and waits until its workers are
// ready. Its log goes to a file in its folder.
func openService(ctx context.Context, b *rounds.Run, renderer worker.Blender, set func(*service, *app.Config) error) (*service, error) {
	data, err := b.Dir("service-")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(data, "service.log"))
	if err != nil {
		return nil, err
	}
	renderer.Path, renderer.Sandbox = b.Blender, b.Sandbox
	listening := make(chan string, 1)
	s := &service{watch: newRecorder(renderer), served: make(chan error, 1), ended: make(chan struct{}), log: slog.New(slog.NewTextHandler(log, nil))}
	config := app.Config{Listen: "127.0.0.1:0", Data: data, Log: s.log, Announce: func(address string) { listening <- address }}
	if err := set(s, &config); err != nil {
		return nil, err
	}
	if s.app, err = app.Open(ctx, config); err != nil {
		return nil, err
	}
	s.serving, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(s.ended)
		s.served <- s.app.Serve(s.serving)
	}()
	select {
	case s.address = <-listening:
		key, err := s.workspace(ctx)
		if err == nil {
			s.client, err = client.New(s.address, key)
		}
		if err == nil {
			err = s.ready(ctx)
		}
		if err != nil {
			return nil, errors.Join(err, s.stop())
		}
		return s, nil
	case <-s.ended:
		return nil, errors.Join(errors.New("the service ended before it listened"), s.stop())
	}
}

func (s *service) nodeKey(ctx context.Context) (secret string, err error) {
	err = s.app.DB.Write(ctx, func(tx *db.Tx) error {
		key, err := identity.CreateNodeKey(ctx, tx, "bench")
		secret = key.Secret
		return err
	})
	return secret, err
}

func (s *service) workspace(ctx context.Context) (agentKey string, err error) {
	err = s.app.DB.Write(ctx, func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "bench@localhost")
		if err != nil {
			return err
		}
		key, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "bench"})
		if err != nil {
			return err
		}
		agentKey = key.Secret
		return wallet.Credit(ctx, tx, p.WorkspaceID, "bench", credit)
	})
	return agentKey, err
}

// stop ends the workers and the service and waits for both. It returns why the service
// ended, nil when stop was the reason.
func (s *service) stop() error {
	s.cancel()
	s.farm.Wait()
	return errors.Join(<-s.served, s.app.Close())
}

// rendered is one job as its caller and its worker saw it.
type rendered struct {
	took     time.Duration // from the upload's first byte to the verified ZIP
	answered time.Time     // when start was answered
	frames   []span        // in the order of rendering
}

// share is the share of Blender's rendering in the time from the first frame's begin to
// the last one's end.
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

// ready waits until every worker has a Blender that is started and waits for a file.
func (s *service) ready(ctx context.Context) error {
	for {
		waiting, changed := s.watch.waits()
		if waiting >= s.workers {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ended:
			return errors.New("the service ended")
		}
	}
}

// render renders the whole file with a warm worker. It returns when the next Blender is
// ready again, because its start would slow down what is measured after it.
func (s *service) render(ctx context.Context, b *rounds.Run, path string) (rendered, error) {
	out, err := b.Dir("job-")
	if err != nil {
		return rendered{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return rendered{}, err
	}
	defer func() { _ = file.Close() }()
	s.watch.clear()
	var r rendered
	began := time.Now()
	quote, err := s.client.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(path), Body: file})
	if err != nil {
		return r, err
	}
	job, err := s.client.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		return r, err
	}
	r.answered = time.Now()
	if job, err = s.client.Wait(ctx, job.JobID, nil); err != nil {
		return r, err
	}
	if job.Status != client.StatusCompleted {
		return r, fmt.Errorf("the job ended as %s: %+v", job.Status, job.Failure)
	}
	if err := s.fetch(ctx, job.JobID, filepath.Join(out, "result.zip")); err != nil {
		return r, err
	}
	r.took, r.frames = time.Since(began), s.watch.clear()
	return r, s.ready(ctx)
}

// fetch downloads the ZIP and its receipt and verifies both, as svc render does.
func (s *service) fetch(ctx context.Context, jobID, path string) error {
	artifact, err := s.client.Download(ctx, jobID, path, nil)
	if err != nil {
		return err
	}
	receipt, err := s.client.Receipt(ctx, jobID)
	if err != nil {
		return err
	}
	keys, err := s.client.SigningKeys(ctx)
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
