package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/measure"
	"svc.example/internal/work/farmapi"
)

// errFrameCame ends a preview: frames are paid for.
var errFrameCame = errors.New("a frame has come")

// preview renders a free preview, the reference of a benchmark's challenge or a reused frame, or
// encodes a movie. Meanwhile the worker asks for frames as an idle one does, and gives the preview back at once when some come. The process of an open job
// ends first: none of its frames is in sight, and two scenes need not fit into the memory.
// Before it returns an error, it has reported or given back the lease.
func (l *slot) preview(ctx, drainCtx context.Context, q *frameQueue, t *task) error {
	l.pool.clear()
	running, end := context.WithCancelCause(t.ctx)
	defer end(nil)
	stop := context.AfterFunc(ctx, func() { end(errStopped) })
	defer stop()
	// Until it is done, pool and cache are its own.
	done := make(chan error, 1)
	go func() { done <- l.renderPreview(running, drainCtx, t) }()
	var came *leaseReply
	for came == nil {
		if q.pending == nil && ctx.Err() == nil {
			l.requestFrames(ctx, q, 1, pollDuration, 0)
		}
		select {
		case err := <-done:
			return l.endPreview(running, drainCtx, t, err)
		case got := <-q.pending: // a nil channel is never ready
			q.pending = nil
			if len(got.reply.Leases) > 0 {
				came = &got
			}
		}
	}
	if !came.reply.Job.Aside() {
		end(errFrameCame)
	}
	err := l.endPreview(running, drainCtx, t, <-done)
	l.enqueue(q, *came)
	return err
}

// endPreview reports a preview that was not rendered.
func (l *slot) endPreview(running, drainCtx context.Context, t *task, err error) error {
	if err != nil {
		l.encodes = l.encodes && !lacksEncoder(err)
		l.giveUp(drainCtx, t, context.Cause(running), err)
	}
	return err
}

// renderPreview does such work in a process of its own and passes its result on. Errors: those
// of fetch and of Session, errUnable.
func (l *slot) renderPreview(ctx, drainCtx context.Context, t *task) error {
	if t.job.Movie != nil {
		return l.encodeMovie(ctx, t)
	}
	files, limit, err := l.layAside(ctx, t.job)
	if err != nil {
		return err
	}
	start := ctx
	if files.input.Settings.OCIO != "" { // what it reads at its start is the caller's
		var cancel context.CancelFunc
		start, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	session, err := l.sessionFor(start, files.input)
	if err != nil {
		files.remove()
		return inTime(start, t.job.Preview, err)
	}
	a := &openJob{Session: session, job: t.job, files: files}
	defer l.pool.retire(a)
	if l.cfg.Device == blender.GPU {
		l.pool.warm() // for the next frame; on a CPU it would take cores from the preview
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if a.opened, err = session.Open(limited, files.input); err != nil {
		return inTime(limited, t.job.Preview, err)
	}
	t.begin(a.opened.Plays)
	f, err := session.Render(limited, t.lease.Frame, t.advance)
	if err != nil {
		return inTime(limited, t.job.Preview, err)
	}
	path, err := l.out.MoveIn(t.lease, f)
	if err != nil {
		return &blender.Error{Code: blender.FrameCheckFailed, Message: "Blender's picture is not where it should be", Log: f.Log}
	}
	l.log.Info("rendered between frames", "id", t.job.JobID, "frame", f.Number, "seconds", f.Seconds)
	a.bands = l.measureBands(limited, a, f)
	l.finish(drainCtx, renderedFrame{t, a, f, path, a.opened.Switched})
	return nil
}

// measureBands returns what the bands of a preview take; nil where no frame is worth cutting, or
// where they cannot be measured: the preview is good without them.
func (l *slot) measureBands(ctx context.Context, a *openJob, f blender.Frame) []float64 {
	order, full := a.job.Preview, a.opened.Full
	measuring, ok := a.Session.(Measuring)
	if !ok || order == nil || full == nil || order.BandsAbove <= 0 || f.Width*f.Height <= 0 {
		return nil
	}
	pixels := float64(full.Width) * float64(full.Height) / float64(f.Width*f.Height)
	samples := float64(full.Samples) / float64(max(1, min(full.Samples, order.Samples)))
	if f.Seconds*pixels*samples <= order.BandsAbove {
		return nil
	}
	// Together they take about as long as the picture did.
	limited, cancel := context.WithTimeout(ctx, time.Duration(2*f.Seconds*float64(time.Second))+2*time.Second)
	defer cancel()
	bands, err := measuring.Bands(limited, f.Number, strips.MostBands)
	if err != nil {
		l.log.Warn("the bands of a preview could not be measured", "id", a.job.JobID, "error", err)
		return nil
	}
	return bands
}

// referenceTime bounds a reference render: 8 samples, on the slowest processor.
const referenceTime = 10 * time.Minute

// layAside gets what a preview, a reference render or a reused frame needs, and how long it may take. The
// caller removes the files.
func (l *slot) layAside(ctx context.Context, job farmapi.Job) (f files, limit time.Duration, err error) {
	if p := job.Preview; p != nil {
		f, err = l.fetch(ctx, job)
		f.input.Preview, f.input.Settings = &blender.Preview{Side: p.Side, Samples: p.Samples}, job.Settings
		return f, time.Duration(p.Seconds * float64(time.Second)), err
	}
	if job.Again {
		f, err = l.fetch(ctx, job)
		f.input.Scene, f.input.Settings, f.input.Frames = job.Scene, job.Settings, framesOf(job)
		return f, l.frameTime(), err
	}
	if f.dir, err = os.MkdirTemp(l.dirs.projects, "reference-"); err != nil {
		return f, 0, errors.Join(errUnable, err)
	}
	if f.input, err = measure.Shot(f.dir, benchmark.Challenge(*job.Reference)); err != nil {
		f.remove()
	}
	return f, referenceTime, err
}

// inTime names the bound of a preview where that has ended it.
func inTime(limited context.Context, order *farmapi.Preview, err error) error {
	failed, known := errors.AsType[*blender.Error](err)
	if !known || order == nil || !errors.Is(limited.Err(), context.DeadlineExceeded) {
		return err
	}
	return &blender.Error{Code: blender.FrameTimeExceeded, Log: failed.Log, Message: fmt.Sprintf(
		"the scene takes longer than the %g s of a preview, at %d pixels and %d samples", order.Seconds, order.Side, order.Samples)}
}

// fullFrame describes a frame that is no preview, for the delivery of one.
func fullFrame(s renderedFrame) *farmapi.FullFrame {
	full := s.job.opened.Full
	if full == nil {
		return nil
	}
	return &farmapi.FullFrame{
		Width: full.Width, Height: full.Height, Samples: full.Samples, LeastSamples: full.LeastSamples, SamplingSeconds: s.frame.Sampling.Seconds(),
	}
}
