package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/buildoption"
)

// A job whose frames depend on earlier ones is given out in runs: a worker continues
// where it is, because it has the state, and another one begins where the first would
// arrive last. docs/internal/frames.md says why.

// longestAffinity bounds the time that a job whose frames depend on those before may
// receive more than the next one while a worker has its state.
const longestAffinity = 10 * time.Minute

// affinity is fileAffinity, or four times what it takes to come back to a worker's frame
// where that is longer: a worker that changes jobs plays all of it once more.
func affinity(turn query.TurnOfJobRow, open OpenJob) time.Duration {
	if turn.Plays == 0 || turn.Played == 0 || open.After == nil {
		return fileAffinity
	}
	back := time.Duration(turn.PlayUs/turn.Played*max(0, *open.After-turn.PlaysFrom)) * time.Microsecond
	return min(max(fileAffinity, 4*back), longestAffinity)
}

// recordScene notes in a job's turn what its scene asks of workers: what their Blenders
// must be built with, and to play the frames before.
func recordScene(ctx context.Context, tx *db.Tx, job Job) error {
	if job.Needs != 0 {
		if err := tx.TurnNeeds(ctx, query.TurnNeedsParams{Party: job.JobID, Needs: int64(job.Needs)}); err != nil {
			return fmt.Errorf("give %s a turn: %w", job.JobID, err)
		}
	}
	if job.PlaysFrom == nil {
		return nil
	}
	if err := tx.TurnPlays(ctx, query.TurnPlaysParams{Party: job.JobID, PlaysFrom: *job.PlaysFrom}); err != nil {
		return fmt.Errorf("give %s a turn: %w", job.JobID, err)
	}
	return nil
}

// RecordPlay charges a job for the frames that were played before an accepted one.
func RecordPlay(ctx context.Context, tx *db.Tx, job Job, frames int64, took time.Duration) error {
	if frames == 0 {
		return nil
	}
	us := took.Microseconds()
	if err := tx.TurnPlayed(ctx, query.TurnPlayedParams{Party: job.JobID, Played: frames, PlayUs: us}); err != nil {
		return fmt.Errorf("charge %s for played frames: %w", job.JobID, err)
	}
	for _, party := range []string{job.JobID, job.WorkspaceID} {
		if _, err := moveTurn(ctx, tx, query.TurnMoveParams{Party: party, ServedUs: us}); err != nil {
			return err
		}
	}
	return nil
}

// runOf is what a worker may take of a job whose frames depend on those before; empty where
// others will have rendered the rest before the worker could begin.
func runOf(ctx context.Context, tx *db.Tx, holder string, c Choice, after *int64) ([]int64, error) {
	turn, err := tx.TurnPlay(ctx, c.JobID)
	if err != nil {
		return nil, fmt.Errorf("read the turn of %s: %w", c.JobID, err)
	}
	rows, err := tx.FramesQueued(ctx, c.JobID)
	if err != nil {
		return nil, fmt.Errorf("read the frames of %s: %w", c.JobID, err)
	}
	workers, err := tx.WorkersIdle(ctx, query.WorkersIdleParams{Since: onlineSince(tx), Now: tx.Now})
	if err != nil {
		return nil, fmt.Errorf("count workers: %w", err)
	}
	failed, err := failedItems(ctx, tx, holder, c)
	if err != nil {
		return nil, err
	}
	q := playQueue{first: turn.PlaysFrom, step: turn.FrameStep, idle: max(1, able(workers).of(Asks{buildoption.Set(turn.Needs), turn.Kind, turn.Pools}).Idle)}
	if turn.FramesCompleted > 0 {
		q.render = float64(turn.RenderUs) / float64(turn.FramesCompleted)
	}
	if turn.Played > 0 {
		q.play = float64(turn.PlayUs) / float64(turn.Played)
	}
	for _, r := range rows {
		free := r.State == "waiting" && r.DueAt <= tx.Now && !slices.Contains(failed, r.Item)
		q.frames = append(q.frames, queuedFrame{item: r.Item, holder: r.Holder, free: free})
	}
	return q.run(holder, after), nil
}

// playQueue is the frames of a job that are not accepted, the lowest first.
type playQueue struct {
	frames       []queuedFrame
	first        int64   // the first frame that is played
	step         int64   // from one frame of the job to the next
	idle         int64   // workers that hold no frame, 1 or more
	render, play float64 // how long a frame takes to be rendered and to be played, in one unit; 0 where it is not known
}

type queuedFrame struct {
	item   int64
	holder string // of a frame that is rendered
	free   bool   // it waits, and may be taken
}

// stretch is waiting frames that follow each other.
type stretch struct {
	items []int64
	owner string // the worker that renders the frame before, and will continue here; "" for none
}

func (q playQueue) stretches() (all []stretch) {
	var before queuedFrame
	for _, f := range q.frames {
		follows := before.item+q.step == f.item
		switch {
		case f.free && follows && before.free:
			last := &all[len(all)-1]
			last.items = append(last.items, f.item)
		case f.free && follows:
			all = append(all, stretch{items: []int64{f.item}, owner: before.holder})
		case f.free:
			all = append(all, stretch{items: []int64{f.item}})
		}
		before = f
	}
	return all
}

// run is the frames that a worker takes from where it is: after its last frame, or nowhere.
// It continues after that. Otherwise it takes frames that no worker continues to, the next
// ones ahead of it first; otherwise the end of what another would render.
func (q playQueue) run(worker string, after *int64) []int64 {
	return q.choose(q.stretches(), worker, after)
}

// choose is run over stretches; those without an owner are in the order of their
// frames.
func (q playQueue) choose(all []stretch, worker string, after *int64) []int64 {
	var ahead, loose, shared *stretch
	for i := range all {
		s := &all[i]
		switch {
		case s.owner == worker && worker != "", after != nil && s.items[0] == *after+q.step:
			return s.items
		case s.owner != "":
			if shared == nil || len(s.items) > len(shared.items) {
				shared = s
			}
		case after != nil && s.items[0] > *after:
			if ahead == nil {
				ahead = s
			}
		case loose == nil || len(s.items) > len(loose.items):
			loose = s
		}
	}
	switch {
	case ahead != nil:
		return ahead.items
	case loose != nil:
		return loose.items
	case shared != nil:
		return shared.items[min(q.cut(shared.items, after), len(shared.items)):]
	}
	return nil
}

// cut is how many of the frames that another worker continues to are left to it. All idle
// workers share the rest; and a worker begins only where it arrives before the other does,
// which is in the middle of a frame now.
func (q playQueue) cut(items []int64, after *int64) int {
	share := len(items) / int(q.idle+1)
	if q.render == 0 || q.play == 0 {
		return share
	}
	late := q.before(items[0], after)*q.play - q.render/2
	switch {
	case late <= 0:
		return share
	case q.render <= q.play:
		return len(items)
	}
	// Each frame that is left to the other gives its render time, and takes that of one
	// more frame to play.
	return max(share, int(late/(q.render-q.play))+1)
}

// before is how many frames a worker plays that comes from where it is to a frame.
func (q playQueue) before(frame int64, after *int64) float64 {
	from := q.first
	if after != nil && *after < frame {
		from = *after + q.step
	}
	return float64(max(0, frame-from)) / float64(q.step)
}
