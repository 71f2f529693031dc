package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"svc.example/internal/ground/osfile"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
	"svc.example/internal/work/worker/blenders"
	"svc.example/internal/work/worker/filecache"
)

// machine is what the workers of one machine share: the work folder, the files of jobs, the
// kernels of GPUs, and how long none of them has rendered. A worker that is alone has one too.
type machine struct {
	inputs  *filecache.Cache
	kernels string        // the folder of compiled kernels
	making  chan struct{} // of capacity 1, filled by the worker that makes kernels: the next one finds them

	mu    sync.Mutex // of what follows
	busy  int        // slots that render
	since time.Time  // when the last one ended, or the first worker was ready
}

// openMachine locks a work folder and opens what is kept in it. unlock frees the folder.
func openMachine(workDir string, cacheBytes int64) (m *machine, unlock func(), err error) {
	home, err := filepath.Abs(workDir) // Blender has another current folder
	if err != nil {
		return nil, nil, fmt.Errorf("find the work folder: %w", err)
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the work folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(home, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the work folder's lock: %w", err)
	}
	unlock = func() { _ = lock.Close() } // closing it frees the lock
	if err := osfile.TryLock(lock); err != nil {
		unlock()
		return nil, nil, fmt.Errorf("another worker works in %s: %w", workDir, err)
	}
	m = &machine{kernels: filepath.Join(home, KernelFolder), making: make(chan struct{}, 1)}
	if m.inputs, err = filecache.Open(filepath.Join(home, "inputs"), cacheBytes); err != nil {
		unlock()
		return nil, nil, err
	}
	return m, unlock, nil
}

// ready begins the time in which nothing is rendered, unless another worker has.
func (m *machine) ready() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.since.IsZero() {
		m.since = time.Now()
	}
}

// begin and end count the slots that render.
func (m *machine) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy++
}

func (m *machine) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
	m.since = time.Now()
}

// idle returns for how long no slot has rendered; 0 while one does.
func (m *machine) idle() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy > 0 {
		return 0
	}
	return time.Since(m.since)
}

// Share is what one of several workers of a machine has of its own.
type Share struct {
	Name     string // after the worker's name, and of its folder in WorkDir: "gpu0"
	Renderer Renderer
	Cores    int // see Config
	Free     func(context.Context) (blenders.Free, error)
	Busy     func(context.Context) (float64, error)
}

// OfCards returns a share for each GPU: Blenders that see no other one, on the processors near
// it, with as many threads as its cores. cores, when above 0, is how many each has.
func OfCards(b Blender, m gpu.Machine, cards []gpu.Share, cores int) []Share {
	var shares []Share
	for _, c := range cards {
		if cores > 0 {
			c.Cores = cores
		}
		b.Card, b.CPUs, b.Threads = c.UUID, c.Pin, c.Cores
		shares = append(shares, Share{
			Name: "gpu" + strconv.Itoa(c.Index), Renderer: b, Cores: c.Cores, Free: blenders.FreeOf(blender.GPU, m, c.UUID, len(cards)), Busy: blenders.BusyOf(m, c.UUID),
		})
	}
	return shares
}

// RunEach runs a worker for each share of a machine, and returns when all have ended, with the
// errors of all. One that cannot work ends alone. They share files and kernels in WorkDir, and
// ExitIdle counts from the last frame of any; everything else is as if each ran on a machine of
// its own, so the server has them one by one.
func RunEach(ctx context.Context, cfg Config, shares []Share) error {
	m, unlock, err := openMachine(cfg.WorkDir, cfg.CacheBytes)
	if err != nil {
		return err
	}
	defer unlock()
	ended := make(chan error)
	for _, s := range shares {
		own := cfg
		own.Name, own.WorkDir = cfg.Name+"-"+s.Name, filepath.Join(cfg.WorkDir, s.Name)
		own.Renderer, own.Cores, own.Free, own.Busy = s.Renderer, s.Cores, s.Free, s.Busy
		go func() {
			err := New(own).runOn(ctx, m)
			if err != nil {
				err = fmt.Errorf("worker %s: %w", own.Name, err)
				// Said now, too: the others may work for weeks before it is returned.
				cfg.Log.Error("one of the machine's workers does not work", "err", err)
			}
			ended <- err
		}()
	}
	for range shares {
		err = errors.Join(err, <-ended)
	}
	return err
}
