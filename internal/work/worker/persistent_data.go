package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
)

// sampledOneIn is the share of jobs that are watched although their scene gives no
// reason to. The job's id decides, so that all workers watch the same jobs.
const sampledOneIn = 8

// Of a watched job the guard compares the 2nd frame that a process renders, then the
// 4th, the 8th and each 8th after that. Kept data spoils frames early if at all, and
// the cost stays at one frame in eight. Frames in between are held until the
// comparison.
const (
	firstBatch = 1
	lastBatch  = 8
)

// persistentDataOff appears in a frame's Switched when kept data changed the pixels
// of its job.
const persistentDataOff = "persistent_data_off"

// First lines of a frame's log once its job keeps no data.
const (
	differs   = "svc: persistent data gave other pixels in frame %d, compared with the frame rendered alone; it is off for this job on this worker\n"
	unchecked = "svc: a frame failed while persistent data was compared; it is off for this job on this worker\n"
	tooMuch   = "svc: Blender ended with persistent data kept; it is off for this job on this worker\n"
	tooLarge  = "svc: Blender ended with a picture rendered whole; tiles are on, and persistent data is off, for this job on this worker\n"
)

// sampled reports whether the job's id puts it into the sample. Hashing spreads any kind
// of ids evenly.
func sampled(jobID string) bool {
	sum := sha256.Sum256([]byte(jobID))
	return sum[0]%sampledOneIn == 0
}

// guard checks that Blender's persistent data does not change pixels. The first frame of a
// process is right, because nothing is kept yet. Later frames of a watched job are held
// until one of them has been compared with a frame rendered without kept data. It belongs
// to one open file in one process. What it finds out outlives it in Worker.noData.
type guard struct {
	watched bool            // frames are held and compared
	began   bool            // the process has rendered a frame
	note    string          // why data is no longer kept; "" while it is
	batch   int             // how many frames are held before a comparison
	held    []renderedFrame // in the order of rendering; their leases are alive
}

// renderedFrame is a frame whose picture lies in the outbox.
type renderedFrame struct {
	task     *task
	job      *openJob // the process that rendered it
	frame    blender.Frame
	path     string   // of the picture, in the outbox
	switched []string // settings that differed from the file's at that time
}

// renderFrame renders with persistent data unless the guard has switched it off, within
// the time that a frame may take.
func (l *lane) renderFrame(ctx context.Context, a *openJob, t *task) (blender.Frame, error) {
	ctx, cancel := context.WithTimeout(ctx, l.frameTime())
	defer cancel()
	if a.guard.note == "" {
		return a.Render(ctx, t.lease.Frame, t.advance)
	}
	f, err := a.RenderFresh(ctx, t.lease.Frame, t.advance)
	// The note says in the frame's own log why the frame took longer. It replaces the
	// oldest lines, because the log's size is bounded.
	f.Log = a.guard.note + f.Log[max(0, len(f.Log)+len(a.guard.note)-blender.FrameLogBytes):]
	return f, err
}

// switched lists the settings that differ from the file's for a frame rendered now.
func (a *openJob) switched() []string {
	all := slices.Clone(a.opened.Switched)
	if a.guard.note != "" && a.opened.KeepsData { // else none was kept
		all = append(all, persistentDataOff)
		slices.Sort(all)
	}
	return all
}

// deliverOrHold moves a picture out of Blender's folder. It delivers the frame, or
// holds it until its guard has compared.
func (l *lane) deliverOrHold(ctx, drainCtx context.Context, a *openJob, t *task, f blender.Frame) {
	// At once, because the next frame may get the same name in Blender's folder.
	path, err := l.out.moveIn(t.lease, f.Path)
	if err != nil {
		l.log.Error("a picture cannot be taken", "frame", t.lease.Frame, "err", err)
		l.fail(t, &blender.Error{Code: blender.FrameCheckFailed, Message: "Blender's picture is not where it should be", Log: f.Log})
		return
	}
	s := renderedFrame{t, a, f, path, a.switched()}
	// The first frame of a process is right, and an unwatched job needs no comparison.
	g := &a.guard
	if first := !g.began; first || !g.watched || g.note != "" {
		g.began = true
		l.finish(drainCtx, s)
		return
	}
	g.held = append(g.held, s)
	if len(g.held) >= g.batch {
		l.compareHeld(ctx, drainCtx)
	}
}

// compareHeld renders the newest held frame again in a process that never kept data. Equal
// pixels release all held frames. Otherwise all of them are rendered anew, and the job
// keeps no data on this worker from then on. The end of ctx stops the comparison. Only the
// newest is compared: kept data that spoils a frame stays in the process, so the later
// ones show it too. Its lease bounds the comparison; the others are checked when they are
// finished.
func (l *lane) compareHeld(ctx, drainCtx context.Context) {
	a := l.pool.open
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
	same, err := l.compare(running, newest)
	switch {
	case running.Err() != nil: // the lease is lost or the worker stops: nothing is proven
		l.abandonHeld(running, drainCtx, held, err)
		return
	case same:
		a.guard.batch = min(2*a.guard.batch, lastBatch)
	default:
		l.log.Warn("persistent data is off for a job", "job_id", a.job.JobID, "frame", newest.frame.Number, "comparison", err)
		// A comparison that failed proves nothing, but its frames are not delivered on
		// trust.
		note := fmt.Sprintf(differs, newest.frame.Number)
		if err != nil {
			note = unchecked
		}
		l.disablePersistentData(a, note)
		if err := l.rerender(running, held); err != nil {
			l.abandonHeld(running, drainCtx, held, err)
			return
		}
	}
	for _, s := range held {
		l.finish(drainCtx, s)
	}
}

// compare renders a frame in a second process. A second process is needed because
// data survives in the first one in more places than Cycles: in a simulation's cache,
// for example.
func (l *lane) compare(ctx context.Context, s renderedFrame) (same bool, err error) {
	a := s.job
	// It is kept for the next comparison. RenderFresh makes it forget the frame before.
	if a.second == nil {
		if a.second, err = l.pool.take(ctx); err != nil {
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
	limited, cancel := context.WithTimeout(ctx, l.frameTime())
	defer cancel()
	alone, err := a.second.RenderFresh(limited, s.frame.Number, nil)
	if err != nil {
		return false, err
	}
	after, err := pixelsOf(alone, alone.Path)
	same = before == after
	if err == nil && !same && alone.Device == contract.RenderDevice {
		same = alike(s.path, alone.Path)
	}
	return same, errors.Join(err, os.Remove(alone.Path))
}

// alike reports whether two pictures of a frame differ by no more than what a GPU gives by
// chance. Pictures that only Blender reads never do.
func alike(one, other string) bool {
	a, err := os.Open(one)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := os.Open(other)
	if err != nil {
		return false
	}
	defer b.Close()
	difference, err := pixels.DifferenceOf(a, b)
	return err == nil && difference <= pixels.GPUNoise
}

// pixelsOf returns the hash by which two pictures of a frame are compared. Files may
// differ in metadata; pixels may not.
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

// rerender renders held frames again in a new process that keeps nothing. That process
// then serves the rest of the job. The leases stay the same, so the caller sees no failed
// attempt. On an error the frames that were rendered anew are given up with the others.
func (l *lane) rerender(ctx context.Context, held []renderedFrame) error {
	l.pool.clear()
	for i := range held {
		s := &held[i]
		if s.task.ctx.Err() != nil {
			continue // the lease was lost; finish drops the frame
		}
		// The first one opens the file; noData makes its guard keep nothing.
		a, err := l.openJob(ctx, s.task)
		if err != nil {
			return err
		}
		f, err := l.renderFrame(ctx, a, s.task)
		if err != nil {
			return err
		}
		// The new picture replaces the spoiled one under the same name.
		if err := os.Rename(f.Path, s.path); err != nil {
			return err
		}
		s.job, s.frame, s.switched = a, f, a.switched()
	}
	return nil
}

// abandonHeld gives up held frames that were neither compared nor rendered anew. The
// newest one counts as failed, so that a job that always fails here comes to an end;
// the others are released without a penalty.
func (l *lane) abandonHeld(running, drainCtx context.Context, held []renderedFrame, err error) {
	l.pool.clear()
	newest := held[len(held)-1]
	_ = os.Remove(newest.path) // if this fails, the next run empties the folder
	cause := context.Cause(running)
	if cause == nil && l.crowded(err) {
		cause = errApart
	}
	l.giveUp(drainCtx, newest.task, cause, err)
	l.release(drainCtx, held[:len(held)-1])
}

// releaseHeld gives frames back that were held when their process ended: nobody can
// compare them any more.
func (l *lane) releaseHeld(drainCtx context.Context) {
	if a := l.pool.open; a != nil {
		l.release(drainCtx, a.guard.held)
		a.guard.held = nil
	}
}

// release deletes the pictures of held frames and gives back their leases.
func (w *Worker) release(drainCtx context.Context, held []renderedFrame) {
	var tasks []*task
	for _, s := range held {
		_ = os.Remove(s.path)
		tasks = append(tasks, s.task)
	}
	w.giveBack(drainCtx, tasks...)
}

// rememberedFiles bounds how many files without kept data a worker remembers.
const rememberedFiles = 256

// noData holds, by the file's hash, why data is not kept. The zero value is empty; the lanes
// share it.
type noData struct {
	mu    sync.Mutex
	notes map[string]string
}

func (n *noData) remember(sum, note string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.notes == nil {
		n.notes = make(map[string]string)
	}
	if len(n.notes) >= rememberedFiles {
		clear(n.notes) // forgetting one costs a comparison, not a wrong picture
	}
	n.notes[sum] = note
}

// of returns the note of a file; "" for one whose data is kept.
func (n *noData) of(sum string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.notes[sum]
}

// disablePersistentData switches kept data off for a job, also for the next time its file
// is opened. The file's hash is the key: another job of the same file has the same scene.
func (l *lane) disablePersistentData(a *openJob, note string) {
	a.guard.note = note
	l.noData.remember(a.job.InputSHA256, note)
}

// newGuard returns the guard of a file that was just opened. A file whose data is already
// not kept needs no comparison. Otherwise Blender's own hint (Opened.HasSimulation) or the
// sample decides.
func (l *lane) newGuard(a *openJob) guard {
	note := l.noData.of(a.job.InputSHA256)
	return guard{
		watched: a.opened.KeepsData && note == "" && (a.opened.HasSimulation || sampled(a.job.JobID)),
		note:    note,
		batch:   firstBatch,
	}
}

// errInTiles gives a frame back that is to be rendered again in tiles.
var errInTiles = errors.New("a picture that was rendered whole took too much memory")

// wholeFailed reacts to a process that rendered pictures whole and ran out of memory or
// crashed: in tiles they take less. It ends the frame with errInTiles, which is no failure of
// it, once for a file.
func (l *lane) wholeFailed(running context.Context, end context.CancelCauseFunc, a *openJob, err error) {
	failed, may := lacksMemory(err)
	if !may || !a.opened.Whole || a.guard.note != "" || context.Cause(running) != nil {
		return
	}
	l.log.Warn("a frame failed that was rendered whole, and is rendered again in tiles", "code", failed.Code, "message", failed.Message)
	l.disablePersistentData(a, tooLarge)
	end(errInTiles)
}

// keptDataFailed reacts to a process that kept data and ran out of memory or crashed:
// kept data takes memory, so the next try does without it.
func (l *lane) keptDataFailed(a *openJob, err error) {
	if _, may := lacksMemory(err); may && a.opened.KeepsData && a.guard.began && a.guard.note == "" {
		l.disablePersistentData(a, tooMuch)
	}
}
