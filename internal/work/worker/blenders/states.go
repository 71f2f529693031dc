package blenders

import (
	"context"
	"slices"
	"time"

	"svc.example/internal/render/blender"
)

// state is what the Blender of a slot does.
type state int

const (
	off       state = iota // it does not run
	working                // it renders, or waits for frames
	finishing              // it ends after its frame, as fewer suffice
	stopping               // it ends at once: the memory did not suffice
	broken                 // it cannot run on this machine
)

// loop is the state of Run. Only its goroutine uses it.
type loop struct {
	cfg     Config
	start   func(*Slot)
	measure func(func(context.Context) message) // runs concurrently with the loop

	slots    []*Slot
	want     int              // slots that are to work
	together <-chan time.Time // is ready when several may work again; nil while they may
	closing  bool             // none starts any more
	waiting  []chan struct{}
	evidence evidence // says what want should be, with Auto

	freeAsked, busyAsked, noMemory bool // a measurement runs; that memory cannot be measured was said
}

func newLoop(cfg Config, start func(*Slot), measure func(func(context.Context) message)) *loop {
	l := &loop{cfg: cfg, start: start, measure: measure, want: cfg.Blenders}
	most := cfg.Blenders
	if most == Auto {
		most, l.want = Most, 1
	}
	for i := range most {
		l.slots = append(l.slots, &Slot{Index: i})
	}
	start(l.slots[0])
	return l
}

// alone reports whether only the first slot is to work.
func (l *loop) alone() bool { return l.together != nil }

// runs reports whether a slot has a Blender.
func (s *Slot) runs() bool { return s.state == working || s.state == finishing || s.state == stopping }

// others reports whether a further Blender runs.
func (l *loop) others() bool { return slices.ContainsFunc(l.slots[1:], (*Slot).runs) }

// empty reports whether no Blender runs any more.
func (l *loop) empty() bool { return !slices.ContainsFunc(l.slots, (*Slot).runs) }

// arrange starts the further slots that are to work, has those finish that are too many, and
// wakes the first once it is alone.
func (l *loop) arrange() {
	for _, s := range l.slots[1:] {
		switch wanted := s.Index < l.want; {
		case wanted && s.state == off && !l.closing && !l.alone():
			l.start(s)
		case !wanted && s.state == working:
			s.state = finishing
			close(s.finish)
		}
	}
	if l.alone() && l.others() {
		return
	}
	for _, w := range l.waiting {
		close(w)
	}
	l.waiting = nil
}

// resize changes how many slots are to work.
func (l *loop) resize(n int) {
	l.want = n
	l.evidence.forget()
}

// sample asks a GPU how busy it is. One that does not say is judged by the parts of frames.
func (l *loop) sample(rendering bool) {
	if !rendering || l.busyAsked {
		return
	}
	l.busyAsked = true
	l.measure(func(ctx context.Context) message {
		busy, err := l.cfg.Busy(ctx)
		return sampled{busy, err == nil}
	})
}

// message is something that has happened, and what it changes.
type message interface{ change(l *loop) }

// left: the Blender of a slot has ended.
type left struct {
	slot *Slot
	err  error
}

func (m left) change(l *loop) {
	m.slot.state = off
	if m.err != nil {
		l.cfg.Log.Error("a further Blender cannot work", "err", m.err)
		m.slot.state = broken
	}
	l.closing = l.closing || m.slot.Index == 0
}

// rendered: a frame has ended.
type rendered struct {
	frame blender.Frame
	more  bool
}

func (m rendered) change(l *loop) {
	n := l.want
	says := l.evidence.see(n, m.frame, m.more, l.cfg.Cores, l.cfg.Device == blender.CPU)
	switch {
	case says == stay, l.alone():
	case says == shrink:
		l.follow(n - 1)
	case !l.freeAsked:
		l.freeAsked = true
		l.measure(func(ctx context.Context) message {
			free, err := l.cfg.Free(ctx)
			return measured{n, free, err}
		})
	}
}

// follow has another number of slots work, as the evidence says.
func (l *loop) follow(n int) {
	l.cfg.Log.Info("the number of Blenders follows what the device is busy with", "from", l.want, "to", n)
	l.resize(n)
}

// measured: the free memory is known that a further Blender would take.
type measured struct {
	of   int // slots that were to work when it was asked for
	free Free
	err  error
}

func (m measured) change(l *loop) {
	l.freeAsked = false
	switch {
	case m.err != nil && !l.noMemory:
		l.noMemory = true
		l.cfg.Log.Warn("how much memory is free cannot be found out, so no further Blender starts", "err", m.err)
	case m.err == nil && l.evidence.fits(m.free) && l.want == m.of && !l.alone():
		l.follow(m.of + 1)
	}
}

// sampled: the GPU has reported how busy it is, if it does.
type sampled struct {
	busy  float64
	tells bool
}

func (m sampled) change(l *loop) {
	l.busyAsked = false
	l.evidence.sample(m.busy, m.tells)
}

// crowded: a frame has failed for want of memory.
type crowded struct {
	code, text string
	answer     chan<- bool // whether other Blenders run, which end
}

func (m crowded) change(l *loop) {
	others := l.others()
	m.answer <- others
	if !others {
		return
	}
	l.together = time.After(AloneTime)
	l.cfg.Log.Warn("a frame failed next to other frames and is rendered again alone; one Blender works for a while", "for", AloneTime, "code", m.code, "message", m.text)
	if l.cfg.Blenders == Auto {
		l.resize(1) // what shows that the device waits may show it again
	}
	for _, s := range l.slots[1:] {
		if s.runs() {
			s.state = stopping
			s.stopNow(ErrAlone)
		}
	}
}

// waits: the first Blender continues once it is alone, if it must be.
type waits struct{ alone chan struct{} }

func (m waits) change(l *loop) { l.waiting = append(l.waiting, m.alone) }
