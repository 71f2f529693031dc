package blender_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/blendfile"
)

// writing makes the scenes of scripts/scenes/outputs.py once a run.
var writing = sync.OnceValues(func() (string, error) { return makeScenes("outputs.py") })

// written opens a scene whose File Output nodes may write within bounds.
func written(t *testing.T, name string, limits blender.OutputLimits) (*blender.Process, blender.Opened, error) {
	t.Helper()
	dir, err := writing()
	if err != nil {
		t.Fatalf("make the scenes: %v", err)
	}
	p := start(t, blender.Options{})
	in := blender.SingleFile(filepath.Join(dir, name+".blend"))
	in.Outputs = &limits
	opened, err := p.Open(t.Context(), in)
	return p, opened, err
}

// namesOf are the names of a frame's outputs. Each lies where it should.
func namesOf(t *testing.T, f blender.Frame) (names []string) {
	t.Helper()
	for i, o := range f.Outputs {
		info, err := os.Stat(filepath.Join(f.OutputDir, strconv.Itoa(i)))
		if err != nil || info.Size() != o.SizeBytes {
			t.Errorf("output %s has %d bytes: %v", o.Name, o.SizeBytes, err)
		}
		names = append(names, o.Name)
	}
	return names
}

// allByHand renders frames of a scene by a command line, and returns the files by name.
func allByHand(t *testing.T, name string, frames ...string) map[string]string {
	t.Helper()
	dir, err := writing()
	if err != nil {
		t.Fatalf("make the scenes: %v", err)
	}
	hand := t.TempDir()
	content, err := os.ReadFile(filepath.Join(dir, name+".blend"))
	if err == nil {
		err = os.WriteFile(filepath.Join(hand, name+".blend"), content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	how := []string{"--background", "--factory-startup", "-noaudio", filepath.Join(hand, name+".blend"), "-o", "//frame_"}
	if out, err := exec.Command(find(t), append(how, frames...)...).CombinedOutput(); err != nil {
		t.Fatalf("render by hand: %v\n%s", err, out)
	}
	files := map[string]string{}
	err = filepath.WalkDir(hand, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".blend") {
			return err
		}
		name, err := filepath.Rel(hand, path)
		files[name] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// same compares files by their names, and by their sizes and pixels.
func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	if names := slices.Sorted(maps.Keys(want)); !slices.Equal(slices.Sorted(maps.Keys(got)), names) {
		t.Fatalf("there are %q, by hand %q", slices.Sorted(maps.Keys(got)), names)
	}
	for name, path := range want {
		one, other := picture(t, path), picture(t, got[name])
		if one.SHA256 != other.SHA256 || one.FloatSHA256 != other.FloatSHA256 || one.Width != other.Width || one.Height != other.Height {
			t.Errorf("%s is %+v, by hand %+v", name, other, one)
		}
	}
}

// TestFileOutputNodesWriteWhatBlenderWrites compares the files of each frame with those that a
// command line gives: by their names and pixels, for several nodes, slots and formats.
func TestFileOutputNodesWriteWhatBlenderWrites(t *testing.T) {
	t.Parallel()
	p, opened, err := written(t, "five", blender.OutputLimits{Files: 6, Bytes: 1 << 20})
	if err != nil || len(opened.Switched) > 0 {
		t.Fatalf("opened %+v, %v", opened, err)
	}
	got := map[string]string{}
	for _, number := range []int{7, 12} {
		f := render(t, p, number)
		got[filepath.Base(f.Path)] = f.Path
		for i, name := range namesOf(t, f) {
			got[name] = filepath.Join(f.OutputDir, strconv.Itoa(i))
		}
	}
	same(t, got, allByHand(t, "five", "-f", "7,12"))
	if len(got) != 14 {
		t.Errorf("there are %d files", len(got))
	}
}

// TestViewsAndPreviewsAreWhatBlenderWrites compares all files of a frame with those that a command
// line gives. The picture is the first view, under its own name.
func TestViewsAndPreviewsAreWhatBlenderWrites(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{
		"previews":              "frame_0007.exr",
		"previews_of_layers":    "frame_0007.exr",
		"eyes":                  "frame_0007_L.png",
		"eyes_previews":         "frame_0007_L.exr",
		"three_views":           "frame_0007_L.exr",
		"eyes_side":             "frame_0007.png",
		"eyes_top":              "frame_0007.png",
		"eyes_squeezed":         "frame_0007.png",
		"eyes_anaglyph":         "frame_0007.png",
		"eyes_top_previews":     "frame_0007.exr",
		"eyes_in_one":           "frame_0007.exr",
		"eyes_in_layers":        "frame_0007.exr",
		"eyes_in_folders":       "frame_0007/left.png",
		"eyes_with_nodes":       "frame_0007_L.png",
		"eyes_of_cloth":         "frame_0007_L.exr",
		"eyes_of_cloth_blurred": "frame_0007_L.exr",
		"one_eye":               "frame_0007.png",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, opened, err := written(t, name, blender.OutputLimits{Files: 9, Bytes: 1 << 20, Views: true})
			if err != nil || len(opened.Switched) > 0 {
				t.Fatalf("opened %+v, %v", opened, err)
			}
			f := render(t, p, 7)
			got := map[string]string{first: f.Path}
			for i, name := range namesOf(t, f) {
				got[name] = filepath.Join(f.OutputDir, strconv.Itoa(i))
			}
			frames := []string{"-s", "7", "-e", "7", "-a"}
			if opened.Plays {
				frames[1] = "1"
			}
			want := allByHand(t, name, frames...)
			maps.DeleteFunc(want, func(name, _ string) bool { return opened.Plays && !strings.HasPrefix(name, "frame_0007") })
			same(t, got, want)
			if seen := picture(t, f.Path); seen.Width != f.Width || seen.Height != f.Height || filepath.Base(f.Path) != "frame_0007"+filepath.Ext(first) {
				t.Errorf("the picture %s has %dx%d pixels, and is reported as %dx%d", f.Path, seen.Width, seen.Height, f.Width, f.Height)
			}
		})
	}
}

// A movie of two eyes is one of PNGs, as other movies are.
func TestViewsOfAMovieArePictures(t *testing.T) {
	t.Parallel()
	p, opened, err := written(t, "eyes_filmed", blender.OutputLimits{Files: 9, Bytes: 1 << 20, Views: true})
	if err != nil || !slices.Equal(opened.Switched, []string{"movie_output_as_png"}) {
		t.Fatalf("opened %+v, %v", opened, err)
	}
	f := render(t, p, 7)
	if names := namesOf(t, f); !slices.Equal(names, []string{"frame_0007_R.png"}) || !f.Outputs[0].View {
		t.Errorf("next to %s are %q, %+v", f.Path, names, f.Outputs)
	}
}

func TestViewsLieNextToTheirPictureOrBelow(t *testing.T) {
	t.Parallel()
	_, _, err := written(t, "eyes_astray", blender.OutputLimits{Files: 9, Bytes: 1 << 20, Views: true})
	if refused := failure(t, err, blender.FrameCheckFailed); !refused.Final || !strings.Contains(refused.Message, "the view right") {
		t.Errorf("%+v, want that the suffix of a view is refused", refused)
	}
}

// A server of before views and previews were delivered takes neither.
func TestViewsAndPreviewsAreOffWhereNobodyTakesThem(t *testing.T) {
	t.Parallel()
	p, opened, err := written(t, "eyes_previews", blender.OutputLimits{Files: 9, Bytes: 1 << 20})
	if err != nil || !slices.Equal(opened.Switched, []string{"exr_preview_off", "multiview_off"}) {
		t.Fatalf("opened %+v, %v", opened, err)
	}
	if f := render(t, p, 7); len(f.Outputs) != 0 {
		t.Errorf("it wrote %+v", f.Outputs)
	}
}

func TestPathsOfFileOutputNodesLeadNowhereElse(t *testing.T) {
	t.Parallel()
	p, _, err := written(t, "hostile", blender.OutputLimits{Files: 9, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"x/up0003.png", "x/abs0003.png", "x/con0003.png", "same_0003.png", "same_0003_2.png", "layers0003.exr"}
	if names := namesOf(t, render(t, p, 3)); !slices.Equal(names, want) {
		t.Errorf("the outputs are %q, want %q", names, want)
	}
	if _, err := os.Stat("/tmp/svc_stray"); err == nil {
		t.Error("a node wrote to its own path")
	}
}

// What is counted without Blender is what Blender writes: slots without a link and muted nodes
// write nothing, a multilayer file is one, and a group's node writes once.
func TestTheReaderCountsWhatFileOutputNodesWrite(t *testing.T) {
	t.Parallel()
	dir, err := writing()
	if err != nil {
		t.Fatalf("make the scenes: %v", err)
	}
	for name, want := range map[string]int{"five": 6, "hostile": 6, "many": 20} {
		file, err := os.ReadFile(filepath.Join(dir, name+".blend"))
		if err != nil {
			t.Fatal(err)
		}
		facts, err := blendfile.Inspect(bytes.NewReader(file), blendfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		counted := 0
		for _, n := range facts.Scene.FileOutputNodes {
			if !n.Muted {
				counted += n.Files
			}
		}
		p, _, err := written(t, name, blender.OutputLimits{Files: 64, Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if wrote := len(render(t, p, 3).Outputs); counted != want || wrote != want {
			t.Errorf("%s: counted %d, Blender wrote %d, want %d", name, counted, wrote, want)
		}
	}
}

func TestFileOutputNodesWriteWithinBounds(t *testing.T) {
	t.Parallel()
	_, _, err := written(t, "many", blender.OutputLimits{Files: 19, Bytes: 1 << 20})
	if refused := failure(t, err, blender.TooManyOutputs); !refused.Final || !strings.Contains(refused.Message, "more than 19 files") {
		t.Errorf("%+v, want that there are too many files", refused)
	}
	p, _, err := written(t, "many", blender.OutputLimits{Files: 20, Bytes: 2000})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Render(t.Context(), 1, nil)
	if refused := failure(t, err, blender.TooManyOutputs); !refused.Final || !strings.Contains(refused.Message, "besides the picture") {
		t.Errorf("%+v, want that they are too large", refused)
	}
}
