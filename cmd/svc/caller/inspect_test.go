package caller

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/blendfile"
)

// scenes are files that Blender made, with its own answers beside them.
const scenes = "../../../internal/ground/blendfile/testdata"

func TestInspectPrintsTheSceneAndItsPrice(t *testing.T) {
	t.Parallel()
	// Frames 0 to 77 by threes; frame 0 has no price.
	lines := inspectedLines(t, "settings.blend")
	for _, want := range []string{
		"saved by Blender 3.4",
		"scene Szene äöü (of 1), CYCLES",
		"frames 0 to 77, step 3, at 29.97 a second",
		"picture 1234 x 567 at 37 %, OPEN_EXR",
		"quality 17 samples",
		"camera Kamera",
		"layers Front, Back",
		"price 0.25 USD for 25 frames",
	} {
		if !lines[want] {
			t.Errorf("no line %q among %v", want, lines)
		}
	}
}

func TestInspectWarnsOfWhatARenderWouldLack(t *testing.T) {
	t.Parallel()
	for file, wants := range map[string][]string{
		"files.blend": {"missing cache //mesh.pc2, used by Cached, of scene Scene"},
		"reach.blend": {
			"missing image //need_material.png, used by need_material.png, of material need_material.png",
			"script text need.py", `script object Driven, ["need_python"]: noise.random()`,
		},
		"linked.blend":      {"missing library //library.blend, used by library.blend, of scene Scene"},
		"drivers.blend":     {"script text startup.py", "driven cycles.samples", "warning The samples change by frame; the file stores 5. Each frame is rendered with the samples that Blender computes for it. (driven_samples)"},
		"compositor.blend":  {"writes //passes/, by the compositor's node File Output"},
		"film_output.blend": {"warning The scene's output is a film (FFMPEG). The frames are delivered as PNG pictures, without sound. (movie_output_as_png)", "Make the film of the delivered frames."},
		"library.blend":     {"scene none"},
	} {
		lines := inspectedLines(t, file)
		for _, want := range wants {
			if !lines[want] {
				t.Errorf("%s: no line %q among %v", file, want, lines)
			}
		}
	}
}

func TestInspectAsJSONHasAllFacts(t *testing.T) {
	t.Parallel()
	found, err := readFacts(filepath.Join(scenes, "scenes.blend"))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := terminal.PrintJSON(&text, found); err != nil {
		t.Fatal(err)
	}
	var got struct {
		OK         bool   `json:"ok"`
		SceneCount int    `json:"scene_count"`
		FrameCount int    `json:"frame_count"`
		PriceCents int    `json:"price_cents"`
		Currency   string `json:"currency"`
		Scene      struct {
			Name string `json:"name"`
		} `json:"scene"`
	}
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !got.OK || got.SceneCount != 3 || got.FrameCount != 10 || got.PriceCents != 10 || got.Currency != "USD" || got.Scene.Name != "M middle" {
		t.Errorf("got %+v from %s", got, text.String())
	}
}

func TestInspectSaysWhatIsNoBlend(t *testing.T) {
	t.Parallel()
	if _, err := readFacts(filepath.Join(scenes, "settings.json")); !errors.Is(err, blendfile.ErrNotBlend) {
		t.Errorf("%v, want ErrNotBlend", err)
	}
}

// inspectedLines is the printed table, each run of blanks as one.
func inspectedLines(t *testing.T, file string) map[string]bool {
	t.Helper()
	found, err := readFacts(filepath.Join(scenes, file))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	found.print(&text)
	lines := map[string]bool{}
	for line := range strings.Lines(text.String()) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	return lines
}

func TestInspectSaysWhatTheServiceWouldRefuse(t *testing.T) {
	t.Parallel()
	// A library holds no scene.
	found, err := readFacts("../../../internal/ground/blendfile/testdata/library.blend")
	if err != nil {
		t.Fatal(err)
	}
	if found.Refused == nil || found.PriceCents != 0 {
		t.Fatalf("got %+v, %d cents", found.Refused, found.PriceCents)
	}
	var text strings.Builder
	found.print(&text)
	if !strings.Contains(text.String(), string(found.Refused.Code)) || strings.Contains(text.String(), "price") {
		t.Errorf("printed %s", text.String())
	}
}
