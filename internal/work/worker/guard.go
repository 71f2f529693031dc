package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/pixels"
)

// Of the jobs whose scene gives no reason to doubt it, one in watchedOneIn is
// watched: the choice is by the job's id, so that all workers watch the same ones.
const watchedOneIn = 8

// Of a watched job the 2nd frame that a process renders is compared, then the 4th,
// the 8th and from there each 8th: what goes wrong with kept data goes wrong soon,
// and the price stays at an eighth. Frames in between are held until then.
const (
	firstBatch = 1
	lastBatch  = 8
)

// persistentDataOff is what a frame's Switched says when its job showed that kept
// data changes pixels.
const persistentDataOff = "persistent_data_off"

// What a frame's log begins with when its job keeps no data.
const (
	differs   = "svc: persistent data gave other pixels in frame %d, compared with the frame rendered alone; it is off for this job on this worker\n"
	unchecked = "svc: a frame failed while persistent data was compared; it is off for this job on this worker\n"
	tooMuch   = "svc: Blender ended with persistent data kept; it is off for this job on this worker\n"
)

func sampled(jobID string) bool {
	sum := sha256.Sum256([]byte(jobID))
	return sum[0]%watchedOneIn == 0
}

// guard watches whether Blender's persistent data gives the pixels that a frame
// rendered alone has. A job's first frame in a process does, since nothing is kept
// by then; later ones of a watched job are held until one of them was compared.
type guard struct {
	watched bool
	began   bool   // the process has rendered a frame
	note    string // why data is no longer kept; "" while it is
	batch   int    // how many frames are held before one is compared
	held    []shot
}

// shot is a rendered frame whose picture lies in the outbox.
type shot struct {
	task     *task
	act      *act
	frame    blender.Frame
	path     string
	switched []string
}

// shoot renders a frame, with what is kept unless the guard has spoken.
func (a *act) shoot(ctx context.Context, t *task) (blender.Frame, error) {
	if a.guard.note == "" {
		return a.Render(ctx, t.lease.Frame, t.advance)
	}
	f, err := a.RenderFresh(ctx, t.lease.Frame, t.advance)
	f.Log = a.guard.note + f.Log[max(0, len(f.Log)+len(a.guard.note)-blender.FrameLogBytes):]
	return f, err
}

// switched names what a frame that is rendered now is rendered otherwise.
func (a *act) switched() []string {
	all := slices.Clone(a.opened.Switched)
	if a.guard.note != "" {
		all = append(all, persistentDataOff)
		slices.Sort(all)
	}
	return all
}

// pass takes a rendered picture out of Blender's way and lets it go, or holds it
// until its job's guard has compared.
func (w *Worker) pass(ctx, wire context.Context, a *act, t *task, f blender.Frame) {
	path, err := w.out.claim(t.lease, f.Path)
	if err != nil {
		w.log.Error("a picture cannot be taken", "frame", t.lease.Frame, "error", err)
		w.fail(t, &blender.Error{Code: blender.FrameCheckFailed, Message: "Blender's picture is not where it should be", Log: f.Log})
		return
	}
	s := shot{t, a, f, path, a.switched()}
	g := &a.guard
	if first := !g.began; first || !g.watched || g.note != "" {
		g.began = true
		w.finish(s)
		return
	}
	g.held = append(g.held, s)
	if len(g.held) >= g.batch {
		w.settle(ctx, wire)
	}
}

// settle has the newest held frame rendered by a process that never kept data. Are
// its pixels the same, all held frames go out; else all of them are rendered anew,
// and the job keeps no data on this worker from here on. ctx is the worker's.
func (w *Worker) settle(ctx, wire context.Context) {
	a := w.stage.act
	if a == nil || len(a.guard.held) == 0 {
		return
	}
	held := a.guard.held
	a.guard.held = nil
	newest := held[len(held)-1]
	running, end := context.WithCancelCause(newest.task.ctx)
	defer end(nil)
	stop := context.AfterFunc(ctx, func() { end(errStopped) })
	defer stop()
	same, err := w.compare(running, newest)
	switch {
	case running.Err() != nil:
		w.unsettled(running, wire, held, err)
		return
	case same:
		a.guard.batch = min(2*a.guard.batch, lastBatch)
	default:
		w.log.Warn("persistent data is off for a job", "job", a.job.JobID, "frame", newest.frame.Number, "comparison", err)
		note := fmt.Sprintf(differs, newest.frame.Number)
		if err != nil {
			note = unchecked
		}
		w.keepsNoData(a, note)
		if err := w.renew(running, held); err != nil {
			w.unsettled(running, wire, held, err)
			return
		}
	}
	for _, s := range held {
		w.finish(s)
	}
}

// compare renders a frame in the act's second process, where the first frames have
// left nothing behind: not in Cycles, and not in a simulation's cache either.
func (w *Worker) compare(ctx context.Context, s shot) (same bool, err error) {
	a := s.act
	if a.second == nil {
		if a.second, err = w.stage.take(ctx); err != nil {
			return false, err
		}
		if _, err := a.second.Open(ctx, a.files.input); err != nil {
			return false, err
		}
	}
	before, err := pixelsOf(s.frame, s.path)
	if err != nil {
		return false, err
	}
	alone, err := a.second.RenderFresh(ctx, s.frame.Number, nil)
	if err != nil {
		return false, err
	}
	after, err := pixelsOf(alone, alone.Path)
	return before == after, errors.Join(err, os.Remove(alone.Path))
}

// pixelsOf is what two pictures of a frame are compared by.
func pixelsOf(f blender.Frame, path string) (string, error) {
	if f.PixelSHA256 != "" {
		return f.PixelSHA256, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	picture, err := pixels.Read(file)
	return picture.SHA256, err
}

// renew renders held frames once more, in a process of its own that keeps nothing;
// that goes on with the job.
func (w *Worker) renew(ctx context.Context, held []shot) error {
	job := held[0].act.job
	w.stage.clear()
	for i := range held {
		s := &held[i]
		if s.task.ctx.Err() != nil {
			continue // lost meanwhile; finish drops it
		}
		a, err := w.onStage(ctx, job)
		if err != nil {
			return err
		}
		f, err := a.shoot(ctx, s.task)
		if err != nil {
			return err
		}
		if err := os.Rename(f.Path, s.path); err != nil {
			return err
		}
		s.act, s.frame, s.switched = a, f, a.switched()
	}
	return nil
}

// unsettled gives up held frames that could not be compared, nor rendered anew. The
// newest counts as failed, so that a job that always fails so comes to an end.
func (w *Worker) unsettled(running, wire context.Context, held []shot, err error) {
	w.stage.clear()
	newest := held[len(held)-1]
	_ = os.Remove(newest.path) // else the next run removes it
	w.giveUp(wire, newest.task, context.Cause(running), err)
	w.release(wire, held[:len(held)-1])
}

// dropHeld gives back frames that were held when their process ended.
func (w *Worker) dropHeld(wire context.Context) {
	if a := w.stage.act; a != nil {
		w.release(wire, a.guard.held)
		a.guard.held = nil
	}
}

// release gives held frames back unseen.
func (w *Worker) release(wire context.Context, held []shot) {
	var tasks []*task
	for _, s := range held {
		_ = os.Remove(s.path)
		tasks = append(tasks, s.task)
	}
	w.giveBack(wire, tasks...)
}

// rememberedFiles is how many files without kept data a worker remembers.
const rememberedFiles = 256

// keepsNoData switches kept data off for a job, now and when its file is opened
// again, and says why.
func (w *Worker) keepsNoData(a *act, note string) {
	a.guard.note = note
	if w.noData == nil {
		w.noData = make(map[string]string)
	}
	if len(w.noData) >= rememberedFiles {
		clear(w.noData) // to be found again costs a comparison
	}
	w.noData[a.job.InputSHA256] = note
}

// newGuard is the guard of a file that was just opened.
func (w *Worker) newGuard(a *act) guard {
	return guard{
		watched: a.opened.KeepsData && w.noData[a.job.InputSHA256] == "" && (a.opened.Doubtful || sampled(a.job.JobID)),
		note:    w.noData[a.job.InputSHA256],
		batch:   firstBatch,
	}
}

// keptDataFailed notes that a process that kept data ran out of memory or crashed:
// kept data takes memory, so the next try does without.
func (w *Worker) keptDataFailed(a *act, err error) {
	var failed *blender.Error
	if a.opened.KeepsData && a.guard.began && a.guard.note == "" && errors.As(err, &failed) &&
		(failed.Code == blender.OutOfMemory || failed.Code == blender.Crashed) {
		w.keepsNoData(a, tooMuch)
	}
}
