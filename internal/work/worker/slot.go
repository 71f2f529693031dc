package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker/blenders"
)

// slot is the place of one Blender on the device: a queue of leased frames and the Blender that
// renders them, one after the other. The slots of a worker share its registration, its
// cache, its outbox and its heartbeats. While one is busy with what a device has no part
// in, such as computing the scene or encoding a picture, another one uses the device.
//
// The first slot works as long as Run. Package blenders says when further ones work.
type slot struct {
	*Worker
	place    *blenders.Slot
	pictures string       // the folder of its Blenders' pictures, whose names repeat over slots
	pool     *processPool // of the rendering goroutine
	ahead    aheadFetch   // the next job's files
}

func (w *Worker) newSlot(i int) (*slot, error) {
	l := &slot{Worker: w, pictures: filepath.Join(w.dirs.pictures, strconv.Itoa(i))}
	if err := os.MkdirAll(l.pictures, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for pictures: %w", err)
	}
	l.pool = newProcessPool(func(ctx context.Context) (Session, error) { return l.startSession(ctx, nil) })
	return l, nil
}

// startSession starts one Blender with the settings of this worker. Every process keeps
// data between frames; which frames make use of it is the guard's choice. colours is the input of
// a job with colours of its own, nil for any other.
func (l *slot) startSession(ctx context.Context, colours *blender.Input) (Session, error) {
	return l.cfg.Renderer.Start(ctx, blender.Options{
		Temp: l.dirs.processes, Out: l.pictures, Device: l.cfg.Device, Denoise: l.cfg.Denoise, KeepData: true, Uncompressed: true, Whole: l.cfg.WholePicture, Kernels: l.machine.kernels, Colours: colours,
	})
}

// sessionFor returns a process for an input: the spare, or one that has read the input's
// OpenColorIO configuration. A configuration may keep Blender from starting, so that failure is
// the job's and not this machine's. Errors: such a *blender.Error, errUnable.
func (l *slot) sessionFor(ctx context.Context, in blender.Input) (Session, error) {
	if in.Settings.OCIO == "" {
		session, err := l.pool.take(ctx)
		if err != nil {
			err = errors.Join(errUnable, err)
		}
		return session, err
	}
	session, err := l.startSession(ctx, &in)
	if _, ofJob := errors.AsType[*blender.Error](err); err != nil && !ofJob {
		err = errors.Join(errUnable, err)
	}
	return session, err
}

// begin and end count the slots that render.
func (l *slot) begin() {
	l.machine.begin()
	l.blenders.Begin()
}

func (l *slot) end() {
	l.blenders.End()
	l.machine.end()
}

// runSlots works on all slots until ctx ends or the worker drains, and returns when every
// slot has given back what it had.
func (w *Worker) runSlots(ctx, drainCtx context.Context, first *slot) {
	w.blenders.Run(ctx, func(ctx context.Context, place *blenders.Slot) error {
		l := first
		if place.Index > 0 {
			var err error
			if l, err = w.newSlot(place.Index); err != nil {
				return err
			}
			defer l.pool.close()
		}
		l.place = place
		l.renderLoop(ctx, drainCtx)
		return nil
	})
	w.leave() // one that drains, too, has only so long for what is not sent
}

// lacksMemory returns a failure that may be for want of memory: a Blender that the system
// ended for that looks like one that crashed.
func lacksMemory(err error) (failed *blender.Error, may bool) {
	failed, known := errors.AsType[*blender.Error](err)
	return failed, known && (failed.Code == blender.OutOfMemory || failed.Code == blender.Crashed)
}

// crowded reports whether a failure of a slot may be the doing of the others: they take
// memory too. The others then end, and the frame is rendered again without them.
func (l *slot) crowded(err error) bool {
	failed, may := lacksMemory(err)
	return may && l.blenders.Crowded(string(failed.Code), failed.Message)
}
