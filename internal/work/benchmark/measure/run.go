package measure

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/benchmark"
)

// Parameters of bench-v1. Another value would be another benchmark version.
const (
	CheckSamples = 16   // of the warm-up, whose picture is compared
	TimedSeconds = 20   // minimum on the clock for each scene
	FrameSeconds = 4    // approximate time of a timed frame
	mostSamples  = 4096 // of one frame
)

// ErrOtherDevice reports that another device than the chosen one rendered.
var ErrOtherDevice = errors.New("another device rendered")

// Config of a run.
type Config struct {
	// Blender selects what to render with; Run sets Out and KeepData.
	Blender blender.Options
	// Admit receives each process's properties before it renders, and may refuse it;
	// it may be nil.
	Admit func(blender.Info) error
	// Timed is the time on the clock for each scene; 0 means TimedSeconds. Tests set
	// another one. A frame is never planned to take longer.
	Timed time.Duration
	// Progress receives how far a scene is; it may be nil. all is the total time on
	// this scene's clock, 0 during the warm-up.
	Progress func(scene string, done, all time.Duration)
	Now      func() time.Time // when the run starts and ends
	// Draw gets the challenge of the run, once the first process is admitted; nil for a run
	// without one.
	Draw func(ctx context.Context) (benchmark.Challenge, error)

	drawn *benchmark.Challenge
}

// Run renders all scenes and the challenge, and returns what it measured, unsigned, and the
// picture of the challenge, a PNG; nil without one. The device and its name
// are those of the first process. Errors: *blender.Error, ErrOtherDevice, Admit's, those
// of the file system, ctx's. The end of ctx ends it. Folders are made below Blender.Temp
// and removed; no process outlives it.
func Run(ctx context.Context, c Config) (r benchmark.Receipt, picture []byte, err error) {
	if c.Timed == 0 {
		c.Timed = TimedSeconds * time.Second
	}
	if c.Progress == nil {
		c.Progress = func(string, time.Duration, time.Duration) {}
	}
	r = benchmark.Receipt{
		BenchmarkVersion: contract.BenchmarkVersion, SceneVersion: contract.SceneVersion, ScoringVersion: contract.ScoringVersion,
		StartedAt: c.Now(),
	}
	for _, scene := range benchmark.SceneNames() {
		run, info, err := c.scene(ctx, scene)
		if err != nil {
			return benchmark.Receipt{}, nil, fmt.Errorf("scene %s: %w", scene, err)
		}
		r.Scenes = append(r.Scenes, run)
		r.RenderSeconds += run.RenderSeconds
		r.BlenderVersion, r.BlenderBuildHash = info.Version, info.BuildHash
		if len(r.Scenes) == 1 {
			c.describe(ctx, &r, info)
		}
	}
	if c.drawn != nil {
		var answer benchmark.Answer
		if answer, picture, err = c.answer(ctx); err != nil {
			return benchmark.Receipt{}, nil, fmt.Errorf("the challenge, scene %s: %w", c.drawn.Scene, err)
		}
		r.Challenge = &answer
	}
	r.CompletedAt = c.Now()
	return r, picture, nil
}

// Shot writes the scene of a challenge into dir and returns how Blender opens it.
func Shot(dir string, c benchmark.Challenge) (blender.Input, error) {
	blend, err := blendOf(c.Scene)
	if err != nil {
		return blender.Input{}, err
	}
	file := filepath.Join(dir, c.Scene+".blend")
	if err := os.WriteFile(file, blend, 0o600); err != nil {
		return blender.Input{}, fmt.Errorf("lay the scene down: %w", err)
	}
	in := blender.SingleFile(file)
	in.Shot = &blender.Shot{Seed: c.Seed, Shift: c.CameraShift}
	return in, nil
}

// answer renders the challenge in a process of its own.
func (c Config) answer(ctx context.Context) (a benchmark.Answer, picture []byte, err error) {
	dir, err := os.MkdirTemp(c.Blender.Temp, "bench-")
	if err != nil {
		return a, nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	in, err := Shot(dir, *c.drawn)
	if err != nil {
		return a, nil, err
	}
	opts := c.Blender
	opts.Out = dir
	p, err := blender.Start(ctx, opts)
	if err != nil {
		return a, nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if _, err := p.Open(ctx, in); err != nil {
		return a, nil, err
	}
	c.Progress(c.drawn.Scene+", challenge", 0, 0)
	frame, err := p.Render(ctx, c.drawn.Frame, nil)
	if err != nil {
		return a, nil, err
	}
	if picture, err = os.ReadFile(frame.Path); err != nil {
		return a, nil, fmt.Errorf("read the picture: %w", err)
	}
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return a, nil, fmt.Errorf("the picture: %w", err)
	}
	sum := sha256.Sum256(picture)
	return benchmark.Answer{Challenge: *c.drawn, FrameSHA256: hex.EncodeToString(sum[:]), PixelSHA256: pixels.Of(img).SHA256}, picture, nil
}

// scene measures one scene in its own Blender process. So no scene gains from what another
// has loaded.
func (c *Config) scene(ctx context.Context, name string) (run benchmark.SceneRun, info blender.Info, err error) {
	fail := func(err error) (benchmark.SceneRun, blender.Info, error) {
		return benchmark.SceneRun{}, blender.Info{}, err
	}
	dir, err := os.MkdirTemp(c.Blender.Temp, "bench-")
	if err != nil {
		return fail(fmt.Errorf("make a folder: %w", err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	blend, err := blendOf(name)
	if err != nil {
		return fail(err)
	}
	file := filepath.Join(dir, name+".blend")
	if err := os.WriteFile(file, blend, 0o600); err != nil {
		return fail(fmt.Errorf("lay the scene down: %w", err))
	}
	opts := c.Blender
	opts.Out, opts.KeepData = dir, true
	p, err := blender.Start(ctx, opts)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if c.Admit != nil {
		if err := c.Admit(p.Info()); err != nil {
			return fail(err)
		}
	}
	if c.Draw != nil && c.drawn == nil {
		drawn, err := c.Draw(ctx)
		if err != nil {
			return fail(err)
		}
		c.drawn = &drawn
	}
	if _, err := p.Open(ctx, blender.SingleFile(file)); err != nil {
		return fail(err)
	}
	run, err = c.time(ctx, name, p)
	return run, p.Info(), err
}

// time renders the warm-up, compares its picture, and measures. Each frame's length
// follows from the time of the last one, so a device of any speed finishes a frame in
// about FrameSeconds. The rate is over all timed frames.
func (c Config) time(ctx context.Context, name string, p *blender.Process) (benchmark.SceneRun, error) {
	c.Progress(name, 0, 0)
	warm, err := p.Render(ctx, CheckSamples, nil)
	if err != nil {
		return benchmark.SceneRun{}, err
	}
	seen, err := compare(name, warm.Path)
	if err != nil {
		return benchmark.SceneRun{}, err
	}
	run := benchmark.SceneRun{
		Scene: name, PixelSHA256: seen.pixels, ReferenceSHA256: seen.reference,
		Difference: seen.difference, MatchesReference: seen.matches(),
	}
	each := warm.Seconds / CheckSamples // seconds per sample
	timed := c.Timed.Seconds()
	for run.RenderSeconds < timed {
		samples := samplesOf(min(FrameSeconds, timed), each)
		expected, before := float64(samples)*each, run.RenderSeconds
		frame, err := p.Render(ctx, samples, func(share float64) {
			c.Progress(name, seconds(min(before+share*expected, timed)), c.Timed)
		})
		if err != nil {
			return benchmark.SceneRun{}, err
		}
		// Blender may fall back to the CPU without an error, and the result would be
		// published under the GPU's name.
		if kind, _, _ := p.Info().Choose(c.Blender.Device); frame.Device != kind {
			return benchmark.SceneRun{}, fmt.Errorf("%w: %s was chosen, %s rendered", ErrOtherDevice, kind, frame.Device)
		}
		run.Samples += int64(samples)
		run.RenderSeconds += frame.Seconds
		each = frame.Seconds / float64(samples)
	}
	c.Progress(name, c.Timed, c.Timed)
	run.SamplesPerMinute = benchmark.Rate(run.Samples, run.RenderSeconds)
	return run, nil
}

// samplesOf is how many samples a frame of so many seconds gets when one takes each
// seconds. At least 1 and at most mostSamples.
func samplesOf(frame, each float64) int {
	return int(math.Min(math.Max(math.Round(frame/each), 1), mostSamples))
}

// seconds converts to a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// describe records which device rendered, and on which machine. Driver and memory come
// from the card of the same name; without one they stay unknown.
func (c Config) describe(ctx context.Context, r *benchmark.Receipt, info blender.Info) {
	kind, name, _ := info.Choose(c.Blender.Device)
	r.RenderDevice = kind
	r.GPUName, r.GPUVendor, r.GPUDriver = benchmark.Unknown, benchmark.Unknown, benchmark.Unknown
	here := inspectMachine(ctx, os.DirFS("/"))
	r.CPUName, r.RAMBytes, r.OS = here.cpu, here.ram, here.system
	if kind != benchmark.GPU {
		return
	}
	r.GPUName, r.GPUVendor = name, benchmark.NameOf(name, nil).Vendor
	for _, gpu := range here.gpus {
		if gpu.name == name {
			r.GPUMemoryBytes, r.GPUDriver = gpu.memory, gpu.driver
			return
		}
	}
}
