package blender_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/render/blender"
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

// TestFileOutputNodesWriteWhatBlenderWrites compares the files of each frame with those that a
// command line gives: by their names and pixels, for several nodes, slots and formats.
func TestFileOutputNodesWriteWhatBlenderWrites(t *testing.T) {
	t.Parallel()
	p, opened, err := written(t, "five", blender.OutputLimits{Files: 6, Bytes: 1 << 20})
	if err != nil || len(opened.Switched) > 0 {
		t.Fatalf("opened %+v, %v", opened, err)
	}
	dir, _ := writing()
	hand := t.TempDir()
	content, err := os.ReadFile(filepath.Join(dir, "five.blend"))
	if err == nil {
		err = os.WriteFile(filepath.Join(hand, "five.blend"), content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(find(t), "--background", "--factory-startup", "-noaudio", filepath.Join(hand, "five.blend"), "-o", "//main_", "-f", "7,12").CombinedOutput(); err != nil {
		t.Fatalf("render by hand: %v\n%s", err, out)
	}
	byName := map[string]string{}
	for _, number := range []int{7, 12} {
		f := render(t, p, number)
		for i, name := range namesOf(t, f) {
			byName[name] = filepath.Join(f.OutputDir, strconv.Itoa(i))
		}
	}
	found := 0
	err = filepath.WalkDir(hand, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), "main_") || entry.Name() == "five.blend" {
			return err
		}
		found++
		name, err := filepath.Rel(hand, path)
		if ours := byName[name]; ours == "" {
			t.Errorf("%s is missing", name)
		} else if one, other := picture(t, path), picture(t, ours); one.SHA256 != other.SHA256 || one.FloatSHA256 != other.FloatSHA256 || one.Width != 48 {
			t.Errorf("%s is %+v, by hand %+v", name, other, one)
		}
		return err
	})
	if err != nil || found != 12 || len(byName) != 12 {
		t.Errorf("by hand there are %d outputs, here %v, %v", found, byName, err)
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

func TestFileOutputNodesWriteWithinBounds(t *testing.T) {
	t.Parallel()
	_, _, err := written(t, "many", blender.OutputLimits{Files: 19, Bytes: 1 << 20})
	if refused := failure(t, err, blender.FrameCheckFailed); !refused.Final || !strings.Contains(refused.Message, "more than 19 files") {
		t.Errorf("%+v, want that there are too many files", refused)
	}
	p, _, err := written(t, "many", blender.OutputLimits{Files: 20, Bytes: 2000})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Render(t.Context(), 1, nil)
	if refused := failure(t, err, blender.FrameCheckFailed); !refused.Final || !strings.Contains(refused.Message, "File Output") {
		t.Errorf("%+v, want that they are too large", refused)
	}
}
