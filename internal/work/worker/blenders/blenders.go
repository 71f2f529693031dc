// Package blenders decides which Blenders of a worker run: how many are good for the device,
// and that one runs alone while the memory does not suffice for several.
//
// What always holds: the first Blender runs as long as Run. One loop (Run) owns the state;
// what happens elsewhere reaches it as a message, in the order in which it was sent. A
// further Blender that is one too many ends after its frame; one that the memory does not
// suffice for ends at once. While one is to run alone, none starts.
//
// It leaves to worker what a Blender renders. Start reading at Run, then states.go (what each
// message changes) and evidence.go (how many are good).
package blenders

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"svc.example/internal/render/blender"
)

// Auto as Config.Blenders follows what the device and the memory carry.
const Auto = -1

// Most bounds the Blenders of a worker: further ones would wait for each other.
const Most = 16

// AloneTime is how long one Blender runs alone after several had too little memory. Longer
// than most frames take, and short enough that another job gets its chance.
const AloneTime = 10 * time.Minute

// ErrAlone ends what further Blenders render while one is to run alone.
var ErrAlone = errors.New("several Blenders had too little memory")

// Config is what Run needs. Every field is required.
type Config struct {
	Blenders int // how many, or Auto
	Device   blender.Device
	Cores    int                                    // of the machine
	Free     func(context.Context) (Free, error)    // the memory that is left
	Busy     func(context.Context) (float64, error) // in which part of the last moment a GPU computed, 0 to 1
	Drain    <-chan struct{}                        // closed when no further Blender is to start
	Log      *slog.Logger
}

// Blenders are those of one worker. Make them with New, once a Run. Safe for concurrent use.
type Blenders struct {
	cfg       Config
	messages  chan message
	ended     chan struct{} // closed when the loop has ended
	rendering atomic.Int64
}

// Slot is the place of one Blender. Index 0 is the first.
type Slot struct {
	Index   int
	finish  chan struct{} // closed when it is to end after its frame
	state   state         // what follows is the loop's
	stopNow context.CancelCauseFunc
}

// Finish is closed when the Blender is to end after its frame: fewer suffice.
func (s *Slot) Finish() <-chan struct{} { return s.finish }

// Finishing reports whether Finish is closed.
func (s *Slot) Finishing() bool {
	select {
	case <-s.finish:
		return true
	default:
		return false
	}
}

// New makes the Blenders of a worker. Nothing runs before Run.
func New(cfg Config) *Blenders {
	return &Blenders{cfg: cfg, messages: make(chan message), ended: make(chan struct{})}
}

// Run has the first Blender work, and further ones whenever they are good and the memory
// suffices for them. work returns when its context or Drain ends, or its slot is to finish;
// an error says that no further Blender can work in its slot. Run returns when work has
// returned in each slot. No further Blender starts once it has returned in the first.
func (b *Blenders) Run(ctx context.Context, work func(context.Context, *Slot) error) {
	var helpers sync.WaitGroup // measure what takes time
	defer helpers.Wait()
	defer close(b.ended)
	measuring, end := context.WithCancel(ctx)
	defer end()
	l := newLoop(b.cfg, func(s *Slot) {
		running, stop := context.WithCancelCause(ctx)
		s.state, s.finish, s.stopNow = working, make(chan struct{}), stop
		helpers.Go(func() {
			err := work(running, s)
			stop(nil)
			b.send(left{s, err})
		})
	}, func(measure func(context.Context) message) {
		helpers.Go(func() { b.send(measure(measuring)) })
	})
	var sample <-chan time.Time
	if b.cfg.Blenders == Auto && b.cfg.Device == blender.GPU {
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		sample = tick.C
	}
	drain := b.cfg.Drain
	for {
		l.closing = l.closing || ctx.Err() != nil
		l.arrange()
		if l.empty() {
			return
		}
		select {
		case m := <-b.messages:
			m.change(l)
		case <-l.together:
			l.together = nil
		case <-sample:
			l.sample(b.rendering.Load() > 0)
		case <-drain:
			l.closing, drain = true, nil
		}
	}
}

// send gives the loop a message; false when it has ended.
func (b *Blenders) send(m message) bool {
	select {
	case b.messages <- m:
		return true
	case <-b.ended:
		return false
	}
}

// Begin and End count the Blenders that render.
func (b *Blenders) Begin() { b.rendering.Add(1) }

// End says that a Blender has rendered its frame.
func (b *Blenders) End() { b.rendering.Add(-1) }

// Rendered reports a frame. more says that other frames were waiting then: without them a
// further Blender has nothing to do.
func (b *Blenders) Rendered(f blender.Frame, more bool) {
	if b.cfg.Blenders == Auto {
		b.send(rendered{f, more})
	}
}

// Crowded reports whether a failure for want of memory may be the doing of other Blenders.
// Those then end, and the frame should be rendered again without them.
func (b *Blenders) Crowded(code, text string) bool {
	answer := make(chan bool, 1)
	return b.send(crowded{code, text, answer}) && <-answer
}

// WaitAlone returns once the first Blender is the only one, while it is to run alone. The
// others end at once, or finish a frame that ends soon.
func (b *Blenders) WaitAlone(ctx context.Context) {
	alone := make(chan struct{})
	if !b.send(waits{alone}) {
		return
	}
	select {
	case <-alone:
	case <-ctx.Done():
	case <-b.ended:
	}
}
