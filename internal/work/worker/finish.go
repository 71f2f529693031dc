package worker

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/ground/tracing"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/render/pixels/pngrows"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker/outbox"
)

// maxMessage bounds a failure's message as the farm API accepts it, in bytes.
const maxMessage = 1000

// mostFinishing bounds the pictures that are finished at once. Where the cores pack fewer
// than the device renders, rendering waits, and not the disk fills.
const mostFinishing = 8

// finish packs and checks a picture and puts its result into the outbox. It runs during the
// next frame, so that it costs no render time, until drainCtx ends. It owns the picture from
// here on: the picture goes with a report, or is removed now or by the next start. Run waits
// for all of them before it stops sending.
func (w *Worker) finish(drainCtx context.Context, s renderedFrame) {
	w.places <- struct{}{}
	w.finishing.Go(func() {
		defer func() { <-w.places }()
		t := s.task
		began := time.Now()
		result, err := w.packAndCheck(drainCtx, s)
		w.trace(s, time.Since(began), err)
		if drainCtx.Err() != nil && err != nil {
			w.giveUp(drainCtx, t, errStopped, err)
			return
		}
		if failed, known := errors.AsType[*blender.Error](err); known {
			w.fail(t, failed)
			return
		}
		if err != nil {
			w.fail(t, &blender.Error{Code: blender.FrameCheckFailed, Message: err.Error(), Log: s.frame.Log})
			return
		}
		// Another worker renders the frame by now, and the server would refuse this one.
		if t.ctx.Err() != nil {
			w.log.Warn("frame dropped: its lease was lost", "job_id", t.job.JobID, "frame", t.lease.Frame)
			outbox.Discard(s.path)
			return
		}
		if err := w.out.Put(outbox.Report{Frame: &result}); err != nil {
			w.log.Error("a result cannot be kept, its lease lapses", "frame", t.lease.Frame, "err", err)
			w.held.drop(t.lease.LeaseID, t.lease.Attempt)
		}
		if !t.job.Aside() {
			w.blenders.Rendered(s.frame, !t.lastInSight)
		}
	})
}

// trace reports to a collector, if there is one, how long a frame has taken.
func (w *Worker) trace(s renderedFrame, checked time.Duration, failed error) {
	frame := tracing.Frame(s.task.job.JobID, s.task.lease.Frame, s.task.lease.Attempt)
	rendered := time.Duration(s.frame.Seconds * float64(time.Second))
	tracing.Past(s.task.ctx, "frame", rendered+checked, failed != nil, frame...)
}

// packAndCheck gives a picture the compression that its scene asks for, if Blender was told to
// leave that, and checks the result.
func (w *Worker) packAndCheck(ctx context.Context, s renderedFrame) (farmapi.FrameResult, error) {
	if level := s.job.opened.Compression; level > 0 && s.task.lease.Strip == nil {
		if err := w.pack(ctx, s.path, level); err != nil {
			return farmapi.FrameResult{}, fmt.Errorf("pack the picture of frame %d: %w", s.frame.Number, err)
		}
	}
	return w.check(s)
}

// pack packs a picture at its place. A PNG of a kind that Blender does not write stays.
func (w *Worker) pack(ctx context.Context, path string, level int) error {
	from, err := os.Open(path)
	if err != nil {
		return errors.New("the picture is gone")
	}
	defer from.Close()
	to, err := os.Create(path + ".packed") // outbox.Open removes one that is left
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 1<<20)
	err = errors.Join(pngrows.Compress(out, while{ctx, from}, level, w.cfg.Cores), out.Flush(), to.Close())
	if err == nil {
		return os.Rename(to.Name(), path)
	}
	_ = os.Remove(to.Name())
	if errors.Is(err, pngrows.ErrUnsupported) {
		return nil
	}
	return err
}

// while reads until ctx ends.
type while struct {
	ctx context.Context
	io.Reader
}

func (r while) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// check reads a picture once: decoding, hashing and counting share one pass over a file
// that may have hundreds of megabytes. Errors: a *blender.Error with the code to report;
// any other means that the picture is unsound.
func (w *Worker) check(s renderedFrame) (farmapi.FrameResult, error) {
	t, f := s.task, s.frame
	file, err := os.Open(s.path)
	if err != nil {
		return farmapi.FrameResult{}, errors.New("the picture is gone")
	}
	defer file.Close()
	var size int64
	if info, err := file.Stat(); err == nil {
		size = info.Size()
	}
	sum := sha256.New()
	in := &counter{r: io.TeeReader(file, sum)}
	picture, err := pixels.ReadWithin(in, pixels.Limits{Size: size})
	if err == nil && f.PixelSHA256 != "" && picture.Comparable && !picture.Has(f.PixelSHA256) {
		err = errors.New("its pixels are not those that Blender read back")
	}
	if err != nil {
		return farmapi.FrameResult{}, fmt.Errorf("the picture of frame %d: %w", f.Number, err)
	}
	// A decoder stops at the end of the picture; the hash is over the whole file.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return farmapi.FrameResult{}, fmt.Errorf("read the picture of frame %d: %w", f.Number, err)
	}
	if in.n == 0 {
		return farmapi.FrameResult{}, fmt.Errorf("the picture of frame %d is empty", f.Number)
	}
	if bad := frameDefect(t.lease.Frame, w.self.Device, f, picture); bad != nil {
		return farmapi.FrameResult{}, bad
	}
	outputs, err := checkOutputs(s)
	if err != nil {
		return farmapi.FrameResult{}, err
	}
	info := s.job.Info()
	return farmapi.FrameResult{
		WorkerID: w.id(), LeaseID: t.lease.LeaseID, Attempt: t.lease.Attempt, JobID: t.job.JobID,
		Frame: f.Number, File: fileOf(t, f), SHA256: hex.EncodeToString(sum.Sum(nil)), PixelSHA256: cmp.Or(f.PixelSHA256, picture.SHA256),
		SizeBytes: in.n, Width: f.Width, Height: f.Height, RenderSeconds: f.Seconds,
		Played: t.played, PlaySeconds: t.playTime.Seconds(),
		Device: f.Device, DeviceName: f.DeviceName, BlenderVersion: info.Version, BlenderBuildHash: info.BuildHash,
		Switched: s.switched, Log: f.Log, Full: fullFrame(s), Bands: s.job.bands, Settings: s.job.job.Settings, Times: timesOf(t, f), Defects: defectsOf(f, picture),
		Joined: t.lease.Finish != nil, Outputs: outputs,
	}, nil
}

// fileOf is the name under which a picture is delivered. A strip has that of its frame.
func fileOf(t *task, f blender.Frame) string {
	if t.lease.Strip != nil {
		return fmt.Sprintf("frame_%04d%s", f.Number, filepath.Ext(f.Path))
	}
	return filepath.Base(f.Path)
}

// defectsOf are what Blender saw in pixels that only it decodes.
func defectsOf(f blender.Frame, picture pixels.Picture) *farmapi.Defects {
	if picture.Decoded || f.Defects == nil {
		return nil
	}
	return new(farmapi.Defects(*f.Defects))
}

// timesOf are the parts of a frame's time, nil if its renderer does not report them.
func timesOf(t *task, f blender.Frame) *farmapi.FrameTimes {
	if f.Started.IsZero() {
		return nil
	}
	sync, encode := f.Sync.Seconds(), f.Encode.Seconds()
	return &farmapi.FrameTimes{
		Load: (t.openTime + f.Load).Seconds(), Sync: sync, Render: max(0, f.Seconds-sync-encode), Encode: encode, Transfer: t.fetchTime.Seconds(),
		Waiting: max(0, f.Started.Sub(t.leased)-t.fetchTime-t.openTime-f.Load-t.playTime).Seconds(),
	}
}

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// fail puts a failure into the outbox. When the outbox cannot keep it, the server
// learns of it by the lease's expiry.
func (w *Worker) fail(t *task, e *blender.Error) {
	w.log.Warn("frame failed", "job_id", t.job.JobID, "frame", t.lease.Frame, "attempt", t.lease.Attempt, "code", e.Code, "final", e.Final, "message", e.Message)
	err := w.out.Put(outbox.Report{Fail: &farmapi.FailRequest{
		WorkerID: w.id(), LeaseID: t.lease.LeaseID, Attempt: t.lease.Attempt,
		Code: e.Code, Message: e.Message[:min(len(e.Message), maxMessage)], Log: e.Log, Final: e.Final,
	}})
	if err != nil {
		w.log.Error("a failure cannot be kept, its lease lapses", "frame", t.lease.Frame, "err", err)
		w.held.drop(t.lease.LeaseID, t.lease.Attempt)
	}
}
