package dispatch

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// assumedPlayShare is the time to play a frame as a share of rendering one, while
// none was played.
const assumedPlayShare = 0.1

// mostRunners bounds the workers that are taken to join a job, and with it what an estimate
// costs: 15 ms for 10,000 frames. More workers would hardly gain from playing to runs of
// so few frames.
const mostRunners = 200

// Playing is what a job whose frames depend on those before has taken so far.
type Playing struct {
	From, Step      int64 // the first frame that is played; from one frame of the job to the next
	Frames, Render  int64 // frames that are in, and the microseconds that they took
	Played, PlayFor int64 // frames that were played for those, and the microseconds that this took
}

// Remaining is the unfinished frames of a job whose frames depend on earlier ones, and which
// workers hold some of them. It predicts what must still be played for them, by workers
// that join and by those that start over.
type Remaining struct {
	queue   playQueue // times are seconds
	holders []*runner
}

// runner is a worker of a job whose frames depend on those before.
type runner struct {
	id    string
	after *int64  // the last frame that it has
	run   []int64 // the frames that it renders now, one after the other; nil for none
	held  int     // of the run: the first ones, which no worker takes from it
	done  float64 // part of the first one that is rendered
	since float64 // how long it has had the first one, in seconds
	took  float64 // when it took the run, in seconds from now; 0 for earlier
	begun float64 // when it began to render the run, after playing what it had to
	out   bool    // there is nothing left for it
}

func (p Playing) remaining() *Remaining {
	q := playQueue{first: p.From, step: p.Step}
	if p.Frames > 0 {
		q.render = float64(p.Render) / float64(p.Frames) / 1e6
	}
	if p.Played > 0 {
		q.play = float64(p.PlayFor) / float64(p.Played) / 1e6
	}
	return &Remaining{queue: q}
}

// RemainingOf is the rest of a job of which no frame was claimed yet.
func RemainingOf(p Playing, frames Span) *Remaining {
	r := p.remaining()
	items := frames.Items
	for n := int64(0); frames.Items == nil && n < frames.Count; n++ {
		items = append(items, frames.First+n*frames.Step)
	}
	for _, item := range items {
		r.queue.frames = append(r.queue.frames, queuedFrame{item: item, free: true})
	}
	return r
}

// FindRemaining reads the rests of the rendering jobs of a workspace with ids from oldest to
// newest. playing are those of them whose frames depend on those before.
func FindRemaining(ctx context.Context, tx *db.Tx, workspaceID, oldest, newest string, playing map[string]Playing) (map[string]*Remaining, error) {
	rows, err := tx.FramesPlaying(ctx, query.FramesPlayingParams{WorkspaceID: workspaceID, Oldest: oldest, Newest: newest})
	if err != nil {
		return nil, fmt.Errorf("read the frames that are not in: %w", err)
	}
	rests := map[string]*Remaining{}
	for jobID, p := range playing {
		rests[jobID] = p.remaining()
	}
	for _, row := range rows {
		if r := rests[row.Subject]; r != nil {
			r.add(row, tx.Now)
		}
	}
	return rests, nil
}

// add adds a frame after the others. now is microseconds since 1970.
func (r *Remaining) add(row query.FramesPlayingRow, now int64) {
	waits := row.State == "waiting"
	r.queue.frames = append(r.queue.frames, queuedFrame{item: row.Item, holder: row.Holder, free: waits})
	if waits {
		return
	}
	i := slices.IndexFunc(r.holders, func(h *runner) bool { return h.id == row.Holder })
	if i < 0 {
		i = len(r.holders)
		r.holders = append(r.holders, &runner{id: row.Holder, since: float64(now-row.DueAt) / 1e6})
		if row.After > 0 {
			r.holders[i].after = &row.After
		}
	}
	h := r.holders[i]
	h.run, h.held, h.done = append(h.run, row.Item), h.held+1, h.done+float64(row.Progress)/1000
}

// work is what remains of a job, in seconds: for all workers together, and until its
// last frame is in if no other job competes.
type work struct{ all, last float64 }

// work lets so many workers render the rest as runOf gives it to them, each frame in render
// seconds and playing one in play seconds. Those that hold none of its frames begin now, from
// the first frame, because their state is unknown.
func (r *Remaining) work(workers int64, render, play float64) work {
	c := course{queue: r.queue, render: max(render, time.Microsecond.Seconds()), play: play}
	for _, h := range r.holders {
		with := *h
		with.begun = -with.done * c.render
		if with.done == 0 {
			with.begun = max(0, c.queue.before(with.run[0], with.after)*play-with.since)
		}
		c.runners = append(c.runners, &with)
	}
	waits := int64(0)
	for _, s := range r.queue.stretches() {
		waits += int64(len(s.items))
		i := slices.IndexFunc(c.runners, func(w *runner) bool { return w.id == s.owner })
		if i >= 0 && c.runners[i].run[c.runners[i].held-1]+r.queue.step == s.items[0] {
			c.runners[i].run = slices.Concat(c.runners[i].run, s.items)
		} else {
			c.loose = append(c.loose, s)
		}
	}
	for n := range min(workers-int64(len(c.runners)), waits, mostRunners) {
		c.runners = append(c.runners, &runner{id: "joins " + strconv.FormatInt(n, 10)})
	}
	return c.finish()
}

// course is how the workers of a job proceed, run by run.
type course struct {
	queue        playQueue // render and play are what is known at the time
	render, play float64   // seconds of a frame
	runners      []*runner
	loose        []stretch // frames that no worker continues to, in order
	now          float64   // seconds from now
	scratch      []stretch
}

// end is when a runner has rendered its run.
func (c *course) end(r *runner) float64 { return r.begun + float64(len(r.run))*c.render }

// finish goes from one end of a run to the next, until there is nothing left to take.
func (c *course) finish() (w work) {
	for {
		var r *runner
		for _, other := range c.runners {
			if !other.out && (r == nil || c.end(other) < c.end(r)) {
				r = other
			}
		}
		if r == nil {
			return w
		}
		if n := len(r.run); n > 0 {
			c.now = max(c.now, c.end(r))
			w.all, w.last = w.all+c.now-r.took, c.now
			r.after, r.run = &r.run[n-1], nil
			c.queue.render, c.queue.play = c.render, c.play // by now both are measured
		}
		c.next(r)
	}
}

// next gives a runner what it takes now.
func (c *course) next(r *runner) {
	c.queue.idle = 0
	stretches := append(c.scratch[:0], c.loose...)
	for _, other := range c.runners {
		if other.run == nil {
			c.queue.idle++
			continue
		}
		begun := max(other.held, int(math.Floor((c.now-other.begun)/c.render))+1)
		if begun < len(other.run) {
			stretches = append(stretches, stretch{items: other.run[begun:], owner: other.id})
		}
	}
	c.scratch = stretches
	run := c.queue.choose(stretches, r.id, r.after)
	if r.out = len(run) == 0; r.out {
		return
	}
	c.take(run)
	r.run, r.held, r.took = run, 1, c.now
	r.begun = c.now + c.queue.before(run[0], r.after)*c.play
}

// take takes a run from the worker that would continue to it; loose frames have
// none.
func (c *course) take(run []int64) {
	for _, other := range c.runners {
		if i, found := slices.BinarySearch(other.run, run[0]); found {
			other.run = other.run[:i]
		}
	}
	c.loose = slices.DeleteFunc(c.loose, func(s stretch) bool { return s.items[0] == run[0] })
}

// FinishRemaining is Finish for a job whose frames depend on those before: what its workers
// still play for its rest counts too. ok is also false where nothing is known of each.
func (o *Forecast) FinishRemaining(jobID, workspace string, asks Asks, rest *Remaining, each FrameTime) (seconds float64, span ETARange, ok bool) {
	if each.Mean <= 0 {
		return 0, span, false
	}
	workers := o.Able(asks).Workers
	if most := o.queues[workspace].most; most > 0 {
		workers = min(workers, most)
	}
	workers = max(workers, int64(len(rest.holders)))
	with := func(render time.Duration, assumed float64) work {
		play := rest.queue.play
		if play == 0 {
			play = assumed * render.Seconds()
		}
		return rest.work(workers, render.Seconds(), play)
	}
	return o.finish(jobID, workspace, workers, with(each.Mean, assumedPlayShare), with(each.Low, 0), with(each.High, 1))
}
