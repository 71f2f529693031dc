package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"svc.example/internal/door/agent"
	"svc.example/internal/door/farm"
	"svc.example/internal/door/web/page"
	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/testmode"
	"svc.example/internal/work/testmode/script"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// testWorld is the service of one workspace in test mode, as this process has it open: an App
// over a store of its own, with its handlers, its background work and its worker.
type testWorld struct {
	app         *App
	workspaceID string
	public      string       // address under which links lead here
	routes      http.Handler // without the workers' API, which only its own worker reaches
	clock       *testmode.Clock
	paced       func(context.Context) error

	known  sync.Map // hashes of the secrets of guests
	paid   atomic.Bool
	stored atomic.Int64 // bytes of pictures since the store was last checked

	looking  sync.Mutex
	lookedAt time.Time
	found    int64 // bytes

	stopWork func()
	stopped  chan struct{} // closed when the background work has ended
}

// Bounds and times of a test world.
const (
	// testLeaseLife is how long a frame stays with a worker that vanished: callers that
	// test this wait for it.
	testLeaseLife = 4 * time.Second
	// testCredit is what a wallet has at first, in cents, and again when a world is opened
	// whose wallet has less than half of it.
	testCredit = 100_000
	// testCache bounds the input files that a world's worker keeps, in bytes.
	testCache = 64 << 20
	// testLive is how many jobs of a world may wait or render at once.
	testLive = 50
	// rowBytes is what a frame takes in the database, in bytes, on the safe side.
	rowBytes = 2 << 10
	// lookLife is how long the size of a store is believed.
	lookLife = 10 * time.Second
	// testGrace is how long the worker of a world that closes may continue a frame.
	testGrace = time.Second
)

// start starts what serves a test world. in shares its bound on memory with the service.
func (t *testWorlds) start(ctx context.Context, workspaceID string) (w *testWorld, err error) {
	public := t.public + testPrefix + workspaceID
	app, err := t.app.openTestWorld(ctx, workspaceID, public)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, app.DB.Close())
		}
	}()
	if err := app.prepareLog(ctx, public); err != nil {
		return nil, err
	}
	secret, err := t.app.nodeSecret(workspaceID)
	if err != nil {
		return nil, err
	}
	if err := app.DB.Write(ctx, func(tx *db.Tx) error { return identity.EnterNode(ctx, tx, secret) }); err != nil {
		return nil, err
	}
	w = &testWorld{app: app, workspaceID: workspaceID, public: public, clock: &testmode.Clock{DB: app.DB}, paced: t.pace.wait, stopped: make(chan struct{})}
	at := app.Links(public)
	p := app.parts(at)
	p.jobs.Test, p.jobs.Refusal = true, w.refusal
	in := app.intake(t.files)
	in.Memory = t.memory
	mux, errs := http.NewServeMux(), &front.Errors{Log: app.Config.Log, Page: page.ErrorPages{DB: app.DB, Test: true, TestMode: true}.Write, Agent: agent.Answer}
	app.clock = w.clock
	app.doors(mux, errs, p, in)
	w.routes = mux
	workers := app.workersDoor(errs, p)
	local := http.NewServeMux()
	workers.Routes(local)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the worker of a test world: %w", err)
	}
	folder, err := workFolder(app.Config)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	w.run(context.WithoutCancel(ctx), p, in, workers, &http.Server{Handler: local, ReadHeaderTimeout: headerTimeout}, listener, w.worker(p, "http://"+listener.Addr().String(), secret, folder))
	return w, nil
}

// workFolder makes a folder for the worker of one process, and clears what one left that
// died.
func workFolder(cfg Config) (string, error) {
	const pattern = "worker-"
	left, err := filepath.Glob(filepath.Join(cfg.Data, pattern+"*"))
	if err != nil {
		return "", err
	}
	for _, old := range left {
		info, err := os.Stat(old)
		if err == nil && (!onPostgres(cfg) || time.Since(info.ModTime()) > 24*time.Hour) {
			_ = os.RemoveAll(old) // tried again at the next opening
		}
	}
	return os.MkdirTemp(cfg.Data, pattern)
}

// worker makes the worker of a test world.
func (w *testWorld) worker(p parts, local, secret, folder string) worker.Config {
	script := &script.Script{
		Farm: farmapi.NewClient(local, secret), LeaseLife: testLeaseLife, Pace: w.paced, Room: w.room,
		Stored: func(bytes int64) { w.stored.Add(2 * bytes) }, // as a frame, and in the ZIP
		End: func(ctx context.Context, jobID, filename string, code fault.Code) error {
			return w.end(ctx, p, jobID, filename, code)
		},
	}
	return worker.Config{
		Farm: script, Renderer: script, WorkDir: folder, Name: "test mode", Log: w.app.Config.Log,
		Device: blender.CPU, CacheBytes: testCache, Grace: testGrace, Jitter: rand.Float64,
	}
}

// run starts everything that runs until close.
func (w *testWorld) run(ctx context.Context, p parts, in *intake.Intake, workers *farm.Server, server *http.Server, listener net.Listener, painter worker.Config) {
	work, stopWork := context.WithCancel(ctx)
	paint, stopPainting := context.WithCancel(ctx)
	var background, painting sync.WaitGroup
	background.Go(func() { _ = server.Serve(listener) }) // ends by Close
	for _, run := range w.app.work(p, in, workers) {
		background.Go(func() { run(work) })
	}
	painting.Go(func() {
		if err := worker.New(painter).Run(paint); err != nil {
			w.app.Config.Log.Error("the worker of a test world ended", "err", err)
		}
		_ = os.RemoveAll(painter.WorkDir) // what is left goes at the next opening
	})
	w.stopWork = sync.OnceFunc(func() {
		stopPainting()
		painting.Wait() // it gives back what it holds
		_ = server.Close()
		stopWork()
		background.Wait()
		close(w.stopped)
	})
}

// close ends the world's work and closes its store. No request may be under way.
func (w *testWorld) close() {
	w.stopWork()
	<-w.stopped
	if err := w.app.DB.Close(); err != nil {
		w.app.Config.Log.Warn("the store of a test world did not close", "err", err)
	}
}

// end ends a job of the world with a failure that no worker reports.
func (w *testWorld) end(ctx context.Context, p parts, jobID, filename string, code fault.Code) error {
	if code == fault.InputDamaged {
		return p.frames.FailInput(ctx, jobID, filename)
	}
	return w.app.DB.Write(ctx, func(tx *db.Tx) error {
		record, err := job.Lock(ctx, tx, jobID)
		if err != nil || job.Status(record.Status).Terminal() {
			return err
		}
		return p.jobs.Fail(ctx, tx, record, code, fmt.Sprintf("The file's name asks for %s in test mode.", code))
	})
}

// packTested is the packing of a test world: it fails if a file's name asks for
// it.
func (a *App) packTested(p parts) func(context.Context, lease.Lease) error {
	return func(ctx context.Context, l lease.Lease) error {
		var record job.Record
		err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
			record, err = job.Read(ctx, tx, l.Subject)
			return err
		})
		if err != nil {
			return err
		}
		if testmode.TrickOf(record.Filename).Is(fault.PackagingFailed) {
			return p.jobs.FailPackaging(ctx, l)
		}
		return p.artifacts.Package(ctx, l)
	}
}

// enter makes a guest known in the world, and fills its wallet once after each opening.
func (w *testWorld) enter(ctx context.Context, g identity.Guest) error {
	as := identity.Hash(g.Secret)
	if _, known := w.known.Load(as); known {
		// A role may have changed, and another session, or another process, have entered with it.
		var current bool
		err := w.app.DB.Read(ctx, func(tx *db.Tx) (err error) {
			current, err = identity.EnteredAs(ctx, tx, g)
			return err
		})
		if current || err != nil {
			return err
		}
	}
	err := w.app.DB.Write(ctx, func(tx *db.Tx) error {
		if err := identity.Enter(ctx, tx, g); err != nil || w.paid.Load() {
			return err
		}
		balance, err := wallet.Get(ctx, tx, g.WorkspaceID)
		if err != nil || balance.AvailableCents >= testCredit/2 {
			return err
		}
		return wallet.Credit(ctx, tx, g.WorkspaceID, wallet.NewReference(), testCredit-balance.AvailableCents)
	})
	if err == nil {
		w.paid.Store(true)
		w.known.Store(as, true)
	}
	return err
}

// refusal is what a start is refused for: what the file's name asks for, a job that is too
// long for test mode, and a world without room.
func (w *testWorld) refusal(ctx context.Context, tx *db.Tx, q quote.Quote) error {
	if err := testmode.Refusal(q.Filename, q.PriceCents); err != nil {
		return err
	}
	limits := w.app.Config.TestMode
	if q.FrameCount > limits.Frames {
		return fault.New(fault.QuoteNotQualified, "The job has %d frames; in test mode a job has at most %d.", q.FrameCount, limits.Frames).
			WithAction("Quote fewer frames, or use a real key.")
	}
	live, err := tx.JobsLive(ctx)
	if err != nil {
		return fmt.Errorf("count the jobs of a test world: %w", err)
	}
	if len(live) >= testLive {
		return fault.New(fault.RateLimited, "The test world has %d active jobs, which is the maximum.", len(live)).After(5 * time.Second)
	}
	return w.room(ctx)
}
