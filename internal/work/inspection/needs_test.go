package inspection_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/quote"
)

func TestASceneNeedsWhatBlenderReadsItsFilesBy(t *testing.T) {
	t.Parallel()
	file := func(kind scenefiles.Kind, path string) scenefiles.File {
		return scenefiles.File{
			Kind: kind, Path: path, Stored: "//" + path, From: "scene.blend", Owner: "it", Status: scenefiles.StatusFound, Reach: scenefiles.ReachNeeded,
			Names: []scenefiles.Name{{Path: path}},
		}
	}
	perhaps, missing := file(scenefiles.KindCache, "unused.abc"), file(scenefiles.KindCache, "missing.abc")
	perhaps.Reach = scenefiles.ReachPerhaps
	missing.Status, missing.Names = scenefiles.StatusMissing, nil
	fluid := file(scenefiles.KindSimulation, "cache/fluid")
	fluid.Names = []scenefiles.Name{{Path: "cache/fluid/config/config_0001.uni"}, {Path: "cache/fluid/data/fluid_data_0001.vdb"}}
	for name, c := range map[string]struct {
		file scenefiles.File
		want []buildoption.Option
	}{
		"Alembic":                   {file(scenefiles.KindCache, "birds.ABC"), []buildoption.Option{buildoption.Alembic}},
		"USD":                       {file(scenefiles.KindCache, "set.usdz"), []buildoption.Option{buildoption.USD}},
		"a cache of a mesh":         {file(scenefiles.KindCache, "mesh.pc2"), nil},
		"a volume":                  {file(scenefiles.KindVolume, "smoke_0001.vdb"), []buildoption.Option{buildoption.OpenVDB}},
		"a fluid baked to volumes":  {fluid, []buildoption.Option{buildoption.OpenVDB}},
		"a bake of something else":  {file(scenefiles.KindSimulation, "blendcache_a/1.bphys"), nil},
		"a shader":                  {file(scenefiles.KindScript, "wood.osl"), []buildoption.Option{buildoption.OSL}},
		"a film":                    {file(scenefiles.KindMovie, "plate.mov"), []buildoption.Option{buildoption.Movies}},
		"an image":                  {file(scenefiles.KindImage, "wood.exr"), nil},
		"what the picture does not": {perhaps, nil},
		"what is not there":         {missing, nil},
	} {
		var scene quote.Scene
		inspection.PutFiles(&scene, &scenefiles.Found{Main: "scene.blend", Files: []scenefiles.File{c.file, c.file}})
		if got := scene.Needs().Options(); !slices.Equal(got, c.want) || len(scene.BuildOptions) != len(c.want) {
			t.Errorf("%s: the scene needs %v by %+v, want %v", name, got, scene.BuildOptions, c.want)
		}
	}
}

func TestASceneNamesItsFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	var scene quote.Scene
	inspection.PutFiles(&scene, &scenefiles.Found{Main: "scene.blend", Files: []scenefiles.File{{
		Kind: scenefiles.KindLight, Path: "lamp.ies", From: "lib.blend", Owner: "lamp", UsedBy: "light Key", Status: scenefiles.StatusFound, Reach: scenefiles.ReachNeeded,
		Names: []scenefiles.Name{{Path: "lamp.ies"}}, Unreadable: []scenefiles.Unreadable{{Path: "lamp.ies", Why: "is empty"}},
	}}})
	want := []quote.UnreadableFile{{Path: "lamp.ies", Why: "is empty", Kind: "light", Owner: "lamp", UsedBy: "light Key", From: "lib.blend"}}
	if !slices.Equal(scene.UnreadableFiles, want) {
		t.Errorf("%+v, want %+v", scene.UnreadableFiles, want)
	}
}

func TestASceneNeedsWhatIsPackedInIt(t *testing.T) {
	t.Parallel()
	facts := &blendfile.Facts{Scene: &blendfile.Scene{}, Rendering: &blendfile.Rendering{}, Packed: []blendfile.PackedFile{
		{Kind: blendfile.KindImage, Path: "//wood.png", Owner: "wood"}, {Kind: blendfile.KindVolume, Path: "//smoke.vdb", Owner: "Smoke"},
		{Kind: blendfile.KindScript, Owner: "Glow", From: "//lib.blend"},
	}}
	want := []quote.NeededOption{
		{Option: buildoption.OpenVDB, Kind: "volume", Path: "//smoke.vdb", Owner: "Smoke"}, {Option: buildoption.OSL, Kind: "script", Owner: "Glow", From: "//lib.blend"},
	}
	if got := inspection.SceneOf(facts, "scene.blend").BuildOptions; !slices.Equal(got, want) {
		t.Errorf("the scene needs %+v, want %+v", got, want)
	}
}

// options are the files in which scripts/scenes/scenefiles_make.py has what a Blender may be
// built without.
const options = "../../render/scenefiles/testdata/options"

// needsOf is what a scene needs, in the order of options, with what needs it.
func needsOf(s quote.Scene) (all []string) {
	for _, o := range s.Needs().Options() {
		at := slices.IndexFunc(s.BuildOptions, func(n quote.NeededOption) bool { return n.Option == o })
		n := s.BuildOptions[at]
		all = append(all, strings.TrimRight(strings.Join([]string{string(o), n.Kind, n.Path, n.Owner, n.From}, " "), " "))
	}
	return all
}

// sent is the scene of a .blend that is sent alone.
func sent(t *testing.T, name string) quote.Scene {
	t.Helper()
	content, err := os.ReadFile(options + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := blendfile.Inspect(bytes.NewReader(content), blendfile.Options{})
	if err == nil {
		err = scenefiles.Complete(t.Context(), facts, name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, scenefiles.Options{})
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return inspection.SceneOf(facts, name)
}

// sentWithFiles is the scene of a .blend that is sent with the folder in which it is.
func sentWithFiles(t *testing.T, name string) quote.Scene {
	t.Helper()
	scene := sent(t, name)
	found, err := scenefiles.Find(t.Context(), os.DirFS(options), name, scenefiles.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	inspection.PutFiles(&scene, found)
	return scene
}

func TestTheNeedsOfRealFilesAreThoseOfTheirPictures(t *testing.T) {
	t.Parallel()
	inside := []string{"osl script  Glow", "openvdb volume //smoke.vdb Smoke"}
	var ofLibrary []string
	for _, n := range inside {
		ofLibrary = append(ofLibrary, n+" inside.blend")
	}
	for name, want := range map[string]struct{ alone, withFiles []string }{
		"all.blend": {nil, []string{
			"alembic cache //birds.abc birds.abc", "usd cache //set.usdc set.usdc", "osl script //glow.osl Glow",
			"openvdb volume //smoke.vdb Smoke", "movies movie //film.avi film",
		}},
		"none.blend":   {nil, nil},
		"strip.blend":  {nil, []string{"movies movie //film.avi Scene"}},
		"inside.blend": {inside, inside},
		"main.blend":   {nil, ofLibrary},
		"packed.blend": {ofLibrary, ofLibrary},
	} {
		if got := needsOf(sent(t, name)); !slices.Equal(got, want.alone) {
			t.Errorf("%s alone needs %q, want %q", name, got, want.alone)
		}
		if got := needsOf(sentWithFiles(t, name)); !slices.Equal(got, want.withFiles) {
			t.Errorf("%s with its files needs %q, want %q", name, got, want.withFiles)
		}
	}
}

func TestASceneThatWasInspectedBeforeNeedsNothing(t *testing.T) {
	t.Parallel()
	var scene quote.Scene
	if err := json.Unmarshal([]byte(`{"engine": "CYCLES"}`), &scene); err != nil || scene.Needs() != 0 {
		t.Errorf("it needs %v: %v", scene.Needs().Options(), err)
	}
}
