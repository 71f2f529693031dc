package demo_test

import (
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
)

func TestTheSceneStaysSmall(t *testing.T) {
	t.Parallel()
	if size := len(demo.Scene()); size > 150_000 {
		t.Errorf("the embedded scene is %d bytes, want at most 150 kB", size)
	}
}

func TestTheSceneRendersAsItIs(t *testing.T) {
	t.Parallel()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("this test drives a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	file := filepath.Join(t.TempDir(), demo.Filename)
	if err := os.WriteFile(file, demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := blender.Start(t.Context(), blender.Options{Path: path, Temp: t.TempDir(), Out: t.TempDir(), Device: blender.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	opened, err := p.Open(t.Context(), blender.SingleFile(file))
	if err != nil {
		t.Fatal(err)
	}
	if len(opened.Switched) != 0 || opened.Format != "PNG" {
		t.Errorf("opened %+v, want nothing switched", opened)
	}
	frame, err := p.Render(t.Context(), demo.FirstFrame, nil)
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.Open(frame.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	if got, err := pixels.Read(image); err != nil || got.Width != 480 || got.Height != 270 {
		t.Errorf("%+v, %v; want 480x270", got, err)
	}
	t.Logf("a frame takes %.2f s here", frame.Seconds)
}
