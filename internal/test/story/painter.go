package story

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// Painter is a Renderer that paints small pictures at once, but for what a
// story has it do before.
type Painter struct {
	Opens  func() error                               // before a file is open
	Before func(ctx context.Context, frame int) error // before a picture is painted
	Look   func(ctx context.Context, frame int) error // the same, of a free preview

	mu      sync.Mutex
	painted []int
}

// Frames are the frames painted so far, in order.
func (p *Painter) Frames() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.painted))
}

// ProgressKey is where before finds the function that takes the progress.
type ProgressKey struct{}

// Start implements worker.Renderer.
func (p *Painter) Start(_ context.Context, options blender.Options) (worker.Session, error) {
	return &painterSession{Painter: p, folder: options.Out}, nil
}

// painterSession is one process of a painter.
type painterSession struct {
	*Painter
	folder string
	small  bool // the file was opened for a free preview
}

func (e *painterSession) Info() blender.Info {
	return blender.Info{
		Version: contract.BlenderVersion, BuildHash: "story", Denoiser: true,
		Devices: []blender.DeviceInfo{{Type: "OPTIX", Name: "Story GPU"}},
	}
}

func (e *painterSession) Close() error { return nil }

func (e *painterSession) Open(_ context.Context, in blender.Input) (blender.Opened, error) {
	if e.Opens != nil {
		if err := e.Opens(); err != nil {
			return blender.Opened{}, err
		}
	}
	opened := blender.Opened{Scene: "Scene", Format: "PNG", Switched: []string{}}
	if e.small = in.Preview != nil; e.small {
		opened.Full = &blender.Full{Width: PictureWidth, Height: PictureHeight, Samples: 64, LeastSamples: 64}
	}
	return opened, nil
}

// Play has nothing to compute.
func (e *painterSession) Play(context.Context, int) (int, error) { return 0, nil }

func (e *painterSession) RenderFresh(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return e.Render(ctx, frame, progress)
}

func (e *painterSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	before := e.Before
	if e.small {
		before = e.Look
	}
	if before != nil {
		if err := before(context.WithValue(ctx, ProgressKey{}, progress), frame); err != nil {
			return blender.Frame{}, err
		}
	}
	picture, err := Paint(frame)
	if err != nil {
		return blender.Frame{}, err
	}
	path := filepath.Join(e.folder, fmt.Sprintf("frame_%04d.png", frame))
	if err := os.WriteFile(path, picture, 0o600); err != nil {
		return blender.Frame{}, err
	}
	progress(1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.small {
		e.painted = append(e.painted, frame)
	}
	return blender.Frame{
		Number: frame, Path: path, Format: "PNG", Width: PictureWidth, Height: PictureHeight, Seconds: 0.01,
		Device: "GPU", DeviceName: "Story GPU", Log: fmt.Sprintf("painted frame %d", frame),
	}, nil
}

// PictureWidth and PictureHeight are the size of the pictures, that of the demo scene's.
const (
	PictureWidth  = 480
	PictureHeight = 270
)

// Paint is the picture of a frame, as PNG.
func Paint(frame int) ([]byte, error) {
	return synthetic.Paint(frame, image.Pt(PictureWidth, PictureHeight))
}

// Barrier holds up the rendering of frames from one number on.
type Barrier struct {
	from    int
	reached chan int // the frames that have come to it
	opened  chan struct{}
	Open    func() // lets all through; may be called again
}

// BarrierAt is a barrier for the frames from one number on.
func BarrierAt(frame int) *Barrier {
	g := &Barrier{from: frame, reached: make(chan int, 1000), opened: make(chan struct{})}
	g.Open = sync.OnceFunc(func() { close(g.opened) })
	return g
}

// Pass is a painter's before.
func (g *Barrier) Pass(ctx context.Context, frame int) error {
	if frame < g.from {
		return nil
	}
	select {
	case g.reached <- frame:
	default: // no story waits for so many
	}
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return &blender.Error{Code: blender.NoProgress, Message: "ended at the barrier"}
	}
}

// Await waits until a frame has come to the barrier.
func (g *Barrier) Await(ctx context.Context) (frame int, err error) {
	select {
	case frame = <-g.reached:
		return frame, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("no frame came to the barrier: %w", ctx.Err())
	}
}
