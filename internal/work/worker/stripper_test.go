package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels/exr"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/worker"
)

// divider is a painter that also paints strips.
type divider struct {
	*painter
	strips int              // in how many its pictures have to be rendered, as Blender says
	cannot string           // why they cannot
	wrong  func(n int) bool // whether the strip that is rendered as number n is of another picture

	rows     []strips.Rows // of the strips that were rendered, with what reaches into others
	finished int
}

func (d *divider) Start(ctx context.Context, opts blender.Options) (worker.Session, error) {
	s, err := d.painter.Start(ctx, opts)
	if err != nil {
		return nil, err
	}
	return dividing{s.(*painting), d}, nil
}

type dividing struct {
	*painting
	of *divider
}

func (d dividing) Open(ctx context.Context, in blender.Input) (blender.Opened, error) {
	opened, err := d.painting.Open(ctx, in)
	opened.Width, opened.Height, opened.Rows, opened.Channels, opened.Strips = 8192, 8192, 6, 4, d.of.strips
	return opened, err
}

func (d dividing) Undivided(context.Context) (string, error) { return d.of.cannot, nil }

func (d dividing) RenderStrip(_ context.Context, frame int, s strips.Strip, progress func(float64)) (blender.Frame, error) {
	d.of.rows = append(d.of.rows, s.Held)
	other := d.of.wrong != nil && d.of.wrong(len(d.of.rows))
	progress(1)
	f := blender.Frame{Number: frame, Seconds: 1, Path: filepath.Join(d.out, fmt.Sprintf("strip_%04d.exr", frame))}
	return f, paintStrip(f.Path, s.Held, other)
}

// paintStrip writes rows of zeros, or of light.
func paintStrip(path string, rows strips.Rows, light bool) error {
	like, err := os.Open("../../render/pixels/testdata/blender/open_exr_rgba_32_none.exr")
	if err != nil {
		return err
	}
	defer like.Close()
	e, err := exr.NewReader(like, strips.MaxMemory)
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w, err := exr.NewWriter(file, e, rows.Height())
	for range rows.Height() {
		row := make([]byte, e.RowBytes)
		for i := 3; light && i < len(row); i += 4 {
			row[i] = 0x3f // 0.5
		}
		err = errors.Join(err, w.Row(row))
	}
	return errors.Join(err, w.Close())
}

func (d dividing) Finish(_ context.Context, frame int, parts []strips.Strip, _ func(float64)) (blender.Frame, error) {
	d.of.finished++
	joined := filepath.Join(d.out, "joined.exr")
	if err := errors.Join(strips.Join(joined, parts), os.Remove(joined)); err != nil {
		return blender.Frame{}, err
	}
	return d.done(blender.Frame{Number: frame, Format: "PNG", Width: 8, Height: 6, Seconds: 1, Device: d.kind, DeviceName: "Test GPU"}, frame)
}

// A picture for which memory is too small is rendered in strips and delivered as any other, with
// the time of all of them. Of two that overlap wrongly, all are rendered again with more overlap.
func TestAPictureLargerThanTheMemoryIsRenderedInStrips(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, d := newServer(2), &divider{painter: newPainter(), strips: 3}
		d.keeps = true // kept data is of a whole picture
		d.wrong = func(n int) bool { return n == 2 }
		b := newBench(t, s, d)
		stop := b.run()
		defer stop()
		b.untilDelivered(2)
		for _, f := range s.jobs[0].frames {
			if f.done.PixelSHA256 != pixelsOf(t, f.number) || f.attempt != 1 || !strings.Contains(f.done.Log, "rendered in 3 strips") {
				t.Errorf("frame %d: attempt %d, %+v", f.number, f.attempt, f.done)
			}
		}
		if got := s.jobs[0].frames[1].done.RenderSeconds; got != 4 {
			t.Errorf("a frame of three strips and a finish took %v s of rendering, want the sum of four", got)
		}
		if d.finished != 2 || len(d.began) != 0 || len(d.rows) != 2+3+3 {
			t.Errorf("%d finished, %d rendered in one piece, strips of the rows %v", d.finished, len(d.began), d.rows)
		}
	})
}

func TestStripsThatNeverFitFailTheirFrame(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, d := newServer(1), &divider{painter: newPainter(), strips: 2}
		d.wrong = func(n int) bool { return n%2 == 0 }
		b := newBench(t, s, d)
		stop := b.run()
		defer stop()
		b.until(func() bool { return len(s.fails) == 1 })
		if f := s.fails[0]; f.Code != blender.FrameCheckFailed || !strings.Contains(f.Message, "row 3") || d.finished != 0 {
			t.Errorf("%+v; %d finished", f, d.finished)
		}
	})
}

// Nobody knows how much memory a device has left. The picture that took too much is given back
// once, without a failed attempt, and tried in strips if its scene allows that.
func TestAPictureThatTookTooMuchMemoryIsTriedInStrips(t *testing.T) {
	for name, cannot := range map[string]string{"it may be cut": "", "it may not": "denoising"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, d := newServer(1), &divider{painter: newPainter(), cannot: cannot}
				d.fault = func(int) error { return &blender.Error{Code: blender.OutOfMemory, Message: "out of GPU memory"} }
				b := newBench(t, s, d)
				stop := b.run()
				defer stop()
				b.until(func() bool { return len(s.delivered())+len(s.fails) == 1 })
				if inStrips := len(s.fails) == 0; inStrips != (cannot == "") || len(s.released) != 1 || inStrips != (len(d.rows) == 6) {
					t.Errorf("failed %+v, given back %v, strips %v", s.fails, s.released, d.rows)
				}
				if slices.Contains(d.fresh, 1) {
					t.Error("it was rendered without kept data, which it had not")
				}
			})
		})
	}
}
