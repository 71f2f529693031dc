package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// painter is a Renderer that paints PNGs, at a pace and with faults that a test
// sets before it starts.
type painter struct {
	info      blender.Info
	kind      string        // what renders: "GPU" or "CPU"
	starts    time.Duration // how long a start takes
	frameTime time.Duration
	fault     func(frame int) error // of a render; nil for a picture
	cut       bool                  // the end of pictures is missing
	small     bool                  // pictures are smaller than the scene says
	keeps     bool                  // data is kept over frames, so the second one is compared
	whole     bool                  // renders pictures whole that would be in tiles
	stale     func(frame int) bool  // whether kept data spoils a frame
	broken    bool                  // a frame without kept data fails
	memory    int                   // how many renders at once the memory suffices for; any when 0, none when below
	plays     bool                  // frames depend on the frames before
	level     int                   // the scene's compression, which is left to the worker
	needs     int64                 // bytes of memory that each process reports
	noise     byte                  // what the first pixel of a picture rendered again differs by
	// onDevice is the part of a frame's time for which it needs the device, which is one; 0
	// if frames report no parts. It may change while the painter works.
	onDevice float64
	device   chan struct{} // of capacity 1, filled by its user: the clock of a bubble stops while a mutex is waited for

	mu      sync.Mutex
	busy    int      // renders now
	busiest int      // renders at once
	alive   int      // processes now
	most    int      // processes at once
	opens   []string // files opened, in order
	began   []time.Time
	stopped int   // renders ended by their context
	fresh   []int // frames rendered without kept data, in order
	played  []int // how many frames were computed before each
	// previews counts the files that were opened for one.
	previews int
	bandTime time.Duration // that each of their bands takes
}

func newPainter() *painter {
	return &painter{
		info: blender.Info{Version: contract.BlenderVersion, BuildHash: "abc", Denoiser: true, Devices: []blender.DeviceInfo{{Type: "OPTIX", Name: "Test GPU"}}},
		kind: "GPU", starts: time.Second, frameTime: time.Second, device: make(chan struct{}, 1),
	}
}

func (p *painter) Start(ctx context.Context, opts blender.Options) (worker.Session, error) {
	if err := rest(ctx, p.starts); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alive++
	p.most = max(p.most, p.alive)
	return &painting{painter: p, out: opts.Out}, nil
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type painting struct {
	*painter
	out    string
	opened bool
	last   int // the last frame that was asked for
	once   sync.Once
}

func (p *painting) Info() blender.Info { return p.info }

func (p *painting) Close() error {
	p.once.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.alive--
	})
	return nil
}

func (p *painting) Open(_ context.Context, in blender.Input) (blender.Opened, error) {
	if p.opened {
		return blender.Opened{}, errors.New("a process was given a second file")
	}
	var content strings.Builder
	for _, f := range slices.Concat(in.Files, in.Aliases) {
		part, err := os.ReadFile(f.Path)
		if err != nil {
			return blender.Opened{}, err
		}
		fmt.Fprintf(&content, "%s: %s\n", f.Name, part)
	}
	p.opened = true
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opens = append(p.opens, content.String())
	var full *blender.Full
	if in.Preview != nil {
		p.previews++
		full = &blender.Full{Width: 80, Height: 60, Samples: 128, LeastSamples: 64}
	}
	return blender.Opened{Full: full, Scene: "Scene", Format: "PNG", Switched: []string{"file_output_muted"}, KeepsData: p.keeps, Whole: p.whole, Plays: p.plays, Compression: p.level}, nil
}

// Play notes the frames that were not rendered since the last one, from 1 on. A process
// never goes back.
func (p *painting) Play(_ context.Context, frame int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if frame <= p.last {
		return 0, fmt.Errorf("frame %d was asked for after frame %d", frame, p.last)
	}
	played := frame - p.last - 1
	p.last = frame
	p.played = append(p.played, played)
	return played, nil
}

// RenderFresh paints what a frame looks like in truth.
func (p *painting) RenderFresh(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	p.mu.Lock()
	p.fresh = append(p.fresh, frame)
	p.mu.Unlock()
	if p.broken {
		return blender.Frame{}, &blender.Error{Code: blender.Crashed, Message: "gone"}
	}
	f, err := p.renderFrame(ctx, frame, frame, progress)
	if err == nil && p.noise > 0 {
		err = addNoise(f.Path, p.noise)
	}
	return f, err
}

// addNoise makes the first pixel of a picture another by so much.
func addNoise(path string, by byte) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return err
	}
	noisy := image.NewRGBA(img.Bounds())
	draw.Draw(noisy, noisy.Rect, img, img.Bounds().Min, draw.Src)
	if noisy.Pix[0] < 128 {
		noisy.Pix[0] += by
	} else {
		noisy.Pix[0] -= by
	}
	var out bytes.Buffer
	if err := png.Encode(&out, noisy); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
}

func (p *painting) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	if p.stale != nil && p.stale(frame) {
		return p.renderFrame(ctx, frame, frame+1000, progress)
	}
	return p.renderFrame(ctx, frame, frame, progress)
}

// Bands implements worker.Measuring.
func (p *painting) Bands(ctx context.Context, _, bands int) ([]float64, error) {
	took := make([]float64, bands)
	for i := range took {
		if err := rest(ctx, p.bandTime); err != nil {
			return nil, err
		}
		took[i] = float64(i)
	}
	return took, nil
}

// renderFrame renders a frame that looks like another one, or like itself.
func (p *painting) renderFrame(ctx context.Context, frame, like int, progress func(float64)) (blender.Frame, error) {
	p.mu.Lock()
	p.began = append(p.began, time.Now())
	p.busy++
	p.busiest = max(p.busiest, p.busy)
	tooMuch := p.memory != 0 && p.busy > p.memory
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.busy--
	}()
	if tooMuch {
		return blender.Frame{}, &blender.Error{Code: blender.OutOfMemory, Message: "Blender ran out of memory"}
	}
	told := blender.Frame{Number: frame, Format: "PNG", Width: 8, Height: 6, Sampling: p.frameTime / 2,
		Device: p.kind, DeviceName: "Test GPU", Log: "Saved it", Seconds: p.frameTime.Seconds()}
	if p.onDevice > 0 {
		begun := time.Now()
		if err := p.renderParts(ctx, &told); err != nil {
			return blender.Frame{}, p.ended(err)
		}
		told.Started, told.Seconds, told.Memory = begun, time.Since(begun).Seconds(), p.needs
		return p.done(told, like)
	}
	const steps = 10
	for i := range steps {
		if err := rest(ctx, p.frameTime/steps); err != nil {
			return blender.Frame{}, p.ended(err)
		}
		if progress != nil {
			progress(float64(i+1) / steps)
		}
	}
	if p.fault != nil {
		if err := p.fault(frame); err != nil {
			return blender.Frame{}, err
		}
	}
	return p.done(told, like)
}

// done paints the picture of a frame.
func (p *painting) done(told blender.Frame, like int) (blender.Frame, error) {
	told.Path = filepath.Join(p.out, fmt.Sprintf("frame_%04d.png", told.Number))
	return told, p.paint(told.Path, like)
}

// renderParts computes the scene, waits for the device and uses it.
func (p *painting) renderParts(ctx context.Context, told *blender.Frame) error {
	p.mu.Lock()
	on := time.Duration(p.onDevice * float64(p.frameTime))
	p.mu.Unlock()
	told.Sync = p.frameTime - on
	if err := rest(ctx, told.Sync); err != nil {
		return err
	}
	p.device <- struct{}{}
	defer func() { <-p.device }()
	return rest(ctx, on)
}

// ended notes a render that its context ended.
func (p *painter) ended(why error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped++
	if errors.Is(why, context.DeadlineExceeded) {
		return &blender.Error{Code: blender.FrameTimeExceeded, Message: why.Error()}
	}
	return &blender.Error{Code: blender.NoProgress, Message: why.Error()}
}

// painted is the picture of a frame.
func painted(frame, width int) ([]byte, error) { return synthetic.Paint(frame, image.Pt(width, 6)) }

// unpacked is a picture as Blender writes it where its caller packs it.
func unpacked(file []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	whole := image.NewNRGBA(img.Bounds())
	draw.Draw(whole, whole.Rect, img, img.Bounds().Min, draw.Src)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, whole)
	return out.Bytes(), err
}

// pixelsOf is the hash of a frame's pixels.
func pixelsOf(t interface{ Fatal(...any) }, frame int) string {
	file, err := painted(frame, 8)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := pixels.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return picture.SHA256
}

func (p *painter) paint(path string, frame int) error {
	width := 8
	if p.small {
		width = 4
	}
	content, err := painted(frame, width)
	if p.level > 0 && err == nil {
		content, err = unpacked(content)
	}
	if p.cut {
		content = content[:60]
	}
	return errors.Join(err, os.WriteFile(path, content, 0o600))
}
