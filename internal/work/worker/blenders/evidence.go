package blenders

import (
	"time"

	"svc.example/internal/render/blender"
)

// The number grows while the device waits, and shrinks when its Blenders wait for each other. A
// GPU may report for which part of the time it computes: the number grows below growBusy.
// Otherwise, and on a processor, the parts of frames show how many Blenders render at once on
// average: it grows below growBelow. It shrinks above shrinkAbove, and a GPU must be busy all
// the time then. What leaves changes that number by at most 1, so a Blender that has left is not
// missed at once.
const (
	growBusy    = 0.9
	allBusy     = 0.97
	growBelow   = 0.8
	shrinkAbove = 1.9
)

// evidenceTime is how long frames have taken, together, before the number changes; there are
// also two of them for each Blender. Shorter ones say too little.
const evidenceTime = 10 * time.Second

// A GPU is asked every sampleEvery while a frame renders; leastSamples say enough. If it idles for
// most of the time, fewSamples do: otherwise a short job ends before a second Blender helps.
const (
	sampleEvery  = time.Second
	leastSamples = 8
	fewSamples   = 3
	mostlyIdle   = 0.5
)

// coresEach is how many cores of the machine a Blender takes that renders on a GPU: it computes
// the scene and encodes the picture on them.
const coresEach = 2

// evidence says how many Blenders are good for what is rendered now. Blender reports for each
// frame during which part of it the device had work; the sum over all Blenders is how many render
// at once. The zero value has no evidence. It is not safe for concurrent use.
type evidence struct {
	frames           int
	rendered, took   time.Duration
	tells            bool    // the GPU reports how busy it is
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
func (e *evidence) see(n int, f blender.Frame, more bool, cores int, processor bool) advice {
	whole := time.Duration(f.Seconds*float64(time.Second)) + f.Load
	if f.Started.IsZero() || whole <= 0 { // a renderer that reports no parts
		return stay
	}
	e.needHost, e.needOn = max(e.needHost, f.Memory), max(e.needOn, f.DeviceMemory)
	e.frames++
	e.took += whole
	e.rendered += max(0, whole-f.Load-f.Sync-f.Encode)
	if e.frames < 2*n || !e.enough() {
		return stay
	}
	atOnce := float64(n) * float64(e.rendered) / float64(e.took)
	if processor {
		atOnce += (float64(n) - atOnce) / float64(cores)
	}
	waits, full := atOnce < growBelow, true
	if e.tells {
		busy := e.busy / float64(e.samples)
		waits, full = busy < growBusy && coresEach*(n+1) <= cores, busy > allBusy
	}
	e.forget()
	switch {
	case n > 1 && full && atOnce > shrinkAbove:
		return shrink
	case n < Most && waits && more:
		return grow
	}
	return stay
}

// enough reports whether the frames took so long that they say something.
func (e *evidence) enough() bool {
	if !e.tells {
		return e.took >= evidenceTime
	}
	if e.samples >= fewSamples && e.busy < mostlyIdle*float64(e.samples) {
		return true
	}
	return e.took >= evidenceTime && e.samples >= leastSamples
}

// sample counts what the GPU reports about itself, if it does.
func (e *evidence) sample(busy float64, tells bool) {
	if e.tells = tells; !tells {
		return
	}
	e.samples++
	e.busy += busy
}

// forget starts over, as with another number of Blenders. What a Blender needs and whether the
// GPU reports stay known for the life of the worker.
func (e *evidence) forget() { e.frames, e.rendered, e.took, e.samples, e.busy = 0, 0, 0, 0, 0 }

// Room that stays free in addition to a further Blender: scenes differ, a spare and a
// comparison may come to it, and a driver takes some memory of the device for each process.
const (
	hostReserve   = 1 << 30
	deviceReserve = 1 << 29
)

// fits reports whether one more Blender like the largest so far has room.
func (e *evidence) fits(free Free) bool {
	return free.Host >= e.needHost+e.needHost/2+hostReserve && (free.Device == NoMemory || free.Device >= e.needOn+e.needOn/2+deviceReserve)
}
