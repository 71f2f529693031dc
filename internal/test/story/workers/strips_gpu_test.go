package workers_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels/exr"
	"svc.example/internal/render/strips"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// card renders like a GPU: the last bits of each strip are chance. light is what its pictures have
// more of than they should.
type card struct {
	synthetic.Renderer
	light float64
}

const cardName = "Story GPU"

func (c card) Start(ctx context.Context, options blender.Options) (worker.Session, error) {
	s, err := c.Renderer.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	return cardSession{s.(worker.Stripper), c.light}, nil
}

type cardSession struct {
	worker.Stripper
	light float64
}

func (c cardSession) Info() blender.Info {
	info := c.Stripper.Info()
	info.Synthetic, info.Version, info.Devices = false, contract.BlenderVersion, []blender.DeviceInfo{{Type: "CUDA", Name: cardName}}
	return info
}

func onCard(f blender.Frame, err error) (blender.Frame, error) {
	f.Device, f.DeviceName = contract.RenderDevice, cardName
	return f, err
}

func (c cardSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return onCard(c.Stripper.Render(ctx, frame, progress))
}

func (c cardSession) RenderFresh(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return onCard(c.Stripper.RenderFresh(ctx, frame, progress))
}

func (c cardSession) Finish(ctx context.Context, frame int, parts []strips.Strip, progress func(float64)) (blender.Frame, error) {
	return onCard(c.Stripper.Finish(ctx, frame, parts, progress))
}

func (c cardSession) RenderStrip(ctx context.Context, frame int, s strips.Strip, progress func(float64)) (blender.Frame, error) {
	f, err := onCard(c.Stripper.RenderStrip(ctx, frame, s, progress))
	if err == nil {
		err = c.disturb(f.Path)
	}
	return f, err
}

// disturb changes the last bits of all values of a strip by chance.
func (c cardSession) disturb(path string) error {
	exact, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	in, err := exr.NewReader(bytes.NewReader(exact), strips.MaxMemory)
	if err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := exr.NewWriter(out, in, in.Height)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	err = in.Rows(0, in.Height, func(_ int, values []byte) error {
		row := make([]byte, 0, len(values))
		for ; len(values) >= 4; values = values[4:] {
			value := float64(math.Float32frombits(binary.LittleEndian.Uint32(values)))
			row = binary.LittleEndian.AppendUint32(row, math.Float32bits(float32(value*(1+c.light+float64(rand.IntN(5)-2)/(1<<23)))))
		}
		return w.Row(row)
	})
	return errors.Join(err, w.Close(), out.Close())
}

func onGPU(c *worker.Config) { c.Device = blender.GPU }

// GPUs do not repeat themselves to the bit. Strips of them that agree but for that are joined, and
// the receipt says so; everything else of the job is as with processors.
func TestStripsOfGPUsThatDifferInTheirLastBitsAreJoined(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		var log story.Logged
		config.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))
		config.SplitAbove = new(100 * time.Millisecond)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		for range 3 { // so slow that each has asked before the first one is done
			svc.Worker(card{Renderer: synthetic.Renderer{FrameTime: 6 * time.Second}}, onGPU)
		}
		job, divided := stillOf(t, svc, c, 3)
		if len(divided) != 3 {
			t.Errorf("it was rendered in %d strips", len(divided))
		}
		if log.Has("level=WARN", "do not agree at a cut") {
			t.Error("their noise was taken for a fault")
		}
		wantPainted(t, svc.Frames(job.JobID)[0])
		if said := string(c.Proven(job).Receipt.Members); strings.Count(said, `"alike":true`) != 2 {
			t.Errorf("the receipt says %s", said)
		}
		svc.SettledOnce(c, 1)
		c.VerifiedZIP(job)
	})
}

// A GPU whose pictures have one percent more light than those of others is found at the cut, and
// others render its strip.
func TestAStripOfAGPUWithOtherLightIsRenderedByOthers(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		var log story.Logged
		config.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))
		config.SplitAbove = new(100 * time.Millisecond)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		lies := make(chan struct{})
		svc.Worker(card{synthetic.Renderer{FrameTime: 6 * time.Second}, 0.01}, onGPU, func(c *worker.Config) {
			c.Farm = &firstStrip{Farm: c.Farm, taken: lies}
		})
		for range 3 { // they ask for strips when the other one has one
			svc.Worker(card{Renderer: synthetic.Renderer{FrameTime: 600 * time.Millisecond}}, onGPU, func(c *worker.Config) { c.Farm = &later{c.Farm, lies} })
		}
		job, _ := stillOf(t, svc, c, 4)
		if !log.Has("level=WARN", "do not agree at a cut") {
			t.Error("the operator is not told")
		}
		wantPainted(t, svc.Frames(job.JobID)[0])
		svc.SettledOnce(c, 1)
	})
}
