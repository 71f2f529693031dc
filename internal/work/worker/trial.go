package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/ground/demo"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/render/strips"
)

// Trial is the result of rendering the built-in scene.
type Trial struct {
	Info    blender.Info   // what the started Blender can do here
	Started time.Duration  // until Blender was ready
	Frame   blender.Frame  // zero without a device to render on
	Picture pixels.Picture // decoded from Frame.Path, which no longer exists
}

// Try starts a process, renders the demo's first frame and reads the picture. Its
// folders are made below temp and removed. The result holds what was reached, also with
// an error: Started is 0 when Blender did not start. Errors: the start's, *blender.Error,
// those of pixels.Read and of the file system.
func Try(ctx context.Context, r Renderer, opts blender.Options, temp string) (t Trial, err error) {
	dir, err := os.MkdirTemp(temp, "trial-")
	if err != nil {
		return t, fmt.Errorf("make a folder for a trial: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// Without denoising: a Blender that is built without a denoiser can still work.
	opts.Temp, opts.Out, opts.Denoise = dir, dir, blender.Off
	begun := time.Now()
	session, err := r.Start(ctx, opts)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	t.Started, t.Info = time.Since(begun), session.Info()
	// Without a device there is nothing to render on, which Info shows: no error.
	if _, _, ok := t.Info.Choose(opts.Device); !ok {
		return t, nil
	}
	if _, err := openDemo(ctx, session, dir); err != nil {
		return t, err
	}
	if t.Frame, err = session.Render(ctx, demo.FirstFrame, nil); err != nil {
		return t, err
	}
	picture, err := os.Open(t.Frame.Path)
	if err != nil {
		return t, fmt.Errorf("open the trial's picture: %w", err)
	}
	defer picture.Close()
	t.Picture, err = pixels.Read(picture)
	return t, err
}

// openDemo has a process open the built-in scene, which is written to a folder.
func openDemo(ctx context.Context, session Session, dir string) (blender.Opened, error) {
	file := filepath.Join(dir, demo.Filename)
	if err := os.WriteFile(file, demo.Scene(), 0o600); err != nil {
		return blender.Opened{}, fmt.Errorf("write the trial's scene: %w", err)
	}
	return session.Open(ctx, blender.SingleFile(file))
}

// TryRows starts a process, renders two rows of the demo's first frame as raw passes, and returns
// their seam (strips.Strip.Seam). Equal programs on equal devices give rows that agree.
// Errors are those of Try.
func TryRows(ctx context.Context, r Renderer, opts blender.Options, temp string) (sum string, info blender.Info, err error) {
	dir, err := os.MkdirTemp(temp, "trial-")
	if err != nil {
		return "", info, fmt.Errorf("make a folder for a trial: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	opts.Temp, opts.Out, opts.Denoise = dir, dir, blender.Off
	session, err := r.Start(ctx, opts)
	if err != nil {
		return "", info, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	s, ok := session.(Stripper)
	if !ok {
		return "", info, errors.New("this renderer renders no strips")
	}
	opened, err := openDemo(ctx, session, dir)
	if err != nil {
		return "", info, err
	}
	middle := opened.Rows / 2
	rows := strips.Rows{From: middle - 1, To: middle + 1}
	two := strips.Strip{Rows: rows, Held: rows, GPU: opts.Device == blender.GPU}
	f, err := s.RenderStrip(ctx, demo.FirstFrame, two, nil)
	if err != nil {
		return "", info, err
	}
	two.Path = f.Path
	sum, err = two.Seam(middle)
	return sum, session.Info(), err
}

// makeKernels makes a Blender that opens no customer's file compile the GPU kernels, into
// a folder that later processes only read. Otherwise a customer's scene could replace a
// kernel. The first compilation takes minutes with Debian's Blender, seconds with others.
// Where the kernels are compiled already, the trial takes seconds. Only a real Blender on
// a GPU has kernels; tests and synthetic renderers do not. Its errors end Run: a GPU that
// cannot render the built-in scene renders no other.
func (w *Worker) makeKernels(ctx context.Context) error {
	if _, ok := w.cfg.Renderer.(Blender); !ok || w.cfg.Device != blender.GPU {
		return nil
	}
	if err := os.MkdirAll(w.machine.kernels, 0o700); err != nil {
		return fmt.Errorf("make a folder for GPU kernels: %w", err)
	}
	select {
	case w.machine.making <- struct{}{}:
		defer func() { <-w.machine.making }()
	case <-ctx.Done():
		return ctx.Err()
	}
	w.log.Info("a trial frame on the GPU; where kernels must be compiled first, this takes minutes")
	t, err := Try(ctx, w.cfg.Renderer, blender.Options{Device: w.cfg.Device, Kernels: w.machine.kernels, MakeKernels: true}, w.dirs.processes)
	if err != nil {
		return fmt.Errorf("render a trial frame on the GPU: %w", err)
	}
	if t.Frame.Device != "" { // otherwise Admit names what is missing
		w.log.Info("trial frame rendered", "device", t.Frame.Device, "device_name", t.Frame.DeviceName, "seconds", t.Frame.Seconds)
	}
	return nil
}
