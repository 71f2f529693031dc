package caller

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/demo"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/work/quote"
)

// scenes are files that Blender made, with its own answers next to them.
const scenes = "../../../internal/render/blendfile/testdata"

func TestInspectPrintsTheSceneAndItsPrice(t *testing.T) {
	t.Parallel()
	// Frames 0 to 77 by threes; frame 0 has no price.
	lines := inspectedLines(t, "settings.blend")
	for _, want := range []string{
		"saved by Blender 3.4",
		"scene Szene äöü, CYCLES",
		"frames 0 to 77, step 3, at 29.97 frames a second",
		"picture 1234 x 567 at 37 %, OPEN_EXR",
		"quality 17 samples",
		"camera Kamera",
		"layers Front, Back",
		"price $0.25 for 25 frames",
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
		"linked.blend":      {"files 1 library"},
		"drivers.blend":     {"script text startup.py", "driven cycles.samples", "warning The samples change from frame to frame; the file has 5. Each frame uses the samples that Blender computes for it. (driven_samples)"},
		"compositor.blend":  {"writes //passes/, by the compositor's node File Output"},
		"film_output.blend": {"warning The scene's output is a movie file (FFMPEG). The frames are delivered as PNG pictures, and a movie with the scene's codec and sound can be made of them. (movie_output_as_png)", "Download the movie once the job is completed."},
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

// projects are folders with a scene and its files, which Blender made.
const projects = "../../../internal/render/scenefiles/testdata"

func TestInspectFindsTheFilesOfTheSceneOnThisDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, root string
		wants      []string
	}{
		{"kinds/main.blend", "", []string{
			"files 3 images, 1 image sequence, 1 UDIM set, 1 volume, 1 IES light, 1 cache, 1 cache folder of 328 B; 3 missing",
			"missing image //tex/missing.png, used by missing, of material missing",
			"missing image //../above.png, used by above, of material above; it lies outside of the project's folder: choose another with --project-root",
			"missing 1 of 3 files of UDIM set //tex/wall.<UDIM>.png, used by wall, of material wall; the first is tex/wall.1002.png",
			"found as tex/case.png for image //Tex/CASE.PNG, used by case, of material case",
		}},
		{"chain/shots/010/shot.blend", projects + "/chain", []string{"files 1 image, 2 libraries"}},
		{"packed/scene.blend", "", []string{"files 1 image"}},
	} {
		var text strings.Builder
		inspectedFile(t, filepath.Join(projects, c.file), c.root).print(&text)
		var lines []string
		for line := range strings.Lines(text.String()) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		for _, want := range c.wants {
			if !slices.Contains(lines, want) {
				t.Errorf("%s: no line %q in\n%s", c.file, want, text.String())
			}
		}
		if strings.Contains(text.String(), "other.png") {
			t.Errorf("%s: what the scene does not use is reported:\n%s", c.file, text.String())
		}
	}
}

// TestInspectNamesDataThatLibrariesLackOnce: the .blend tells it, and so do its files.
func TestInspectNamesDataThatLibrariesLackOnce(t *testing.T) {
	t.Parallel()
	found := inspectedFile(t, filepath.Join(projects, "gone/main.blend"), "")
	for _, w := range found.Warnings {
		if w.Code != quote.WarnMissingData {
			continue
		}
		if named := w.Detail.(map[string]any)["count"]; named != len(found.MissingData) {
			t.Errorf("%v are named of %d", named, len(found.MissingData))
		}
		return
	}
	t.Errorf("no warning names the missing data: %+v", found.Warnings)
}

func TestInspectAsJSONHasAllFacts(t *testing.T) {
	t.Parallel()
	found, err := inspect(filepath.Join(scenes, "scenes.blend"), FileFlags{}, client.Settings{})
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

func TestInspectAsJSONHasEachFileWithItsOwnerStatusAndReach(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := terminal.PrintJSON(&text, inspectedFile(t, filepath.Join(projects, "packed/scene.blend"), "")); err != nil {
		t.Fatal(err)
	}
	var got struct{ Files []map[string]any }
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Files) != 2 {
		t.Fatalf("%d files in %s", len(got.Files), text.String())
	}
	for name, want := range map[string]any{"kind": "image", "path": "src/t.png", "stored": "//t.png", "from": "src/m.blend", "owner": "t", "used_by": "material t", "status": "found", "reach": "needed"} {
		if got.Files[1][name] != want {
			t.Errorf("%s is %v, want %v", name, got.Files[1][name], want)
		}
	}
}

func TestInspectSaysWhatIsNoBlend(t *testing.T) {
	t.Parallel()
	if _, err := inspect(filepath.Join(scenes, "settings.json"), FileFlags{}, client.Settings{}); !errors.Is(err, blendfile.ErrNotBlend) {
		t.Errorf("%v, want ErrNotBlend", err)
	}
}

// inspectedFile is what inspect finds of a file, with the folder of its project.
func inspectedFile(t *testing.T, file, root string) *inspected {
	t.Helper()
	found, err := inspect(file, FileFlags{ProjectRoot: root}, client.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// inspectedLines is the printed table, each run of blanks as one.
func inspectedLines(t *testing.T, file string) map[string]bool {
	t.Helper()
	found := inspectedFile(t, filepath.Join(scenes, file), "")
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
	found := inspectedFile(t, filepath.Join(scenes, "library.blend"), "")
	if found.Refused == nil || found.PriceCents != 0 {
		t.Fatalf("got %+v, %d cents", found.Refused, found.PriceCents)
	}
	var text strings.Builder
	found.print(&text)
	if !strings.Contains(text.String(), string(found.Refused.Code)) || strings.Contains(text.String(), "price") {
		t.Errorf("printed %s", text.String())
	}
}

// TestARefusedFileIsNotSaidToBeRendered: one that only a later Blender reads has no other warning
// of its version.
func TestARefusedFileIsNotSaidToBeRendered(t *testing.T) {
	t.Parallel()
	unpack, err := zstd.NewReader(bytes.NewReader(demo.Scene()))
	if err != nil {
		t.Fatal(err)
	}
	defer unpack.Close()
	file, err := io.ReadAll(unpack)
	if err != nil {
		t.Fatal(err)
	}
	for version, refused := range map[string]bool{"402": false, "599": true} {
		copy(file[len("BLENDER-v"):], version)
		path := filepath.Join(t.TempDir(), "newer.blend")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		found := inspectedFile(t, path, "")
		warned := slices.ContainsFunc(found.Warnings, func(w quote.Warning) bool { return w.Code == quote.WarnNewerFile })
		if (found.Refused != nil) != refused || warned == refused {
			t.Errorf("%s: refused %+v, warned %v", version, found.Refused, warned)
		}
	}
}
