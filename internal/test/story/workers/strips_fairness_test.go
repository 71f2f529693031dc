package workers_test

import (
	"context"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/strips"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// gate is a renderer that begins a strip when a story lets it, one for each value of let.
type gate struct {
	synthetic.Renderer
	reached, let chan struct{}
}

func (g gate) Start(ctx context.Context, options blender.Options) (worker.Session, error) {
	s, err := g.Renderer.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	return gatedSession{s.(worker.Stripper), g}, nil
}

type gatedSession struct {
	worker.Stripper
	gate
}

func (g gatedSession) RenderStrip(ctx context.Context, frame int, s strips.Strip, progress func(float64)) (blender.Frame, error) {
	g.reached <- struct{}{}
	select {
	case <-g.let:
	case <-ctx.Done():
		return blender.Frame{}, ctx.Err()
	}
	return g.Stripper.RenderStrip(ctx, frame, s, progress)
}

// All workers render the strips of a still. Another workspace orders three frames: its place in
// the queue is the next one, and the first worker whose strip is in renders all of them, while
// the other strips are still being rendered.
func TestAStillInStripsStarvesNobody(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic, config.SplitAbove = true, new(100*time.Millisecond)
		svc := story.Start(t, config)
		mine, other := svc.Caller(story.Credit), svc.Caller(story.Credit)
		reached, let := make(chan struct{}, 10), make(chan struct{}, 3)
		for range 3 {
			svc.Worker(gate{synthetic.Renderer{FrameTime: 600 * time.Millisecond}, reached, let})
		}
		quoted := mine.QuotePreviewed(apptest.PlainScene(t))
		svc.AwaitIdle(3)
		still, err := mine.Take(quoted)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			await.Next(t, reached, "a strip")
		}
		get := func(c story.Caller, jobID string) *client.Job {
			t.Helper()
			got, err := c.Job(t.Context(), jobID)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		frames := other.StartFrames(3)
		await.Until(t, "the other one's place in the queue", func() bool {
			got := get(other, frames.JobID)
			return got.QueuePosition != nil && *got.QueuePosition == 1 && got.WaitingReason == "workers_busy"
		})
		let <- struct{}{}
		other.Await(frames.JobID, client.StatusCompleted)
		got := get(mine, still.JobID)
		if got.Status != client.StatusRendering || got.QueuePosition != nil || got.ETASeconds == nil || *got.ETASeconds > 0.6 {
			t.Errorf("the still is %s, in place %v, expected in %v s", got.Status, got.QueuePosition, got.ETASeconds)
		}
		let <- struct{}{}
		let <- struct{}{}
		mine.Await(still.JobID, client.StatusCompleted)
		wantPainted(t, svc.Frames(still.JobID)[0])
		svc.SettledOnce(mine, 1)
		svc.SettledOnce(other, 3)
	})
}
