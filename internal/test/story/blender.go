package story

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
	"svc.example/internal/work/worker"
)

// AddOn is the folder of the Blender add-on.
const AddOn = "../../../../addons/blender"

// RealBlender finds the Blender of these stories; a machine without one is no
// place to run them.
func RealBlender(t *testing.T) string {
	t.Helper()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("this story drives a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	return path
}

// QuickScene is the demo scene with pictures of 96x54 and two samples, two frames of
// it, made by a real Blender once for all stories.
var QuickScene = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "svc-scene-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, demo.Filename)
	if err := os.WriteFile(path, demo.Scene(), 0o600); err != nil {
		return nil, err
	}
	program, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return nil, err
	}
	if err := Edit(program, path, "s.frame_end = 2; s.render.resolution_percentage = 20; s.cycles.samples = 2"); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Edit changes a .blend in Blender: code knows bpy, and the scene as s.
func Edit(program, path, code string) error {
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	code = "import bpy; s = bpy.context.scene; " + code + "; bpy.ops.wm.save_as_mainfile(filepath=" + strconv.Quote(path) + ")"
	command := exec.CommandContext(ctx, program, "--background", "--factory-startup", path, "--python-exit-code", "1", "--python-expr", code)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", code, err, output)
	}
	return nil
}

// OnCPU lets any Blender work, on the processor.
func OnCPU(w *worker.Config) {
	w.Device, w.AllowBlenderVersion, w.Denoise = blender.CPU, true, blender.Off
}

// WantPictures checks that a ZIP holds so many PNGs of that size, and no two
// alike.
func WantPictures(t *testing.T, content []byte, count, width, height int) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, entry := range archive.File {
		if !strings.HasPrefix(entry.Name, "output/") {
			continue
		}
		seen++
		file, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(file)
		if err != nil {
			t.Fatalf("%s: %v", entry.Name, err)
		}
		if size := picture.Bounds().Size(); size.X != width || size.Y != height {
			t.Errorf("%s is %v, want %dx%d", entry.Name, size, width, height)
		}
	}
	if seen != count {
		t.Errorf("the ZIP has %d frames, want %d", seen, count)
	}
}
