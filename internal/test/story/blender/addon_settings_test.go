package blender_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/ociotest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// TestAnArtistChoosesWhatIsRendered orders another camera, view layer, size and samples than the
// file has, and frames by markers and lists. A choice ends with the file for which it was made.
func TestAnArtistChoosesWhatIsRendered(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	svc.Worker(worker.Blender{Path: story.RealBlender(t)}, story.OnCPU)
	a := legacyDesk(svc)
	var signedIn, told map[string]any
	a.signIn(svc.Caller(story.Credit), &signedIn)
	a.does("choose", &told, nil)
	for what, want := range map[string]string{
		"file":     `[100,4,{}]`,
		"menus":    `[["Scene Camera (Camera)","Camera","Far"],["All That Render","ViewLayer","Empty"]]`,
		"frames":   `["3-7","Select two markers in the timeline first",null,2,"Enter the frames first, such as 1-50, 80","1-3, 9"]`,
		"chosen":   `{"camera":"Far","resolution_percentage":50,"view_layer":"ViewLayer"}`, // never more samples than the file's
		"less":     `{"camera":"Far","samples":2,"view_layer":"ViewLayer"}`,
		"renamed":  `["FILE",["samples","view_layer"]]`,
		"reopened": `{}`,
		"size":     `[24,16]`,
		"colour":   `"b"`,
	} {
		got, err := json.Marshal(told[what])
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s (%v)", what, got, want, err)
		}
	}
}

// TestTheColoursOfTheArtistsBlenderAreRendered has a Blender that runs with an OpenColorIO
// configuration, which is outside of the scene's folder: it comes along with its LUT, with packed
// files and without, unless the artist wants Blender's own colours.
func TestTheColoursOfTheArtistsBlenderAreRendered(t *testing.T) {
	t.Parallel()
	program := story.RealBlender(t)
	files, with, without := colouredShot(t, program)
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	svc.Worker(worker.Blender{Path: program}, story.OnCPU)
	a := legacyDesk(svc)
	studio := t.TempDir()
	ociotest.Write(t, studio)
	if err := os.WriteFile(filepath.Join(a.folder, "shot.blend"), []byte(files["shot.blend"]), 0o600); err != nil {
		t.Fatal(err)
	}
	var signedIn map[string]any
	a.signIn(svc.Caller(story.Credit), &signedIn)
	a.ocio = filepath.Join(studio, ociotest.Config)
	var told struct {
		Folders []string
		Refused string
	}
	a.does("colours", &told, nil)
	var seen [][]string
	for _, folder := range told.Folders {
		seen = append(seen, []string{pixelsOf(t, filepath.Join(folder, "frame_0001.png")), pixelsOf(t, filepath.Join(folder, "frame_0002.png"))})
	}
	if want := [][]string{with, with, without}; !slices.EqualFunc(seen, want, slices.Equal[[]string]) {
		t.Errorf("the frames have the pixels\n%v, want\n%v", seen, want)
	}
	if !strings.Contains(told.Refused, "ocio://default is built into OpenColorIO and cannot be sent") {
		t.Errorf("a configuration without a file: %q", told.Refused)
	}
}
