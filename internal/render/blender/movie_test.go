package blender_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
)

// decode has Blender itself show a movie: it writes frames 1 to n as PNG.
const decode = `
import bpy, sys
path, out, width, height, frames = sys.argv[-5:]
scene = bpy.context.scene
scene.sequence_editor_create().sequences.new_movie("movie", path, 1, 1, fit_method="ORIGINAL")
render = scene.render
render.resolution_x, render.resolution_y, render.resolution_percentage = int(width), int(height), 100
render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
scene.view_settings.view_transform, render.dither_intensity = "Standard", 0
scene.frame_start, scene.frame_end = 1, int(frames)
render.filepath = out + "/"
bpy.ops.render.render(animation=True)
strip = scene.sequence_editor.sequences_all[0]
print("fps", round(strip.fps, 3), "frames", strip.frame_duration)
`

// shades are the colours of the frames: one each, so that none can be another's.
var shades = []color.RGBA{{200, 40, 30, 255}, {30, 160, 60, 255}, {20, 60, 200, 255}, {240, 240, 240, 255}, {128, 128, 128, 255}}

// pictures writes a PNG for each shade.
func pictures(t *testing.T, width, height int) (files []blender.File) {
	t.Helper()
	for i, shade := range shades {
		picture := image.NewRGBA(image.Rect(0, 0, width, height))
		for j := range picture.Pix {
			picture.Pix[j] = []uint8{shade.R, shade.G, shade.B, 255}[j%4]
		}
		file := blender.File{Name: fmt.Sprintf("%06d.png", i+1), Path: filepath.Join(t.TempDir(), "picture.png")}
		to, err := os.Create(file.Path)
		if err == nil {
			err = errors.Join(png.Encode(to, picture), to.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// TestAMovieHasTheColoursOfItsFrames encodes frames of an odd size at a speed that is no whole
// number.
func TestAMovieHasTheColoursOfItsFrames(t *testing.T) {
	t.Parallel()
	p := start(t, blender.Options{})
	path, err := p.Movie(t.Context(), blender.Movie{Frames: pictures(t, 97, 65), FPS: 23.976, Width: 97, Height: 65})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	script := filepath.Join(folder, "decode.py")
	if err := os.WriteFile(script, []byte(decode), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), find(t), "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", script, "--", path, folder, "96", "64", fmt.Sprint(len(shades))).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if want := fmt.Sprintf("fps 23.976 frames %d", len(shades)); !strings.Contains(string(said), want+"\n") {
		t.Errorf("it has not %s: %s", want, said)
	}
	for i, shade := range shades {
		file, err := os.Open(filepath.Join(folder, fmt.Sprintf("%04d.png", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := png.Decode(file)
		_ = file.Close()
		if err != nil {
			t.Fatal(err)
		}
		r, g, b, _ := shown.At(48, 32).RGBA()
		for j, got := range []uint32{r >> 8, g >> 8, b >> 8} {
			if want := int([]uint8{shade.R, shade.G, shade.B}[j]); int(got) < want-4 || int(got) > want+4 {
				t.Errorf("frame %d is %d %d %d, want %v", i+1, r>>8, g>>8, b>>8, shade)
				break
			}
		}
	}
}
