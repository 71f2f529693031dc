// Package synthetic is a renderer without Blender. It paints pictures of the scene's
// size in a set time. With it a whole farm fits on one machine, for load tests and
// fault injection.
//
// What always holds: a picture is a whole PNG of the scene's size, and equal for
// equal frames. No two frames of a job have equal pixels. A session declares itself
// synthetic (blender.Info), so that registration, job, receipt, log and manifest say
// so. Only requested faults occur.
//
// The workers' API decides whether such a worker may register. Start reading at
// Renderer.
package synthetic

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/work/worker"
)

// DeviceName is the device name of a synthetic renderer.
const DeviceName = contract.SyntheticApplication

// version is used in place of Blender's version.
const version = "none"

// Renderer starts synthetic sessions. The zero value paints at once. It is a value without
// state, safe for concurrent use when Random is.
type Renderer struct {
	// FrameTime is the time of a frame. Jitter, 0 to 1, is the share by which it may
	// be shorter or longer.
	FrameTime time.Duration
	Jitter    float64
	// Faults maps each fault to its share of all frames.
	Faults map[Fault]float64
	// MostPixels is the largest picture that is painted; 0 is any. A larger one is
	// out_of_memory.
	MostPixels int
	// Random returns a number in [0, 1); random when nil.
	Random func() float64
}

// Fault is a defect of a frame.
type Fault string

// Faults.
const (
	Crash Fault = "crash" // the frame fails as when Blender crashes
	Hang  Fault = "hang"  // the frame never ends
	Black Fault = "black" // the picture is all black
	Half  Fault = "half"  // the second half of the file is missing
	Small Fault = "small" // the picture has half the width and height
	Wrong Fault = "wrong" // the pixels are not those of the frame
)

// faults lists all kinds in the order in which they are drawn: a map's order would
// make a seeded run differ.
var faults = [...]Fault{Crash, Hang, Black, Half, Small, Wrong}

// Check reports invalid settings. Start does not check: a share above 1 or below 0 would
// only make draw choose oddly.
func (r Renderer) Check() error {
	if r.FrameTime < 0 || r.Jitter < 0 || r.Jitter > 1 {
		return errors.New("a frame takes no negative time, and its jitter is 0 to 1")
	}
	sum := 0.0
	known := map[Fault]bool{}
	for _, f := range faults {
		known[f] = true
	}
	for f, share := range r.Faults {
		if !known[f] || share < 0 {
			return fmt.Errorf("there is no fault %q with a share of %g; there are %v", f, share, faults)
		}
		sum += share
	}
	if sum > 1 {
		return errors.New("the shares of the faults are more than 1")
	}
	return nil
}

func (r Renderer) random() float64 {
	if r.Random != nil {
		return r.Random()
	}
	return rand.Float64()
}

// draw chooses the fault of the next frame; "" is none. One number chooses among all
// faults, so a frame has at most one.
func (r Renderer) draw() Fault {
	at := r.random()
	for _, f := range faults {
		if at < r.Faults[f] {
			return f
		}
		at -= r.Faults[f]
	}
	return ""
}

// Start implements worker.Renderer. It never fails and starts no process. Pictures go to
// options.Out, which the caller empties; the other options do not matter here.
func (r Renderer) Start(_ context.Context, options blender.Options) (worker.Session, error) {
	return &session{Renderer: r, out: options.Out}, nil
}

// session is one synthetic process.
type session struct {
	Renderer
	out  string
	size image.Point // picture size of the open file
}

// Info declares the session synthetic. A denoiser is there, so that scenes that ask for
// one are painted too.
func (s *session) Info() blender.Info {
	return blender.Info{
		Synthetic: true, Version: version, BuildHash: version, Denoiser: true,
		Devices: []blender.DeviceInfo{{Type: "CPU", Name: DeviceName}},
	}
}

// Close has nothing to end.
func (s *session) Close() error { return nil }

// Open reads the scene's picture size. It reads the same file as Blender would, by the
// service's own reader, so that a picture has the size that inspect promised. A file
// without a scene fails for good.
func (s *session) Open(_ context.Context, in blender.Input) (blender.Opened, error) {
	main := slices.IndexFunc(in.Files, func(f blender.File) bool { return f.Name == in.Main })
	if main < 0 {
		return blender.Opened{}, fmt.Errorf("open the job's file: the project has no %q", in.Main)
	}
	content, err := os.Open(in.Files[main].Path)
	if err != nil {
		return blender.Opened{}, fmt.Errorf("open the job's file: %w", err)
	}
	defer func() { _ = content.Close() }()
	facts, err := blendfile.InspectAs(content, blendfile.Options{}, in.Settings)
	if err != nil || facts.Scene == nil {
		return blender.Opened{}, &blender.Error{Code: blender.Crashed, Message: "the file has no scene that can be read", Final: true}
	}
	scene := facts.Scene
	s.size = image.Pt(scene.FrameSize())
	if s.MostPixels > 0 && s.size.X*s.size.Y > s.MostPixels && in.Preview == nil {
		return blender.Opened{}, &blender.Error{Code: blender.OutOfMemory, Message: fmt.Sprintf("the picture is %dx%d; at most %d pixels are painted", s.size.X, s.size.Y, s.MostPixels), Final: true}
	}
	opened := blender.Opened{Scene: scene.Name, Format: "PNG", Switched: []string{}}
	if in.Preview != nil {
		samples := max(1, scene.Samples)
		opened.Full = &blender.Full{Width: s.size.X, Height: s.size.Y, Samples: samples, LeastSamples: samples}
		s.size = within(s.size, in.Preview.Side)
	}
	return opened, nil
}

// within makes a size smaller, in its proportions, until no side is longer than that.
func within(size image.Point, side int) image.Point {
	longer := max(size.X, size.Y)
	if longer <= side {
		return size
	}
	return image.Pt(max(1, size.X*side/longer), max(1, size.Y*side/longer))
}

// Play has nothing to compute.
func (s *session) Play(context.Context, int) (int, error) { return 0, nil }

// RenderFresh is Render, because nothing is kept between frames.
func (s *session) RenderFresh(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return s.Render(ctx, frame, progress)
}

// Render paints a frame after its time has passed. Crash and Hang end as the same failures
// of a real Blender do, with its codes.
func (s *session) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	began := time.Now()
	fault, err := s.spend(ctx, 1, progress)
	if err != nil {
		return blender.Frame{}, err
	}
	picture, err := paintFaulty(frame, s.size, fault)
	if err != nil {
		return blender.Frame{}, fmt.Errorf("paint frame %d: %w", frame, err)
	}
	return s.write(frame, picture, began)
}

// spend spends a share of a frame's time, and draws its fault.
func (s *session) spend(ctx context.Context, share float64, progress func(float64)) (Fault, error) {
	fault := s.draw()
	if err := s.wait(ctx, fault, share, progress); err != nil {
		return "", &blender.Error{Code: blender.NoProgress, Message: "the frame was ended: " + err.Error()}
	}
	if fault == Crash {
		return "", &blender.Error{Code: blender.Crashed, Message: "the synthetic renderer was set to crash"}
	}
	return fault, nil
}

// write writes the picture of a frame.
func (s *session) write(frame int, picture []byte, began time.Time) (blender.Frame, error) {
	f := s.rendered(frame, "png", s.size.Y, began)
	if err := os.WriteFile(f.Path, picture, 0o600); err != nil {
		return blender.Frame{}, fmt.Errorf("write frame %d: %w", frame, err)
	}
	return f, nil
}

// rendered describes a picture of so many rows.
func (s *session) rendered(frame int, format string, height int, began time.Time) blender.Frame {
	return blender.Frame{
		Number: frame, Path: filepath.Join(s.out, fmt.Sprintf("frame_%04d.%s", frame, format)), Format: "PNG", Width: s.size.X, Height: height,
		Seconds: time.Since(began).Seconds(), Sampling: time.Since(began),
		Device: "CPU", DeviceName: DeviceName, Log: fmt.Sprintf("synthetic renderer: frame %d was painted, no Blender ran", frame),
	}
}

// Movie writes a movie without pictures: its boxes are those of an MP4.
func (s *session) Movie(_ context.Context, m blender.Movie) (path string, err error) {
	path = filepath.Join(s.out, "movie.mp4")
	box := func(kind, content string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(8+len(content))), kind+content...)
	}
	movie := slices.Concat(box("ftyp", "isom\x00\x00\x02\x00isom"), box("moov", ""), box("mdat", fmt.Sprintf("%d synthetic frames", len(m.Frames))))
	if err := os.WriteFile(path, movie, 0o600); err != nil {
		return "", fmt.Errorf("write the movie: %w", err)
	}
	return path, nil
}

// steps is how often a frame reports its progress.
const steps = 10

// wait spends a share of the frame's time, and reports progress as Blender does.
func (s *session) wait(ctx context.Context, fault Fault, share float64, progress func(float64)) error {
	if fault == Hang {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	takes := time.Duration(float64(s.FrameTime) * share * (1 + s.Jitter*(2*s.random()-1)))
	step := time.NewTimer(takes / steps)
	defer step.Stop()
	for i := range steps {
		select {
		case <-step.C:
			step.Reset(takes / steps)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if progress != nil {
			progress(float64(i+1) / steps)
		}
	}
	return nil
}
