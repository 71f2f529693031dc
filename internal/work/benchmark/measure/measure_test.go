package measure_test

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/measure"
)

var update = flag.Bool("update", false, "write the references of the scenes again")

func found(t *testing.T) blender.Options {
	t.Helper()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("this test drives a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	return blender.Options{Path: path, Temp: t.TempDir(), Device: blender.CPU}
}

// warmUp renders a scene's picture as the warm-up does.
func warmUp(t *testing.T, scene string) string {
	t.Helper()
	opts := found(t)
	opts.Out = t.TempDir()
	p, err := blender.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Open(t.Context(), blender.SingleFile(filepath.Join("scenes", scene+".blend"))); err != nil {
		t.Fatal(err)
	}
	frame, err := p.Render(t.Context(), measure.CheckSamples, nil)
	if err != nil {
		t.Fatal(err)
	}
	return frame.Path
}

// The references are the warm-up's pictures, averaged over squares.
func TestReferencesAreThere(t *testing.T) {
	t.Parallel()
	for _, scene := range benchmark.SceneNames() {
		path := filepath.Join("scenes", scene+".png")
		if *update {
			img, err := png.Decode(bytes.NewReader(read(t, warmUp(t, scene))))
			if err != nil {
				t.Fatal(err)
			}
			var small bytes.Buffer
			if err := png.Encode(&small, measure.Reduce(img)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, small.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		size, err := png.DecodeConfig(bytes.NewReader(read(t, path)))
		if err != nil || size.Width != 16 || size.Height != 9 {
			t.Errorf("the reference of %s is %dx%d, want 16x9: %v", scene, size.Width, size.Height, err)
		}
		if seen, err := pixels.Read(bytes.NewReader(read(t, path))); err != nil || seen.SHA256 != benchmark.Reference(scene) {
			t.Errorf("the pixels of %s have the hash %s, and the judge wants %s: %v", path, seen.SHA256, benchmark.Reference(scene), err)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
