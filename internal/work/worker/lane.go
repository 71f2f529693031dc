package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"svc.example/internal/render/blender"
)

// lane is one line of work on the device: a queue of leased frames and the Blender that
// renders them, one after the other. The lanes of a worker share its registration, its
// cache, its outbox and its heartbeats. While one is busy with what a device has no part
// in, such as computing the scene or encoding a picture, another one uses the device.
//
// The first lane lives as long as Run. Further ones end when the memory does not suffice
// for all, and begin again later.
type lane struct {
	*Worker
	pictures string // the folder of its Blenders' pictures, whose names repeat over lanes
	index    int
	first    bool
	enough   chan struct{} // closed when it is to end after its frame: fewer Blenders suffice
	pool     *processPool  // of the rendering goroutine
	ahead    aheadFetch    // the next job's files
}

func (w *Worker) newLane(i int) (*lane, error) {
	l := &lane{Worker: w, pictures: filepath.Join(w.dirs.pictures, strconv.Itoa(i)), index: i, first: i == 0, enough: make(chan struct{})}
	if err := os.MkdirAll(l.pictures, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for pictures: %w", err)
	}
	l.pool = newProcessPool(l.startSession)
	return l, nil
}

// startSession starts one Blender with the settings of this worker. Every process keeps
// data between frames; which frames make use of it is the guard's choice.
func (l *lane) startSession(ctx context.Context) (Session, error) {
	return l.cfg.Renderer.Start(ctx, blender.Options{
		Temp: l.dirs.processes, Out: l.pictures, Device: l.cfg.Device, Denoise: l.cfg.Denoise, KeepData: true, Uncompressed: true, Whole: l.cfg.WholePicture, Kernels: l.machine.kernels,
	})
}

// begin and end count the lanes that render.
func (l *lane) begin() {
	l.machine.begin()
	l.company.rendering.Add(1)
}

func (l *lane) end() {
	l.company.rendering.Add(-1)
	l.machine.end()
}

// apartTime is how long a worker goes on with one Blender after several had too little
// memory. Longer than most frames take, and short enough that another job gets its chance.
const apartTime = 10 * time.Minute

// errApart ends the lanes beside the first one.
var errApart = errors.New("several Blenders had too little memory")

// company is what the lanes of a worker know of each other.
type company struct {
	rendering atomic.Int64 // lanes that render

	mu      sync.Mutex
	apart   time.Time             // until when only the first lane works
	further map[*lane]func(error) // further lanes that work, each with what ends it
	gone    chan struct{}         // closed when one of them has ended; made by those who wait
	want    int                   // lanes that are to work, the first included
	crew    crew                  // what says so, with Auto
	settled chan struct{}         // closed when want changes; made by those who wait
}

// settle makes n the number of lanes that are to work. The caller holds mu.
func (c *company) settle(n int) {
	c.want = n
	c.crew.forget()
	for l := range c.further {
		l.endSurplus()
	}
	if c.settled != nil {
		close(c.settled)
		c.settled = nil
	}
}

// endSurplus tells a lane that is one too many to end. The caller holds company.mu.
func (l *lane) endSurplus() {
	if l.index < l.company.want {
		return
	}
	select {
	case <-l.enough:
	default:
		close(l.enough)
	}
}

// runLanes works on all lanes until ctx ends or the worker drains, and returns when every
// lane has given back what it had.
func (w *Worker) runLanes(ctx, drainCtx context.Context, first *lane) {
	var further sync.WaitGroup
	watching, end := context.WithCancel(ctx)
	defer end()
	most := w.cfg.Blenders
	w.company.want = most
	if most == Auto {
		most, w.company.want = MostBlenders, 1
		if w.cfg.Device == blender.GPU {
			further.Go(func() { w.watchDevice(watching) })
		}
	}
	for i := 1; i < most; i++ {
		further.Go(func() { w.runFurther(ctx, drainCtx, i) })
	}
	first.renderLoop(ctx, drainCtx)
	end()
	further.Wait()
	w.leave() // one that drains, too, has only so long for what is not sent
}

// runFurther works on a lane beside the first one whenever the memory suffices for it.
func (w *Worker) runFurther(ctx, drainCtx context.Context, i int) {
	for ctx.Err() == nil && !w.draining() {
		if !w.waitTogether(ctx, i) {
			return
		}
		l, err := w.newLane(i)
		if err != nil {
			w.log.Error("a further Blender cannot work", "err", err)
			return
		}
		running, end := context.WithCancelCause(ctx)
		w.company.join(l, end)
		l.renderLoop(running, drainCtx)
		l.pool.close()
		end(nil)
		w.company.part(l)
	}
}

// waitTogether waits until lane i may work; false when the worker ends.
func (w *Worker) waitTogether(ctx context.Context, i int) bool {
	c := &w.company
	for {
		c.mu.Lock()
		left, wanted := time.Until(c.apart), i < c.want
		if c.settled == nil {
			c.settled = make(chan struct{})
		}
		settled := c.settled
		c.mu.Unlock()
		if wanted && left <= 0 {
			return ctx.Err() == nil
		}
		if !wanted {
			left = math.MaxInt64
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-settled:
		case <-w.cfg.Drain:
			timer.Stop()
			return false
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

func (c *company) join(l *lane, end func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.further == nil {
		c.further = map[*lane]func(error){}
	}
	c.further[l] = end
	l.endSurplus()
	if time.Now().Before(c.apart) { // it came too late to be told
		end(errApart)
	}
}

func (c *company) part(l *lane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.further, l)
	if c.gone != nil {
		close(c.gone)
		c.gone = nil
	}
}

// lacksMemory returns a failure that may be for want of memory: a Blender that the system
// ended for that looks like one that crashed.
func lacksMemory(err error) (failed *blender.Error, may bool) {
	failed, known := errors.AsType[*blender.Error](err)
	return failed, known && (failed.Code == blender.OutOfMemory || failed.Code == blender.Crashed)
}

// crowded reports whether a failure of a lane may be the doing of the others: they take
// memory too. The others then end, and the frame is rendered again without them.
func (l *lane) crowded(err error) bool {
	failed, may := lacksMemory(err)
	if !may {
		return false
	}
	c := &l.company
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.further) == 0 {
		return false
	}
	c.apart = time.Now().Add(apartTime)
	l.log.Warn("a frame failed beside others and is rendered again alone; for a while one Blender works", "for", apartTime, "code", failed.Code, "message", failed.Message)
	if l.cfg.Blenders == Auto {
		c.settle(1) // what shows that the device waits may show it again
	}
	for _, end := range c.further {
		end(errApart)
	}
	return true
}

// waitAlone returns once the first lane is the only one while the others are to be gone. They
// end at once, or finish a frame that ends soon.
func (l *lane) waitAlone(ctx context.Context) {
	c := &l.company
	for l.first {
		c.mu.Lock()
		if len(c.further) == 0 || !time.Now().Before(c.apart) {
			c.mu.Unlock()
			return
		}
		if c.gone == nil {
			c.gone = make(chan struct{})
		}
		gone := c.gone
		c.mu.Unlock()
		select {
		case <-gone:
		case <-ctx.Done():
			return
		}
	}
}
