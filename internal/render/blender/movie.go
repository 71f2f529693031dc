package blender

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Movie is what Blender encodes: pictures of one size, as they are shown one after the other.
type Movie struct {
	Frames []File  // in order; Name is a file name without folders
	FPS    float64 // frames per second, above 0
	Width  int     // pixels of each picture
	Height int
	// Own, when set, is the file that the pictures were rendered of, and its Scene. The movie then
	// has that scene's codec, quality and rates where an MP4 can carry them.
	Own *Input
	// First is the number of the first picture where the others follow it one by one; otherwise 0.
	// With Own, the movie of such pictures has the sound of the scene's sequencer.
	First int
}

// movieOrder is the driver's command.
type movieOrder struct {
	Command string   `json:"command"`
	Folder  string   `json:"folder"`
	Files   []string `json:"files"`
	FPS     float64  `json:"fps"`
	Width   int      `json:"width"`
	Height  int      `json:"height"`
	File    string   `json:"file,omitempty"`
	Scene   string   `json:"scene,omitempty"`
	First   int      `json:"first,omitempty"`
}

// Movie encodes pictures as an MP4: with H.264 and without sound, unless Own says otherwise. Their colours stay as they are; those
// of OpenEXR become sRGB. The process must be new, and opens nothing afterwards. The movie lies
// in Options.Out and belongs to the caller. When ctx ends the process ends. Errors: *Error with
// frame_check_failed, which is final, for pictures that Blender cannot read; with
// encoder_unavailable where this Blender encodes no movies; and those of Render.
func (p *Process) Movie(ctx context.Context, m Movie) (path string, err error) {
	folder := filepath.Join(p.in(), "movie")
	order := movieOrder{Command: "movie", Folder: p.inside(folder), FPS: m.FPS, Width: m.Width, Height: m.Height, First: m.First}
	if m.Own != nil {
		root, err := p.place(*m.Own)
		if err != nil {
			return "", err
		}
		order.File, order.Scene = p.inside(filepath.Join(root, filepath.FromSlash(m.Own.Main))), m.Own.Scene
	}
	for _, f := range m.Frames {
		if f.Name != filepath.Base(f.Name) {
			return "", fmt.Errorf("a picture is called %q", f.Name)
		}
		if err := place(f.Path, folder, f.Name); err != nil {
			return "", fmt.Errorf("give Blender the pictures: %w", err)
		}
		order.Files = append(order.Files, f.Name)
	}
	p.output.begin(nil)
	var done struct {
		File string `json:"file"`
	}
	if err := p.call(ctx, order, "movie_done", &done); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = &Error{Code: FrameTimeExceeded, Message: "the movie took longer to encode than it may", Log: p.output.text()}
		}
		return "", err
	}
	return p.collect(done.File)
}
