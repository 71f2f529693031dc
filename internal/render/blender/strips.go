package blender

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Memory that Blender takes for a picture, measured with 3.4.1 for pictures of 4 and of 32 numbers
// a pixel: while it renders, and while it finishes joined strips.
const (
	emptyBlender   = 256 << 20
	renderedPixel  = 13 // and for each number of it:
	renderedNumber = 12
	finishedPixel  = 9
	finishedNumber = 8
	mostStrips     = 256
)

// strips returns in how many strips a picture has to be rendered; 0 where it fits into memory in
// one piece, may not be cut, or would not fit when its strips are finished either. Half of the
// memory is left to the scene.
func (p *Process) strips(ctx context.Context, o Opened) (int, error) {
	most, pixels := p.opts.Sandbox.Limits().Memory, int64(o.Width)*int64(o.Height)
	whole, finish := pixels*int64(renderedPixel+renderedNumber*o.Channels), pixels*int64(finishedPixel+finishedNumber*o.Channels)
	room := most - emptyBlender
	if most == 0 || room <= 0 || whole <= room || finish > room {
		return 0, nil
	}
	if reason, err := p.Undivided(ctx); err != nil || reason != "" {
		return 0, err
	}
	return int(min(2*whole/room+1, mostStrips, int64(o.Rows))), nil
}

// Undivided returns why the open scene's pictures may not be rendered in strips, in the words of
// strips.Reason; "" where they may. Errors are those of Open.
func (p *Process) Undivided(ctx context.Context) (reason string, err error) {
	var reply struct {
		Undivided string `json:"undivided"`
	}
	err = p.call(ctx, command{Command: "divides"}, "divides", &reply)
	return reply.Undivided, err
}

// Strip renders some rows of a frame, from row from up to row to: raw passes of all view layers,
// as an OpenEXR file of that height. Rows count from the top of what is rendered, the picture or
// its border (Opened.Rows). Errors: those of Render; frame_check_failed, final, for a scene that may
// not be cut.
func (p *Process) Strip(ctx context.Context, frame, from, to int, progress func(float64)) (Frame, error) {
	if from < 0 || to <= from {
		return Frame{}, fmt.Errorf("render the rows from %d up to %d: there are none", from, to)
	}
	f, err := p.render(ctx, command{Command: "strip", Frame: &frame, Rows: &[2]int{from, to}}, progress)
	if err == nil && f.Height != to-from {
		err = &Error{Code: FrameCheckFailed, Log: f.Log, Final: true, Message: fmt.Sprintf(
			"Blender rendered %d rows of the %d that were asked for", f.Height, to-from)}
	}
	return f, err
}

// Bands measures how long each of so many bands of equal height takes, in seconds from the top,
// for a preview whose picture was just rendered. There are fewer of a picture with fewer rows, and
// none of a scene that may not be cut. Errors: those of Render.
func (p *Process) Bands(ctx context.Context, frame, bands int) ([]float64, error) {
	p.output.begin(nil)
	var reply struct {
		Seconds []float64 `json:"seconds"`
	}
	err := p.call(ctx, command{Command: "bands", Frame: &frame, Bands: bands}, "bands", &reply)
	if err == nil && len(reply.Seconds) > bands {
		return nil, fmt.Errorf("measure %d bands: Blender measured %d", bands, len(reply.Seconds))
	}
	return reply.Seconds, err
}

// Finish makes the picture of a frame from a file of its passes (strips.Join), with the scene's
// compositor, colours and format: the picture that Render gives. Errors: those of Strip;
// frame_check_failed for a file that is not of all view layers and passes of the scene, or of
// another size.
func (p *Process) Finish(ctx context.Context, frame int, joined string) (Frame, error) {
	inside := filepath.Join(p.in(), "joined.exr")
	if err := LinkOrCopy(joined, inside); err != nil {
		return Frame{}, fmt.Errorf("give Blender the joined strips: %w", err)
	}
	defer os.Remove(inside)
	return p.render(ctx, command{Command: "finish", Frame: &frame, File: p.inside(inside)}, nil)
}
