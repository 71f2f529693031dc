package blender

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Strip renders some rows of a frame, from row from up to row to: raw passes of all view layers,
// as an OpenEXR file of that height. Rows count from the top of what is rendered, the picture or
// its border. The scene was opened for that (Input.Strips). Errors: those of Render; frame_check_failed, final, for a scene
// that may not be cut (Opened.Undivided).
func (p *Process) Strip(ctx context.Context, frame, from, to int, progress func(float64)) (Frame, error) {
	if from < 0 || to <= from {
		return Frame{}, fmt.Errorf("render the rows from %d up to %d: there are none", from, to)
	}
	if err := p.divides(); err != nil {
		return Frame{}, err
	}
	f, err := p.render(ctx, command{Command: "strip", Frame: &frame, Rows: &[2]int{from, to}}, progress)
	if err == nil && f.Height != to-from {
		err = &Error{Code: FrameCheckFailed, Log: f.Log, Final: true, Message: fmt.Sprintf(
			"Blender rendered %d rows of the %d that were asked for", f.Height, to-from)}
	}
	return f, err
}

// Finish makes the picture of a frame from a file of its passes (strips.Join), with the scene's
// compositor, colours and format: the picture that Render gives. The scene was opened for that
// (Input.Strips). Errors: those of Render; frame_check_failed for a file that is not of all view
// layers and passes of the scene, or of another size.
func (p *Process) Finish(ctx context.Context, frame int, joined string) (Frame, error) {
	if err := p.divides(); err != nil {
		return Frame{}, err
	}
	inside := filepath.Join(p.in(), "joined.exr")
	if err := LinkOrCopy(joined, inside); err != nil {
		return Frame{}, fmt.Errorf("give Blender the joined strips: %w", err)
	}
	defer os.Remove(inside)
	return p.render(ctx, command{Command: "finish", Frame: &frame, File: inside}, nil)
}

// divides refuses strips of a scene that may not be cut.
func (p *Process) divides() error {
	switch reason := p.divided.Undivided; {
	case p.divided.Scene == "":
		return errors.New("render strips of a file that was not opened for that")
	case reason != "":
		return &Error{Code: FrameCheckFailed, Final: true, Message: "the picture cannot be rendered in strips: " + reason}
	}
	return nil
}
