package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/worker/blenders"
	"svc.example/internal/work/worker/outbox"
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

// guard checks that Blender's persistent data does not change pixels. Blender keeps data
// only of scenes for which that is proven (blender.Opened.KeepsData); the guard is there for
// what the proof has missed. The first frame of a process is right, because nothing is kept
// yet. The second one is compared with one rendered without kept data before it is
// delivered, once for each file: what spoils a frame stays in the process and shows at once.
// A guard belongs to one open file in one process. What it finds out outlives it in
// Worker.verdicts.
type guard struct {
	watched bool   // the next frame is compared
	began   bool   // the process has rendered a frame
	note    string // why data is no longer kept; "" while it is
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
func (l *slot) renderFrame(ctx context.Context, a *openJob, t *task) (blender.Frame, error) {
	ctx, cancel := context.WithTimeout(ctx, l.frameTime())
	defer cancel()
	if isPart(t.lease) {
		return l.renderPart(ctx, a, t)
	}
	if s, ok := a.Session.(Stripper); ok && a.opened.Strips > 0 {
		return l.renderInStrips(ctx, s, a, t)
	}
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
	if a.guard.note != "" && a.opened.KeepsData { // otherwise none was kept
		all = append(all, persistentDataOff)
		slices.Sort(all)
	}
	return all
}

// deliver moves a picture out of Blender's folder and finishes the frame. One that its guard
// watches is compared first.
func (l *slot) deliver(ctx, drainCtx context.Context, a *openJob, t *task, f blender.Frame) {
	// At once, because the next frame may get the same name in Blender's folder.
	path, err := l.out.MoveIn(t.lease, f)
	if err != nil {
		l.log.Error("a picture cannot be taken", "frame", t.lease.Frame, "err", err)
		l.fail(t, &blender.Error{Code: blender.FrameCheckFailed, Message: "Blender's picture is not where it should be", Log: f.Log})
		return
	}
	s := renderedFrame{t, a, f, path, a.switched()}
	if isPart(t.lease) { // nothing is kept of it
		l.finish(drainCtx, s)
		return
	}
	first := !a.guard.began
	a.guard.began = true
	if first || !a.guard.watched {
		l.finish(drainCtx, s)
		return
	}
	l.compareAndFinish(ctx, drainCtx, s)
}

// compareAndFinish renders a frame again in a process that never kept data. With equal
// pixels the file is proven. Otherwise the frame is rendered again, and its file keeps no
// data on this worker from then on. The end of ctx stops the comparison.
func (l *slot) compareAndFinish(ctx, drainCtx context.Context, s renderedFrame) {
	a := s.job
	a.guard.watched = false
	running, end := context.WithCancelCause(s.task.ctx)
	defer end(nil)
	stop := context.AfterFunc(ctx, func() { end(errStopped) })
	defer stop()
	same, err := l.compare(running, s)
	if running.Err() != nil { // the lease is lost or the worker stops: nothing is proven
		l.abandon(running, drainCtx, s, err)
		return
	}
	if same {
		l.verdicts.remember(a.job.InputSHA256, "")
		l.finish(drainCtx, s)
		return
	}
	l.log.Warn("persistent data is off for a job", "job_id", a.job.JobID, "frame", s.frame.Number, "comparison", err)
	// A comparison that failed proves nothing, but its frame is not delivered on trust.
	note := fmt.Sprintf(differs, s.frame.Number)
	if err != nil {
		note = unchecked
	}
	l.disablePersistentData(a, note)
	if err := l.rerender(running, &s); err != nil {
		l.abandon(running, drainCtx, s, err)
		return
	}
	l.finish(drainCtx, s)
}

// compare renders a frame in a second process. A second process is needed because
// data survives in the first one in more places than Cycles.
func (l *slot) compare(ctx context.Context, s renderedFrame) (same bool, err error) {
	second, err := l.sessionFor(ctx, s.job.files.input)
	if err != nil {
		return false, err
	}
	defer l.pool.left.Go(func() { _ = second.Close() }) // the next run empties its folder too
	if _, err := second.Open(ctx, s.job.files.input); err != nil {
		return false, err
	}
	before, err := pixelsOf(s.frame, s.path)
	if err != nil {
		return false, err
	}
	limited, cancel := context.WithTimeout(ctx, l.frameTime())
	defer cancel()
	alone, err := second.RenderFresh(limited, s.frame.Number, nil)
	if err != nil {
		return false, err
	}
	after, err := pixelsOf(alone, alone.Path)
	same = before == after
	if err == nil && !same && alone.Device == contract.RenderDevice {
		same = alike(s.path, alone.Path)
	}
	return same, errors.Join(err, os.Remove(alone.Path), os.RemoveAll(alone.OutputDir))
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

// rerender renders a frame again in a new process that keeps nothing. That process
// then serves the rest of the job. The lease stays the same, so the caller sees no failed
// attempt.
func (l *slot) rerender(ctx context.Context, s *renderedFrame) error {
	l.pool.clear()
	a, err := l.openJob(ctx, s.task) // the verdict makes its guard keep nothing
	if err != nil {
		return err
	}
	f, err := l.renderFrame(ctx, a, s.task)
	if err != nil {
		return err
	}
	// The new picture replaces the spoiled one under the same name.
	if _, err := l.out.MoveIn(s.task.lease, f); err != nil {
		return err
	}
	s.job, s.frame, s.switched = a, f, a.switched()
	return nil
}

// abandon gives up a frame that was neither compared nor rendered again. It counts as
// failed, so that a job that always fails here comes to an end.
func (l *slot) abandon(running, drainCtx context.Context, s renderedFrame, err error) {
	l.pool.clear()
	outbox.Discard(s.path)
	cause := context.Cause(running)
	if cause == nil && l.crowded(err) {
		cause = blenders.ErrAlone
	}
	l.giveUp(drainCtx, s.task, cause, err)
}

// rememberedFiles bounds how many files a worker remembers a verdict of.
const rememberedFiles = 256

// verdicts holds, by a file's hash, what comparisons said of its kept data: "" where the
// pixels were equal, otherwise why none is kept. The zero value is empty; the slots share it.
type verdicts struct {
	mu    sync.Mutex
	notes map[string]string
}

func (v *verdicts) remember(sum, note string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.notes == nil {
		v.notes = make(map[string]string)
	}
	if len(v.notes) >= rememberedFiles {
		clear(v.notes) // forgetting one costs a comparison, not a wrong picture
	}
	v.notes[sum] = note
}

// of returns the verdict of a file; known is false for one that was not compared.
func (v *verdicts) of(sum string) (note string, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	note, known = v.notes[sum]
	return note, known
}

// disablePersistentData switches kept data off for a job, also for the next time its file
// is opened. The file's hash is the key: another job of the same file has the same scene.
func (l *slot) disablePersistentData(a *openJob, note string) {
	a.guard.note = note
	l.verdicts.remember(a.job.InputSHA256, note)
}

// newGuard returns the guard of a file that was just opened. Every file of which data is
// kept is watched until it was compared once.
func (l *slot) newGuard(a *openJob) guard {
	note, known := l.verdicts.of(a.job.InputSHA256)
	return guard{watched: a.opened.KeepsData && !known && a.opened.Strips == 0, note: note}
}

// errInTiles gives a frame back that is to be rendered again in tiles.
var errInTiles = errors.New("a picture that was rendered whole took too much memory")

// wholeFailed reacts to a process that rendered pictures whole and ran out of memory or
// crashed: in tiles they take less. It ends the frame with errInTiles, which is no failure of
// it, once for a file.
func (l *slot) wholeFailed(running context.Context, end context.CancelCauseFunc, a *openJob, err error) {
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
func (l *slot) keptDataFailed(a *openJob, err error) {
	if _, may := lacksMemory(err); may && a.opened.KeepsData && a.guard.began && a.guard.note == "" {
		l.disablePersistentData(a, tooMuch)
	}
}
