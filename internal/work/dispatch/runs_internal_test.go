package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// queueOf makes a queue of a job's frames: '.' waits, a letter is its holder, '-' is
// accepted, and 'x' waits but may not be taken.
func queueOf(frames string) playQueue {
	q := playQueue{first: 1, step: 1, idle: 1}
	for i, c := range frames {
		f := queuedFrame{item: int64(i + 1), free: c == '.'}
		switch c {
		case '-':
			continue
		case '.', 'x':
		default:
			f.holder = string(c)
		}
		q.frames = append(q.frames, f)
	}
	return q
}

func TestRunsGoOnWhereAWorkerIsAndBeginWhereOthersComeLast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, frames string
		after, idle  int64
		render, play float64
		want         string
	}{
		{"the first worker begins at the beginning", "..........", 0, 3, 0, 0, "1-10"},
		{"the second leaves its share to the first", "A.........", 0, 1, 0, 0, "6-10"},
		{"all that idle share the rest", "A.........", 0, 2, 0, 0, "5-10"},
		{"the largest rest is shared", "A..B......", 0, 1, 0, 0, "8-10"},
		{"a worker continues", "-Z...A....", 0, 1, 0, 0, "3-5"},
		{"a worker continues after what was accepted", "----......", 4, 1, 0, 0, "5-10"},
		{"frames that no worker continues to come first", "A....--...", 0, 1, 0, 0, "8-10"},
		{"the next of those ahead", "A.-.--...", 3, 1, 0, 0, "4-4"},
		{"earlier frames need a new start, and are not left", "..-C....", 5, 1, 0, 0, "1-2"},
		{"what may not be taken ends a run", "...x......", 0, 1, 0, 0, "5-10"},
		{"playing is in the share", "A..................", 0, 1, 10, 5, "11-19"},
		{"a run begins where it is reached first", "--------------------A.........", 0, 1, 10, 2, "27-30"},
		{"a worker does not begin what the other renders sooner", "--------------------A...", 0, 1, 10, 5, ""},
		{"a worker ahead plays less", "--------------------A.........", 20, 1, 10, 5, "26-30"},
		{"playing as long as rendering gains nothing", "-----A....", 0, 1, 10, 10, ""},
	} {
		q := queueOf(c.frames)
		q.idle, q.render, q.play = c.idle, c.render, c.play
		var after *int64
		if c.after > 0 {
			after = &c.after
		}
		got := ""
		if run := q.run("Z", after); len(run) > 0 {
			got = fmt.Sprintf("%d-%d", run[0], run[len(run)-1])
		}
		if got != c.want {
			t.Errorf("%s: %s after %d: %s, want %s", c.name, c.frames, c.after, got, c.want)
		}
	}
}

// Workers that come and go in any order render every frame once, and a worker never takes
// two frames of which the second is lower, unless it starts over.
func TestRunsLeaveNoFrame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 60).Draw(t, "frames")
		q := playQueue{first: 1, step: 1, render: rapid.Float64Range(0, 10).Draw(t, "render"), play: rapid.Float64Range(0, 10).Draw(t, "play")}
		for n := range count {
			q.frames = append(q.frames, queuedFrame{item: int64(n + 1), free: true})
		}
		workers := []string{"A", "B", "C"}
		after := map[string]*int64{}
		for turns := 0; len(q.frames) > 0; turns++ {
			if turns > 100*count {
				t.Fatalf("%d frames are left", len(q.frames))
			}
			w := rapid.SampledFrom(workers).Draw(t, "worker")
			if i := slices.IndexFunc(q.frames, func(f queuedFrame) bool { return f.holder == w }); i >= 0 {
				if rapid.IntRange(0, 9).Draw(t, "fate") == 0 { // it is gone, and starts over
					q.frames[i].holder, q.frames[i].free = "", true
					after[w] = nil
					continue
				}
				q.frames = slices.Delete(q.frames, i, i+1)
			}
			q.idle = int64(rapid.IntRange(1, 3).Draw(t, "idle"))
			run := q.run(w, after[w])
			if len(run) == 0 {
				continue
			}
			i := slices.IndexFunc(q.frames, func(f queuedFrame) bool { return f.item == run[0] })
			if !q.frames[i].free || !slices.IsSorted(run) {
				t.Fatalf("%s takes %v", w, run)
			}
			q.frames[i].free, q.frames[i].holder, after[w] = false, w, &run[0]
		}
	})
}
