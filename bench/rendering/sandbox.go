package rendering

import (
	"context"
	"errors"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
)

// Rows of one process each.
const (
	rowBoxStart  = "sandbox/Blender from start to ready"
	rowBoxFrames = "sandbox/ten frames of the light scene"
)

// Sandbox measures what the sandbox costs a worker, in starting and in rendering.
func Sandbox() rounds.Group {
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowBoxStart, Unit: rounds.Duration, Baseline: "the same without a sandbox", Goal: rounds.RatioAtMost(1.1),
				Note: "a worker does this ahead of work"},
			{Name: rowBoxFrames, Unit: rounds.Duration, Baseline: "the same without a sandbox", Goal: rounds.RatioAtMost(1.05)},
		},
		Measure: measureSandbox,
	}
}

// OpenSandbox opens the sandbox that a worker has by default.
func OpenSandbox(ctx context.Context) (*sandbox.Sandbox, error) {
	self, err := sandbox.Self()
	if err != nil {
		return nil, err
	}
	return sandbox.Open(ctx, sandbox.Config{Mode: sandbox.Required, Self: self})
}

func measureSandbox(ctx context.Context, b *rounds.Run, into rounds.Record) error {
	file, err := b.LightScene(ctx)
	if err != nil {
		return err
	}
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		var inside, outside boxed
		err := b.Turns(func() (err error) {
			inside, err = runBlender(ctx, b, file, b.Sandbox)
			return err
		}, func() (err error) {
			outside, err = runBlender(ctx, b, file, nil)
			return err
		})
		if err != nil {
			return err
		}
		r.Add(rowBoxStart, inside.ready.Seconds(), outside.ready.Seconds())
		r.Add(rowBoxFrames, inside.frames.Seconds(), outside.frames.Seconds())
		return nil
	})
}

// boxed is how long one process took until it was ready, and for its ten frames.
type boxed struct{ ready, frames time.Duration }

// runBlender starts a process, has it render ten frames and ends it. A nil box runs it
// without a sandbox.
func runBlender(ctx context.Context, b *rounds.Run, file string, box *sandbox.Sandbox) (took boxed, err error) {
	dir, err := b.Dir("box-")
	if err != nil {
		return took, err
	}
	began := time.Now()
	p, err := blender.Start(ctx, blender.Options{Path: b.Blender, Temp: dir, Out: dir, Device: blender.CPU, Sandbox: box})
	if err != nil {
		return took, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	took.ready = time.Since(began)
	if _, err := p.Open(ctx, blender.SingleFile(file)); err != nil {
		return took, err
	}
	began = time.Now()
	for frame := 1; frame <= 10; frame++ {
		if _, err := p.Render(ctx, frame, nil); err != nil {
			return took, err
		}
	}
	took.frames = time.Since(began)
	return took, nil
}
