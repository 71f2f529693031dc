package worker

import (
	"context"
	"time"

	"svc.example/internal/render/blender"
)

// Auto as Config.Blenders has the worker find out how many Blenders its device and its memory
// carry.
const Auto = -1

// MostBlenders bounds the Blenders of a worker: further ones would wait for each other.
const MostBlenders = 16

// A crew grows while the device waits, and shrinks when its Blenders wait for each other. A
// GPU says itself for which part of the time it computes: the crew grows below growBusy. Where
// it does not, and on a processor, the parts of frames tell how many Blenders render at once on
// average: the crew grows below growBelow. It shrinks above shrinkAbove, and a GPU must be busy
// all the time then. What leaves changes that number by at most 1, so a Blender that has left is
// not missed at once.
const (
	growBusy    = 0.9
	allBusy     = 0.97
	growBelow   = 0.8
	shrinkAbove = 1.9
)

// evidenceTime is how long frames have taken, together, before the crew changes; there are
// also two of them for each Blender. Shorter ones say too little.
const evidenceTime = 10 * time.Second

// A GPU is asked every sampleEvery while a frame renders; leastSamples say enough.
const (
	sampleEvery  = time.Second
	leastSamples = 8
)

// coresEach is how many cores of the machine a Blender takes that renders on a GPU: it computes
// the scene and encodes the picture on them.
const coresEach = 2

// crew says how many Blenders are good for what is rendered now. Of each frame, Blender tells
// for which part of it the device had work; that of all Blenders together is how many render
// at once. The zero value has no evidence. It is not safe for concurrent use.
type crew struct {
	frames           int
	rendered, took   time.Duration
	tells            bool    // the GPU says how busy it is
	samples          int     // of that
	busy             float64 // their sum
	needHost, needOn int64   // bytes of the largest Blender, and of its scene on the device
}

// advice is what the evidence says about a number of Blenders.
type advice int

const (
	stay advice = iota
	grow
	shrink
)

// see counts a frame that one of n Blenders has rendered, and says what follows. more reports
// that other frames were waiting then: without them a further Blender has nothing to do. cores
// are those of the machine; processor reports that they are the device, so that a Blender that
// does not render keeps one of them busy too.
func (c *crew) see(n int, f blender.Frame, more bool, cores int, processor bool) advice {
	whole := time.Duration(f.Seconds*float64(time.Second)) + f.Load
	if f.Started.IsZero() || whole <= 0 { // a renderer that tells no parts
		return stay
	}
	c.needHost, c.needOn = max(c.needHost, f.Memory), max(c.needOn, f.DeviceMemory)
	c.frames++
	c.took += whole
	c.rendered += max(0, whole-f.Load-f.Sync-f.Encode)
	if c.frames < 2*n || c.took < evidenceTime || c.tells && c.samples < leastSamples {
		return stay
	}
	atOnce := float64(n) * float64(c.rendered) / float64(c.took)
	if processor {
		atOnce += (float64(n) - atOnce) / float64(cores)
	}
	waits, full := atOnce < growBelow, true
	if c.tells {
		busy := c.busy / float64(c.samples)
		waits, full = busy < growBusy && coresEach*(n+1) <= cores, busy > allBusy
	}
	c.forget()
	switch {
	case n > 1 && full && atOnce > shrinkAbove:
		return shrink
	case n < MostBlenders && waits && more:
		return grow
	}
	return stay
}

// sample counts what the GPU says of itself, where it tells.
func (c *crew) sample(busy float64, tells bool) {
	if c.tells = tells; !tells {
		return
	}
	c.samples++
	c.busy += busy
}

// forget begins anew, as with another number of Blenders. What a Blender needs and whether the
// GPU tells stay known for the life of the worker.
func (c *crew) forget() { c.frames, c.rendered, c.took, c.samples, c.busy = 0, 0, 0, 0, 0 }

// Room that stays free beside a further Blender: scenes differ, a spare and a comparison may
// come to it, and a driver takes some memory of the device for each process.
const (
	hostReserve   = 1 << 30
	deviceReserve = 1 << 29
)

// fits reports whether one more Blender like the largest so far has room.
func (c *crew) fits(free Free) bool {
	return free.Host >= c.needHost+c.needHost/2+hostReserve && (free.Device == NoMemory || free.Device >= c.needOn+c.needOn/2+deviceReserve)
}

// consider has the number of Blenders follow what a frame shows. It runs beside rendering.
func (w *Worker) consider(ctx context.Context, t *task, f blender.Frame) {
	if w.cfg.Blenders != Auto || t.job.Aside() {
		return
	}
	c := &w.company
	c.mu.Lock()
	n, apart := c.want, time.Now().Before(c.apart)
	says := c.crew.see(n, f, !t.lastInSight, w.cfg.Cores, w.cfg.Device == blender.CPU)
	crew := c.crew
	c.mu.Unlock()
	switch {
	case apart || says == stay:
	case says == shrink:
		w.resize(n, n-1)
	default:
		free, err := w.cfg.Free(ctx)
		if err != nil {
			w.noMemory.Do(func() {
				w.log.Warn("how much memory is free cannot be found out, so no further Blender starts", "err", err)
			})
			return
		}
		if crew.fits(free) {
			w.resize(n, n+1)
		}
	}
}

// watchDevice asks a GPU how busy it is, while a frame renders, until ctx ends. One that does
// not say is judged by the parts of frames.
func (w *Worker) watchDevice(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.company.rendering.Load() == 0 {
			continue
		}
		busy, err := w.cfg.Busy(ctx)
		w.company.mu.Lock()
		w.company.crew.sample(busy, err == nil)
		w.company.mu.Unlock()
	}
}

// resize changes how many Blenders are to work, unless that has changed meanwhile.
func (w *Worker) resize(from, to int) {
	c := &w.company
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.want != from || time.Now().Before(c.apart) {
		return
	}
	w.log.Info("the number of Blenders follows what the device is busy with", "from", from, "to", to)
	c.settle(to)
}
