package blender

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"svc.example/internal/ground/sandbox"
)

// Process is one Blender. Its methods are for one goroutine at a time, except
// Close, which is safe at any time, concurrently and more than once.
type Process struct {
	// opts has its defaults filled in and absolute folders.
	opts    Options
	dir     string // its folders: home, in and out
	running *sandbox.Process
	// commands is the pipe to the driver. Only call writes to it.
	commands *os.File
	replies  chan reply // closed when Blender closes its end
	output   output
	info     Info
	outputs  OutputLimits   // of the open file
	placed   string         // the folder of Options.Colours; "" without it
	started  time.Time      // when the driver said that the last frame began
	played   int            // frames of the current command that were computed and not rendered
	done     chan struct{}  // closed when the process has ended and been waited for
	ending   sandbox.Ending // valid once done is closed
	kill     sync.Once
	killed   chan struct{} // closed when we ended it ourselves
	closed   sync.Once
	closeErr error
}

// Start starts a Blender and returns when it is ready for a file: warmed up, with
// its GPU kernels loaded. ctx bounds only the start. The caller closes the Process.
// Errors: *Error (blender_crashed when it exits unexpectedly), and those of the
// file system.
func Start(ctx context.Context, opts Options) (*Process, error) {
	if opts.Device == "" {
		opts.Device = GPU
	}
	if opts.Denoise == "" {
		opts.Denoise = Keep
	}
	// Blender has another current folder, so all paths must be absolute.
	temp, err1 := filepath.Abs(opts.Temp)
	out, err2 := filepath.Abs(opts.Out)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("find Blender's folders: %w", err)
	}
	opts.Out = out
	dir, err := os.MkdirTemp(temp, "blender-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for Blender: %w", err)
	}
	p := &Process{
		opts: opts, dir: dir,
		replies: make(chan reply, 4), done: make(chan struct{}), killed: make(chan struct{}),
		output: output{changed: make(chan struct{}, 1)},
	}
	if err := p.launch(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := p.call(ctx, nil, "ready", &p.info); err != nil {
		return nil, errors.Join(p.withoutColours(err), p.Close())
	}
	if err := p.usesColours(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if !p.info.Guarded {
		return nil, errors.Join(errors.New("this Blender's Python runs code that is not its own: its audit hook does not work"), p.Close())
	}
	p.info.Sandbox = opts.Sandbox.Report().String()
	return p, nil
}

// Info returns the process's properties at its start.
func (p *Process) Info() Info { return p.info }

// PID is Blender's process id as this process sees it.
func (p *Process) PID() int { return p.running.PID() }

// home holds Blender's own temporary files; it is also its current folder.
func (p *Process) home() string { return filepath.Join(p.dir, "home") }

// in is what Blender may read: the driver, and later the job's files.
func (p *Process) in() string { return filepath.Join(p.dir, "in") }

// root is the root folder that Blender sees, with the files that it looks for under absolute
// paths; "" where the sandbox gives it none.
func (p *Process) root() string {
	if !p.opts.Sandbox.HasRoot() {
		return ""
	}
	return filepath.Join(p.dir, "root")
}

// out is where Blender puts its pictures. It is not Options.Out: what Blender can
// write to is never where the worker looks for results.
func (p *Process) out() string { return filepath.Join(p.dir, "out") }

// Open loads the main file of in and sets device, denoising and output. It may be called
// once; of an input with an OpenColorIO configuration only for Options.Colours. Blender sees the files under their own names, and nothing else. When ctx ends the
// process ends. Errors: *Error with gpu_unavailable, denoiser_unavailable,
// frame_check_failed (another scene than in.Scene), blender_crashed, out_of_memory or
// no_progress.
func (p *Process) Open(ctx context.Context, in Input) (Opened, error) {
	folder, err := p.folderOf(in)
	if err != nil {
		return Opened{}, err
	}
	inside := filepath.Join(folder, filepath.FromSlash(in.Main))
	if in.Outputs != nil {
		p.outputs = *in.Outputs
	}
	p.output.begin(nil)
	var opened Opened
	if err := p.call(ctx, command{Command: "open", File: p.inside(inside), KeepData: p.opts.KeepData && in.Preview == nil, Preview: in.Preview, Shot: in.Shot, Plays: in.Plays, Scene: in.Scene, Settings: in.Settings.Picture(), Frames: in.Frames, Outputs: in.Outputs}, "opened", &opened); err != nil {
		return Opened{}, err
	}
	if in.Preview != nil {
		return opened, p.fits(opened)
	}
	opened.Strips, err = p.strips(ctx, opened)
	if err != nil || opened.Strips > 0 {
		return opened, err
	}
	return opened, p.fits(opened)
}

// place gives Blender the files of a job.
func (p *Process) place(in Input) (folder string, err error) {
	root := filepath.Join(p.in(), "job") // away from the driver, whatever the files' names
	if folder, err = in.place(root, p.root()); err != nil {
		err = fmt.Errorf("give Blender the job's files: %w", err)
	}
	return folder, err
}

// pixelBytes is Blender's memory for a pixel of a finished picture: four floats.
const pixelBytes = 16

// fits refuses a scene whose picture alone needs more than the available memory.
// Cycles would render it tile by tile for hours, and run out of memory at the end.
func (p *Process) fits(o Opened) error {
	most := p.opts.Sandbox.Limits().Memory
	if needed := int64(o.Width) * int64(o.Height) * pixelBytes; most > 0 && needed > most {
		return &Error{Code: OutOfMemory, Log: p.output.text(), Message: fmt.Sprintf(
			"a picture of %d x %d pixels takes %s, more than the %s of memory that Blender may have here", o.Width, o.Height, sandbox.Size(needed), sandbox.Size(most))}
	}
	return nil
}

// Play computes the earlier frames that were not rendered, starting at the scene's first
// one, without rendering them. Opened.Plays says whether it is needed; Render does what
// Play has not done. It returns how many frames that were, also with an error. ctx's
// deadline is the time that all of them may take; each has the patience of a command.
// Errors are those of Render.
func (p *Process) Play(ctx context.Context, frame int) (played int, err error) {
	p.output.begin(nil)
	begun := time.Now()
	err = p.call(ctx, command{Command: "play", Frame: &frame}, "played", &struct{}{})
	if errors.Is(err, context.DeadlineExceeded) {
		err = &Error{Code: FrameTimeExceeded, Log: p.output.text(), Message: fmt.Sprintf(
			"of the frames before frame %d only %d were computed after %s, the most that they may take", frame, p.played, time.Since(begun).Round(time.Second))}
	}
	return p.played, err
}

// Render renders one frame, 0 or above. progress, which may be nil, is called from
// another goroutine with the share of finished samples, from 0 to 1, and must return
// soon. The picture lies in Options.Out and belongs to the caller. When ctx ends the
// process ends; its deadline is the time that the frame may take, even if it makes
// progress. Errors: *Error with any of the failure codes, of which frame_time_exceeded
// is that of the deadline.
//
// If things depend on each other in a circle, Blender continues from the values that the
// previous frame left, in the file's data and in what Cycles keeps. Blender reports a
// circle with the first frame; before each later one the file is loaded again.
func (p *Process) Render(ctx context.Context, frame int, progress func(float64)) (Frame, error) {
	return p.render(ctx, command{Command: "render", Frame: &frame}, progress)
}

// RenderFresh is Render without data from earlier frames, and in tiles where the scene says
// so, for this and the following frames until Render is called again. Where Opened.KeepsData
// and Opened.Whole are false, both are the same.
func (p *Process) RenderFresh(ctx context.Context, frame int, progress func(float64)) (Frame, error) {
	return p.render(ctx, command{Command: "render", Frame: &frame, Fresh: true}, progress)
}

// render sends one command and takes the picture out of Blender's folder.
func (p *Process) render(ctx context.Context, order command, progress func(float64)) (Frame, error) {
	if frame := *order.Frame; frame < 0 {
		return Frame{}, fmt.Errorf("render frame %d: a frame number is 0 or above", frame)
	}
	order.Reload = p.output.circular()
	order.Fresh = order.Fresh || order.Reload
	p.output.begin(progress)
	var done struct {
		Frame
		File    string    `json:"file"`
		Written []written `json:"outputs"`
	}
	begun := time.Now()
	if err := p.call(ctx, order, "frame_done", &done); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			limit, _ := ctx.Deadline() // what was allowed, not when a busy machine noticed
			err = &Error{Code: FrameTimeExceeded, Message: fmt.Sprintf("the frame was not done after %s, the most that it may take", limit.Sub(begun).Round(time.Second)), Log: p.output.text()}
		}
		return Frame{}, err
	}
	done.Started = p.started
	var err error
	if done.Path, err = p.collect(done.File); err != nil {
		return Frame{}, err
	}
	if done.OutputDir, done.Outputs, err = p.collectOutputs(done.Written); err != nil {
		return Frame{}, errors.Join(err, os.Remove(done.Path))
	}
	done.Log, done.Sampling = p.output.text(), p.output.sampling()
	if order.Reload {
		done.Load = max(0, done.Started.Sub(begun))
	}
	done.DeviceMemory = p.output.devicePeak()
	done.Sync, done.Encode = p.output.parts(time.Duration(done.Seconds * float64(time.Second)))
	return done.Frame, nil
}

// Close ends the process and everything that it started, and removes its folder.
// Pictures in Options.Out stay. Nothing of the process is left when it returns. It
// returns the first call's error each time.
func (p *Process) Close() error {
	p.closed.Do(func() {
		p.end()
		<-p.done
		p.closeErr = errors.Join(p.commands.Close(), os.RemoveAll(p.dir))
	})
	return p.closeErr
}

// end kills the process and its group, once, and records that we did it.
func (p *Process) end() {
	p.kill.Do(func() {
		close(p.killed)
		select {
		case <-p.done: // its id may belong to another process by now
		default:
			p.running.Kill()
		}
	})
}
