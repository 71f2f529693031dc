package worker_test

import (
	"slices"
	"testing"
)

// Where frames depend on those before, a process computes what it has not rendered, and
// only moves forward: a lower frame needs a new one.
func TestAProcessThatPlaysNeverGoesBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(0)
		s.jobs = []*job{{id: "JOB-1", frames: []*frame{{number: 3}, {number: 4}, {number: 8}}}}
		p := newPainter()
		p.plays, p.keeps = true, false
		b := newBench(t, s, p)
		stop := b.run()
		defer stop()
		b.untilDelivered(3)
		s.change(func() { s.jobs[0].frames = append(s.jobs[0].frames, &frame{number: 6}) })
		b.untilDelivered(4)
		var played []int
		for _, f := range s.jobs[0].frames {
			played = append(played, f.done.Played)
			if (f.done.Played == 0) != (f.number == 4) {
				t.Errorf("frame %d: played %d frames", f.number, f.done.Played)
			}
		}
		if want := []int{2, 0, 3, 5}; !slices.Equal(played, want) || len(p.opens) != 2 {
			t.Errorf("played %v by %d processes, want %v by 2", played, len(p.opens), want)
		}
		if s.after == nil || *s.after != 8 {
			t.Errorf("the worker said that it has frame %v last, want 8", s.after)
		}
	})
}
