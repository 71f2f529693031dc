package main

import (
	"context"
	"errors"
	"time"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/sandbox"
)

// Rows of one process each.
const (
	rowBoxStart  = "sandbox/Blender from start to ready"
	rowBoxFrames = "sandbox/ten frames of the light scene"
)

// sandboxGroup measures what the sandbox costs a worker.
func sandboxGroup() group {
	return group{
		rows: []row{
			{name: rowBoxStart, unit: duration, baseline: "the same without a sandbox", goal: ratioAtMost(1.1),
				note: "a worker does this ahead of work"},
			{name: rowBoxFrames, unit: duration, baseline: "the same without a sandbox", goal: ratioAtMost(1.05)},
		},
		measure: measureSandbox,
	}
}

// openSandbox is the one that a worker has by default.
func openSandbox(ctx context.Context) (*sandbox.Sandbox, error) {
	self, err := sandbox.Self()
	if err != nil {
		return nil, err
	}
	return sandbox.Open(ctx, sandbox.Config{Mode: sandbox.Required, Self: self})
}

func measureSandbox(ctx context.Context, b *bench, into record) error {
	file, err := lightScene(ctx, b)
	if err != nil {
		return err
	}
	return b.rounds(ctx, into, func(r record) error {
		var inside, outside boxed
		err := b.turns(func() (err error) {
			inside, err = b.runBlender(ctx, file, b.sandbox)
			return err
		}, func() (err error) {
			outside, err = b.runBlender(ctx, file, nil)
			return err
		})
		if err != nil {
			return err
		}
		r.add(rowBoxStart, inside.ready.Seconds(), outside.ready.Seconds())
		r.add(rowBoxFrames, inside.frames.Seconds(), outside.frames.Seconds())
		return nil
	})
}

type boxed struct{ ready, frames time.Duration }

// runBlender starts a process, has it render and ends it.
func (b *bench) runBlender(ctx context.Context, file string, box *sandbox.Sandbox) (took boxed, err error) {
	dir, err := b.dir("box-")
	if err != nil {
		return took, err
	}
	began := time.Now()
	p, err := blender.Start(ctx, blender.Options{Path: b.blender, Temp: dir, Out: dir, Device: blender.CPU, Sandbox: box})
	if err != nil {
		return took, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	took.ready = time.Since(began)
	if _, err := p.Open(ctx, blender.Alone(file)); err != nil {
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
