package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker/blenders"
	"svc.example/internal/work/worker/outbox"
)

// Worker renders the frames that a farm leases to it. Make one with New; call Run once.
// Its goroutines share it: per slot the render loop and the fetch of the next job's files,
// the heartbeats, the delivery and, per picture, a check. Fields without a lock are set before those start, or belong to the one
// that the comment names.
type Worker struct {
	cfg      Config // with defaults, never changed
	log      *slog.Logger
	self     farmapi.RegisterRequest // what every registration sends; set by join
	encodes  bool                    // whether it makes movies; set by join
	dirs     folders
	out      *outbox.Box        // reports that the server has not answered
	held     holdings           // leases that heartbeats must extend
	machine  *machine           // shared with other workers of it
	blenders *blenders.Blenders // which of them run
	verdicts verdicts
	divided  verdicts // of files whose pictures took too much memory in one piece

	finishing sync.WaitGroup // pictures that are packed and checked during the next render
	places    chan struct{}  // of capacity mostFinishing, filled by each of them

	// leave ends the taking of work, as the end of Run's context does.
	leave context.CancelFunc

	registering sync.Mutex // held during a registration, so that one call serves all goroutines
	mu          sync.Mutex // guards registered
	registered  farmapi.RegisterReply
}

// folders are the parts of the work folder, as absolute paths. They lie together, so that
// a picture changes its folder by a rename and an input gets there by a link: neither is
// copied.
type folders struct{ pictures, processes, projects, outbox string }

// KernelFolder is the part of the work folder that holds compiled GPU kernels. It is
// kept across runs, and shared by the workers of a machine and the self-check.
const KernelFolder = "kernels"

// New makes a worker. Nothing starts before Run.
func New(cfg Config) *Worker {
	cfg = cfg.withDefaults()
	return &Worker{cfg: cfg, places: make(chan struct{}, mostFinishing), log: cfg.Log.With("worker_name", cfg.Name)}
}

// Run works until ctx ends, which is no error, or until Config.ExitIdle or Config.Drain
// says so. It then finishes or gives back the
// running frame, sends what it can and returns within Config.Grace plus
// DeliveryGrace. Errors: an unusable work folder, a Blender that does not start,
// ErrVersion, ErrNoGPU, a refused first registration.
func (w *Worker) Run(ctx context.Context) error {
	// The lock comes first: what follows would empty the folders of a running worker.
	m, unlock, err := openMachine(w.cfg.WorkDir, w.cfg.CacheBytes)
	if err != nil {
		return err
	}
	defer unlock()
	return w.runOn(ctx, m)
}

// runOn is Run on a machine that others may work on too.
func (w *Worker) runOn(ctx context.Context, m *machine) error {
	ctx, w.leave = context.WithCancel(ctx)
	defer w.leave()
	w.machine = m
	w.blenders = blenders.New(blenders.Config{
		Blenders: w.cfg.Blenders, Device: w.cfg.Device, Cores: w.cfg.Cores, Free: w.cfg.Free, Busy: w.cfg.Busy, Drain: w.cfg.Drain, Log: w.log,
	})
	if err := w.prepareFolders(); err != nil {
		return err
	}
	if err := w.makeKernels(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	first, err := w.newSlot(0)
	if err != nil {
		return err
	}
	defer first.pool.close()
	if err := first.join(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	w.log.Info("the worker is ready", "worker_id", w.id(), "device", w.self.Device, "device_name", w.self.DeviceName,
		"blender", w.self.BlenderVersion, "denoise", w.self.Denoise, "sandbox", w.self.Sandbox, "kept_results", w.out.Len(), "blenders", w.cfg.Blenders)

	// ctx says when to stop taking work, drainCtx when to stop returning it. Heartbeats run
	// on the second: a lease that lapses in the grace period would waste its frame.
	drainCtx, cut := withGrace(ctx, w.cfg.Grace+DeliveryGrace)
	defer cut()
	var background sync.WaitGroup
	closing, sent, stopped := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var beats sync.WaitGroup
	beats.Go(func() { w.beat(drainCtx, stopped) })
	background.Go(func() {
		defer close(sent)
		w.send(drainCtx, closing)
	})
	// The order matters: the last pictures are checked, then all reports are sent,
	// and only then does the server learn that the worker has stopped.
	w.machine.ready()
	w.runSlots(ctx, drainCtx, first)
	w.finishing.Wait()
	close(closing)
	<-sent
	// A heartbeat that came after the announcement would bring the worker back for as long
	// as a silent one counts as online, and frames would wait for it. One that is on its way
	// must be answered: the server may carry out a call that was cut off.
	close(stopped)
	beats.Wait()
	w.announceStop(drainCtx)
	cut()
	background.Wait()
	w.log.Info("the worker has stopped")
	return nil
}

// announceStop tells the server that this worker has stopped. It calls once:
// otherwise the server notices the missing heartbeats.
func (w *Worker) announceStop(drainCtx context.Context) {
	if err := w.cfg.Farm.Release(drainCtx, farmapi.ReleaseRequest{WorkerID: w.id(), Leases: []farmapi.Held{}, Leaving: true}); err != nil {
		w.log.Info("the server does not know yet that this worker has stopped", "err", err)
	}
}

// withGrace returns a context that ends d after ctx does. The returned function must be
// called: it frees the timer, and ends the context at once.
func withGrace(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel() }
}

// prepareFolders makes the work folder and empties what an earlier run left in it, except the
// outbox and what the machine keeps.
func (w *Worker) prepareFolders() error {
	home, err := filepath.Abs(w.cfg.WorkDir) // Blender has another current folder
	if err != nil {
		return fmt.Errorf("find the work folder: %w", err)
	}
	in := func(name string) string { return filepath.Join(home, name) }
	w.dirs = folders{in("pictures"), in("processes"), in("projects"), in("outbox")}
	// Nothing in these folders is a promise: pictures that count are in the outbox, and the
	// server gives an unreported frame to another worker.
	for _, dir := range []string{w.dirs.pictures, w.dirs.processes, w.dirs.projects} {
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
			return fmt.Errorf("empty the work folder: %w", err)
		}
	}
	w.out, err = outbox.Open(w.dirs.outbox)
	return err
}

// join starts the first Blender, decides whether it may work here and registers. It
// waits for an unreachable server and fails on a refusal.
func (l *slot) join(ctx context.Context) error {
	first, err := l.pool.take(ctx)
	if err != nil {
		return fmt.Errorf("start the first Blender: %w", err)
	}
	// It is not thrown away: the first job opens its file in this process.
	l.pool.keep(first)
	_, l.encodes = first.(MovieMaker)
	l.encodes = l.encodes && !slices.Contains(first.Info().Lacks, buildoption.Movies)
	if l.self, err = l.cfg.Admit(first.Info()); err != nil {
		return err
	}
	if !l.encodes {
		l.self.Lacks = append(slices.Clone(l.self.Lacks), buildoption.Encoders)
	}
	_, l.self.Strips = first.(Stripper)
	l.self.Outputs, l.self.Views = true, true
	if l.self.Strips {
		l.self.Rows = MachineRowsIn(l.cfg.WorkDir).of(l.self)
	}
	lost := outage{call: "register"}
	for try := 1; ; try++ {
		err := l.register(ctx, "")
		if err == nil {
			lost.over(l.log)
		}
		if err == nil || refused(err) || unauthorized(err) {
			return err
		}
		if err := l.backOff(ctx, &lost, try, err); err != nil {
			return err
		}
	}
}

// register registers the worker, unless another goroutine has replaced the id stale
// in the meantime.
func (w *Worker) register(ctx context.Context, stale string) error {
	w.registering.Lock()
	defer w.registering.Unlock()
	// A second registration would replace the new id, and the leases taken under it would
	// lapse.
	if w.id() != stale {
		return nil
	}
	reply, err := w.cfg.Farm.Register(ctx, w.self)
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.registered = reply
	return nil
}

// id is the id that the server gave this worker; "" before the first registration. It
// changes when a server that has forgotten the worker registers it again.
func (w *Worker) id() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.registered.WorkerID
}

// frameTime is how long a frame may take, as the server says with each registration:
// callers see it before they pay.
func (w *Worker) frameTime() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.registered.FrameSeconds <= 0 { // a server that names no time, as older ones do
		return contract.FrameTime
	}
	return time.Duration(w.registered.FrameSeconds * float64(time.Second))
}

// playTime is how long the frames before a frame may take to be computed.
func (w *Worker) playTime() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.registered.PlaySeconds <= 0 {
		return contract.PlayTime
	}
	return time.Duration(w.registered.PlaySeconds * float64(time.Second))
}

// outputLimits are what a scene may write for a frame besides its picture; nil for a server that
// takes nothing of it.
func (w *Worker) outputLimits() *blender.OutputLimits {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.registered.Outputs.Files == 0 {
		return nil
	}
	return new(blender.OutputLimits(w.registered.Outputs))
}

// minPace protects a server that names no pace: 0 seconds would be a heartbeat without a
// pause.
const minPace = 100 * time.Millisecond

// pace is the time between heartbeats. The server names it with each registration, as a
// part of the life of a lease.
func (w *Worker) pace() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(time.Duration(w.registered.HeartbeatSeconds*float64(time.Second)), minPace)
}
