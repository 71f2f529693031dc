package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/strips"
)

// Stripper is a Session that renders strips of frames, and makes frames of strips. Its methods
// overlap with no render.
type Stripper interface {
	Session
	// RenderStrip renders the rows s.Held of a frame to an OpenEXR file of raw passes.
	RenderStrip(ctx context.Context, frame int, s strips.Strip, progress func(float64)) (blender.Frame, error)
	// Finish makes a frame of strips, from the top; nothing of it is rendered again.
	Finish(ctx context.Context, frame int, parts []strips.Strip, progress func(float64)) (blender.Frame, error)
	// Undivided says why no strips may be rendered of the open scene (strips.Reason); "" where they
	// may.
	Undivided(ctx context.Context) (reason string, err error)
}

// blenderSession is a Blender as a Stripper.
type blenderSession struct {
	*blender.Process
	dir string // for joined strips
}

// RenderStrip implements Stripper.
func (b blenderSession) RenderStrip(ctx context.Context, frame int, s strips.Strip, progress func(float64)) (blender.Frame, error) {
	return b.Strip(ctx, frame, s.Held.From, s.Held.To, progress)
}

// Finish implements Stripper. Errors: those of blender.Process.Finish; frame_check_failed for strips
// that do not fit together.
func (b blenderSession) Finish(ctx context.Context, frame int, parts []strips.Strip, _ func(float64)) (blender.Frame, error) {
	dir, err := os.MkdirTemp(b.dir, "joined-")
	if err != nil {
		return blender.Frame{}, fmt.Errorf("make a folder for joined strips: %w", err)
	}
	defer os.RemoveAll(dir)
	joined := filepath.Join(dir, "joined.exr")
	if err := strips.Join(joined, parts); err != nil {
		return blender.Frame{}, &blender.Error{Code: blender.FrameCheckFailed, Message: "the strips cannot be joined: " + err.Error()}
	}
	f, err := b.Process.Finish(ctx, frame, joined)
	if err == nil && f.Sampling > 0 {
		err = &blender.Error{Code: blender.FrameCheckFailed, Message: "Blender rendered the picture again instead of taking its strips", Log: f.Log}
	}
	return f, err
}

// triedStrips is in how many strips a picture is rendered that took too much memory although it
// was expected to fit.
const triedStrips = 16

// leastDivided is the picture, in bytes of its passes, from which on strips are tried for want of
// memory. A smaller one is not what takes it.
const leastDivided = 64 << 20

// errInStrips gives a frame back that is to be rendered again in strips.
var errInStrips = errors.New("the picture took too much memory in one piece")

// divide decides, of a file that was just opened, whether its pictures are rendered in strips:
// where Blender says so, or where an earlier one took too much memory.
func (l *slot) divide(ctx context.Context, a *openJob) error {
	s, ok := a.Session.(Stripper)
	if _, failed := l.divided.of(a.job.InputSHA256); !failed || !ok || a.opened.Strips > 0 {
		return nil
	}
	reason, err := s.Undivided(ctx)
	if err == nil && reason == "" {
		a.opened.Strips = min(triedStrips, a.opened.Rows)
	}
	return err
}

// dividedInstead reacts to a picture for which memory was too small, on the device for example:
// the next try is in strips. It reports whether there is one, once for a file.
func (l *slot) dividedInstead(a *openJob, err error) bool {
	failed, may := lacksMemory(err)
	if !may || failed.Code != blender.OutOfMemory || a.opened.Strips > 0 || 4*a.opened.Width*a.opened.Height*a.opened.Channels < leastDivided {
		return false
	}
	if _, ok := a.Session.(Stripper); !ok {
		return false
	}
	if _, known := l.divided.of(a.job.InputSHA256); known {
		return false
	}
	l.divided.remember(a.job.InputSHA256, "")
	l.log.Warn("a picture took too much memory, and is rendered again in strips if its scene allows that", "job_id", a.job.JobID, "message", failed.Message)
	return true
}

// renderInStrips renders a frame whose picture does not fit into memory: strips of it, one after
// the other, and then the picture of them. If strips differ at a cut, they are rendered again
// with wider overlap.
func (l *slot) renderInStrips(ctx context.Context, s Stripper, a *openJob, t *task) (f blender.Frame, err error) {
	for _, overlap := range []int{strips.OverlapAdaptive, strips.OverlapWide} {
		if f, err = l.renderDivided(ctx, s, a, t, overlap); !errors.Is(err, strips.ErrSeam) {
			return f, err
		}
		l.log.Warn("strips of a frame differ at their cut", "job_id", t.job.JobID, "frame", t.lease.Frame, "overlap", overlap, "err", err)
	}
	return f, &blender.Error{Code: blender.FrameCheckFailed, Message: "the picture does not fit into memory, and its strips do not fit together: " + err.Error(), Log: f.Log}
}

func (l *slot) renderDivided(ctx context.Context, s Stripper, a *openJob, t *task, overlap int) (sum blender.Frame, err error) {
	dir, err := os.MkdirTemp(l.dirs.projects, "strips-")
	if err != nil {
		return sum, errors.Join(errUnable, err)
	}
	defer os.RemoveAll(dir)
	var parts []strips.Strip
	cuts := strips.Cut(a.opened.Rows, a.opened.Strips, nil, 0)
	for i, rows := range cuts {
		part := strips.Strip{Rows: rows, Held: rows.Wider(overlap, a.opened.Rows), GPU: l.cfg.Device == blender.GPU, Path: filepath.Join(dir, fmt.Sprintf("strip_%d.exr", i))}
		f, err := s.RenderStrip(ctx, t.lease.Frame, part, func(share float64) { t.advance((float64(i) + share) / float64(len(cuts)+1)) })
		if err == nil {
			err = os.Rename(f.Path, part.Path)
		}
		if err == nil && i > 0 {
			err = strips.Seams(parts[i-1], part)
		}
		addTimes(&sum, f)
		if err != nil {
			return sum, err
		}
		parts = append(parts, part)
	}
	f, err := s.Finish(ctx, t.lease.Frame, parts, nil)
	addTimes(&sum, f)
	f.Seconds, f.Started, f.Sampling, f.Sync, f.Load = sum.Seconds, sum.Started, sum.Sampling, sum.Sync, sum.Load
	f.Memory, f.DeviceMemory = sum.Memory, sum.DeviceMemory
	note := fmt.Sprintf("svc: the picture was rendered in %d strips, one after the other, because of its size\n", len(parts))
	f.Log = note + f.Log[max(0, len(f.Log)+len(note)-blender.FrameLogBytes):]
	return f, err
}

// addTimes adds what a part of a frame took to the whole.
func addTimes(sum *blender.Frame, f blender.Frame) {
	if sum.Started.IsZero() {
		sum.Started = f.Started
	}
	sum.Seconds += f.Seconds
	sum.Sampling += f.Sampling
	sum.Sync += f.Sync
	sum.Load += f.Load
	sum.Memory, sum.DeviceMemory = max(sum.Memory, f.Memory), max(sum.DeviceMemory, f.DeviceMemory)
}
