package blender_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
)

// Names are strangers' own: whatever a file system takes, Blender opens.
func TestFilesKeepTheirNamesInsideBlender(t *testing.T) {
	t.Parallel()
	plain := scene(t, "plain")
	for _, name := range []string{
		`-o "x" 'y' $(z) %20 #1 <ü>.blend`, "🎬 \u202e.blend", strings.Repeat("n", 249) + ".blend", "driver.py", "shots/010/scene.blend",
	} {
		opened, err := start(t, blender.Options{}).Open(t.Context(), blender.Input{Main: name, Files: []blender.File{{Name: name, Path: plain}}})
		if err != nil || opened.Scene == "" {
			t.Errorf("%q: %+v, %v", name, opened, err)
		}
	}
}

func TestNoNameLeadsOutOfTheProject(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	plain := scene(t, "plain")
	for _, name := range []string{"../driver.py", "/" + filepath.Join(out, "x.blend"), "a/../../x.blend", ""} {
		_, err := start(t, blender.Options{}).Open(t.Context(), blender.Input{Main: name, Files: []blender.File{{Name: name, Path: plain}}})
		if err == nil {
			t.Errorf("%q was opened", name)
		}
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 0 {
		t.Errorf("outside there is %v, %v", left, err)
	}
}
