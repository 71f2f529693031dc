package causes_test

import (
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/causes"
)

func TestAWarningIsGivenExactlyWhereThePictureDiffers(t *testing.T) {
	t.Parallel()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("this test drives a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	folder := t.TempDir()
	scenes, err := causes.Make(t.Context(), path, filepath.Join(folder, "made"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := causes.Compare(t.Context(), path, filepath.Join(folder, "painted"), scenes, true)
	if err != nil {
		t.Fatal(err)
	}
	told, quiet := 0, 0
	for _, r := range rows {
		switch {
		case r.Problem != "":
			t.Errorf("%s, %s: %s", r.Scene.Name, r.Scene.About, r.Problem)
		case r.FalseAlarm():
			t.Errorf("%s, %s: %s is reported, and the picture is the same", r.Scene.Name, r.Scene.About, r.Scene.Kind)
		case r.Missed():
			t.Errorf("%s, %s: %s is not told, and the picture differs", r.Scene.Name, r.Scene.About, r.Scene.Kind)
		case r.Told:
			told++
		default:
			quiet++
		}
	}
	// Both halves are there: a comparison of nothing proves nothing.
	if told < 30 || quiet < 30 {
		t.Errorf("%d scenes have their warning and %d rightly have none, want 30 of each", told, quiet)
	}
	t.Logf("\n%s", causes.Table(rows))
}
