package scenefiles_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
)

// mains are the main files of the projects in testdata, which scripts/scenes/scenefiles_make.py
// makes.
var mains = map[string]string{"chain": "shots/010/shot.blend", "packed": "scene.blend", "moves": "main.blend", "falls": "main.blend", "kinds": "main.blend", "gone": "main.blend", "borrowed": "main.blend", "film": "main.blend"}

// find searches a project of testdata.
func find(t *testing.T, project string, o scenefiles.Options) *scenefiles.Found {
	t.Helper()
	return findIn(t, filepath.Join("testdata", project), mains[project], o)
}

// findIn searches a folder.
func findIn(t *testing.T, folder, main string, o scenefiles.Options) *scenefiles.Found {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	found, err := scenefiles.Find(t.Context(), root.FS(), main, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fileOf is the file that a path of the .blend stands for.
func fileOf(t *testing.T, found *scenefiles.Found, stored string) scenefiles.File {
	t.Helper()
	i := slices.IndexFunc(found.Files, func(f scenefiles.File) bool { return f.Stored == stored })
	if i < 0 {
		t.Fatalf("nothing is known of %s in %+v", stored, found.Files)
	}
	return found.Files[i]
}

func paths(names []scenefiles.Name) (all []string) {
	for _, n := range names {
		all = append(all, n.Path)
	}
	return all
}

func TestPathsLeadWhereBlenderResolvesThem(t *testing.T) {
	t.Parallel()
	for project := range mains {
		text, err := os.ReadFile("testdata/" + project + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var blender map[string]string
		if err := json.Unmarshal(text, &blender); err != nil {
			t.Fatal(err)
		}
		states := map[scenefiles.Status]string{
			scenefiles.StatusFound: "there", scenefiles.StatusPacked: "packed", scenefiles.StatusMissing: "missing",
			scenefiles.StatusOutside: "missing", scenefiles.StatusRemapped: "missing",
		}
		got := map[string]string{}
		for _, f := range find(t, project, scenefiles.Options{}).Files {
			at := f.Path
			if f.Wanted != "" {
				at = f.Wanted
			}
			kind := string(f.Kind)
			if f.Kind == scenefiles.KindSequence {
				kind = "image"
			}
			got[kind+" "+at] = states[f.Status]
		}
		for file, state := range blender {
			if got[file] != state {
				t.Errorf("%s: %s is %q, to Blender %q", project, file, got[file], state)
			}
		}
	}
}

func TestEveryKindOfPathIsFound(t *testing.T) {
	t.Parallel()
	found := find(t, "kinds", scenefiles.Options{})
	if found.Partial {
		t.Error("partial")
	}
	type want struct {
		kind   scenefiles.Kind
		status scenefiles.Status
		reach  scenefiles.Reach
		names  string
	}
	for stored, w := range map[string]want{
		`//tex\sub\..\back.png`:            {scenefiles.KindImage, scenefiles.StatusFound, scenefiles.ReachNeeded, "tex/back.png"},
		"//Tex/CASE.PNG":                   {scenefiles.KindImage, scenefiles.StatusRemapped, scenefiles.ReachNeeded, "tex/case.png"},
		`C:\Users\Anna\shot\tex\drive.png`: {scenefiles.KindImage, scenefiles.StatusRemapped, scenefiles.ReachNeeded, "tex/drive.png"},
		"//../above.png":                   {scenefiles.KindImage, scenefiles.StatusOutside, scenefiles.ReachNeeded, ""},
		"//tex/missing.png":                {scenefiles.KindImage, scenefiles.StatusMissing, scenefiles.ReachNeeded, ""},
		"//tex/inside.png":                 {scenefiles.KindImage, scenefiles.StatusPacked, scenefiles.ReachUnneeded, ""},
		"//tex/unused.png":                 {scenefiles.KindImage, scenefiles.StatusMissing, scenefiles.ReachPerhaps, ""},
		"//tex/elsewhere.png":              {scenefiles.KindImage, scenefiles.StatusMissing, scenefiles.ReachPerhaps, ""},
		"//tex/wall.<UDIM>.png":            {scenefiles.KindTiles, scenefiles.StatusFound, scenefiles.ReachNeeded, "tex/wall.1001.png tex/wall.1011.png"},
		"//seq/plate98.png":                {scenefiles.KindSequence, scenefiles.StatusFound, scenefiles.ReachNeeded, "seq/plate100.png seq/plate98.png seq/plate99.png"},
		"//vdb/cloud.v2.0001.vdb":          {scenefiles.KindVolume, scenefiles.StatusFound, scenefiles.ReachNeeded, "vdb/cloud.v2.0001.vdb vdb/cloud.v2.0002.vdb"},
		"//lamp.ies":                       {scenefiles.KindLight, scenefiles.StatusFound, scenefiles.ReachNeeded, "lamp.ies"},
		"//moved.mdd":                      {scenefiles.KindCache, scenefiles.StatusFound, scenefiles.ReachNeeded, "moved.mdd"},
		"//blendcache_main":                {scenefiles.KindSimulation, scenefiles.StatusFound, scenefiles.ReachNeeded, "blendcache_main/436C6F7468_000001_00.bphys blendcache_main/436C6F7468_000002_00.bphys"},
	} {
		f := fileOf(t, found, stored)
		if got := (want{f.Kind, f.Status, f.Reach, strings.Join(paths(f.Names), " ")}); got != w {
			t.Errorf("%s: %+v, want %+v", stored, got, w)
		}
		if f.From != "main.blend" || f.Owner == "" {
			t.Errorf("%s: from %q, owner %q", stored, f.From, f.Owner)
		}
	}
	if tiles := fileOf(t, found, "//tex/wall.<UDIM>.png"); !slices.Equal(tiles.Lacking, []string{"tex/wall.1002.png"}) {
		t.Errorf("missing tiles: %v", tiles.Lacking)
	}
	if f := fileOf(t, found, "//tex/missing.png"); f.UsedBy != "material missing" || !f.Gone() {
		t.Errorf("missing.png is used by %q", f.UsedBy)
	}
	var gone []string
	for _, f := range found.Files {
		if f.Gone() {
			gone = append(gone, f.Path)
		}
	}
	if !slices.Equal(gone, []string{"../above.png", "tex/missing.png"}) {
		t.Errorf("missing in the picture: %v", gone)
	}
}

// The folder of a disk cache is named for the .blend, so another file of that name next to
// it has another cache.
func TestADiskCacheBelongsToTheNameOfItsBlend(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/kinds")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(folder, "main.blend"), filepath.Join(folder, "other.blend")); err != nil {
		t.Fatal(err)
	}
	found := findIn(t, folder, "other.blend", scenefiles.Options{})
	if f := fileOf(t, found, "//blendcache_other"); !f.Gone() {
		t.Errorf("the cache is %s and %s", f.Status, f.Reach)
	}
}

func TestLibrariesAreFollowedAsFarAsTheSceneUsesThem(t *testing.T) {
	t.Parallel()
	found := find(t, "chain", scenefiles.Options{})
	want := []string{
		"library lib/mat/materials.blend needed found from shots/010/shot.blend",
		"library lib/props/prop.blend needed found from shots/010/shot.blend",
		"image lib/mat/tex/wood.png needed found from lib/mat/materials.blend",
		"image lib/mat/tex/other.png unneeded missing from lib/mat/materials.blend",
	}
	var got []string
	for _, f := range found.Files {
		got = append(got, strings.Join([]string{string(f.Kind), f.Path, string(f.Reach), string(f.Status), "from", f.From}, " "))
	}
	for _, line := range want {
		line, _, _ := strings.Cut(line, " from shots") // either of the files that link it
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, line) }) {
			t.Errorf("no %s in\n%s", line, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) || found.Partial {
		t.Errorf("%d files, partial %v:\n%s", len(got), found.Partial, strings.Join(got, "\n"))
	}
	if taken := paths(found.Taken(1)); !slices.Equal(taken, []string{"lib/mat/materials.blend", "lib/mat/tex/wood.png", "lib/props/prop.blend", "shots/010/shot.blend"}) {
		t.Errorf("taken: %v", taken)
	}
}

func TestAMissingLibraryIsToldWithWhatUsesIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/chain/shots")); err != nil {
		t.Fatal(err)
	}
	found := findIn(t, folder, "010/shot.blend", scenefiles.Options{})
	if f := fileOf(t, found, "//../../lib/props/prop.blend"); f.Status != scenefiles.StatusOutside || !f.Gone() || f.UsedBy == "" {
		t.Errorf("%+v", f)
	}
}

func TestAPackedLibraryIsReadAndItsFilesCountFromWhereItWas(t *testing.T) {
	t.Parallel()
	found := find(t, "packed", scenefiles.Options{})
	if f := fileOf(t, found, "//src/m.blend"); f.Status != scenefiles.StatusPacked || f.Gone() || f.Problem != "" {
		t.Errorf("library: %+v", f)
	}
	if f := fileOf(t, found, "//t.png"); f.Path != "src/t.png" || f.Status != scenefiles.StatusFound || f.Reach != scenefiles.ReachNeeded || f.From != "src/m.blend" {
		t.Errorf("image: %+v", f)
	}
}

// Blender renders the scene of the library, with the files that it names there.
func TestASceneOfALibraryIsTheOneThatIsRendered(t *testing.T) {
	t.Parallel()
	whole := os.DirFS("testdata/borrowed")
	without := fstest.MapFS{}
	for _, name := range []string{"main.blend", "lib/shot.blend"} {
		content, err := fs.ReadFile(whole, name)
		if err != nil {
			t.Fatal(err)
		}
		without[name] = &fstest.MapFile{Data: content}
	}
	without["lib/shot.blend"].Data, _ = fs.ReadFile(os.DirFS("testdata/chain"), "lib/props/prop.blend")
	for name, c := range map[string]struct {
		tree fs.FS
		want string
	}{"the scene is there": {whole, "Shot to 7"}, "the scene is gone": {without, ""}} {
		main, err := c.tree.Open("main.blend")
		if err != nil {
			t.Fatal(err)
		}
		facts, err := blendfile.Inspect(main, blendfile.Options{})
		if err != nil || facts.Scene != nil {
			t.Fatalf("%s: the main file has a scene of its own: %v", name, err)
		}
		if err := scenefiles.ActiveScene(t.Context(), c.tree, "main.blend", facts, scenefiles.Options{}); err != nil {
			t.Fatal(err)
		}
		got := ""
		if facts.Scene != nil {
			got = fmt.Sprintf("%s to %d", facts.Scene.Name, facts.Scene.FrameEnd)
		}
		if got != c.want || got != "" && (facts.Rendering == nil || facts.Rendering.NoCamera != "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if f := fileOf(t, find(t, "borrowed", scenefiles.Options{}), "//tex/wood.png"); f.Reach != scenefiles.ReachNeeded || f.Path != "lib/tex/wood.png" {
		t.Errorf("%+v", f)
	}
}

// TestAMovieNeedsTheSoundsThatItsScenePlays: also those in meta strips and of scenes that are
// shown. A scene that writes pictures needs none.
func TestAMovieNeedsTheSoundsThatItsScenePlays(t *testing.T) {
	t.Parallel()
	for main, want := range map[string][]string{
		"main.blend": {"//sound/inside.wav", "//sound/played.wav", "//sound/shown.wav"}, "silent.blend": nil, "pictures.blend": nil,
	} {
		var needed []string
		files := findIn(t, "testdata/film", main, scenefiles.Options{}).Files
		for _, f := range files {
			if f.Reach == scenefiles.ReachNeeded {
				needed = append(needed, f.Stored)
			}
		}
		if len(files) != 6 || !slices.Equal(needed, want) {
			t.Errorf("%s needs %q of %d files, want %q", main, needed, len(files), want)
		}
	}
}

// So it does those of speakers that are not hidden, and those of libraries.
func TestAMovieNeedsTheSoundsOfSpeakersAndLibraries(t *testing.T) {
	t.Parallel()
	for main, want := range map[string][]string{
		"main.blend": {"lib/linked.wav", "lib/sung.wav", "own.wav"}, "cut.blend": {"lib/act.wav", "lib/linked.wav", "own.wav"}, "silent.blend": nil,
	} {
		var needed []string
		sounds := 0
		for _, f := range findIn(t, "testdata/heard", main, scenefiles.Options{}).Files {
			if f.Kind != scenefiles.KindSound {
				continue
			}
			if sounds++; f.Reach == scenefiles.ReachNeeded {
				needed = append(needed, f.Path)
			}
		}
		slices.Sort(needed)
		if sounds != 6 || !slices.Equal(needed, want) {
			t.Errorf("%s needs %q of %d sounds, want %q", main, needed, sounds, want)
		}
	}
}

// testdata/gone.txt is what Blender says when it loads main.blend.
func TestDataThatLibrariesLackIsTheDataThatBlenderMisses(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/gone.txt")
	if err != nil {
		t.Fatal(err)
	}
	said := strings.NewReplacer("nodetree", "node group", "particlesettings", "particle settings").Replace(string(text))
	want := slices.DeleteFunc(strings.Split(strings.TrimSpace(said), "\n"), func(line string) bool { return strings.Contains(line, "Unseen") })
	for _, main := range []string{"main.blend", "packed.blend"} {
		gone := []string{}
		for _, m := range findIn(t, "testdata/gone", main, scenefiles.Options{}).Gone {
			gone = append(gone, m.Kind+" "+m.Name+" of "+m.Library)
			if from := map[string]string{"Wood": "lib/part.blend"}[m.Name]; m.From != cmp.Or(from, main) {
				t.Errorf("%s: %s is linked by %s", main, m.Name, m.From)
			}
			if m.Name == "Hero" && m.UsedBy != "scene Scene" || m.Name == "Photo" && m.UsedBy != "material Photo" {
				t.Errorf("%s: %s is used by %q", main, m.Name, m.UsedBy)
			}
		}
		slices.Sort(gone)
		if !slices.Equal(gone, want) {
			t.Errorf("%s lacks\n%s\nwant\n%s", main, strings.Join(gone, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Blender renders without a library that it cannot read.
func TestALibraryThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	const prop = "testdata/chain/lib/props/prop.blend"
	whole, err := os.ReadFile(prop)
	if err != nil {
		t.Fatal(err)
	}
	for content, why := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\n": "is a Git LFS pointer, not a library",
		"<!DOCTYPE html>":            "is a web page, not a library",
		"":                           "is empty",
		"glTF":                       "is not a .blend file",
		string(whole[:len(whole)/2]): "cannot be read: ",
		"BLENDER17-01v0500" + strings.Repeat("\x00", 400): "cannot be read: ",
	} {
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS("testdata/chain")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "lib/props/prop.blend"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f := fileOf(t, findIn(t, folder, mains["chain"], scenefiles.Options{}), "//../../lib/props/prop.blend")
		if f.Problem == "" || f.Status != scenefiles.StatusFound || len(f.Unreadable) != 1 || !strings.HasPrefix(f.Unreadable[0].Why, why) {
			t.Errorf("%.20q: %+v, want %q", content, f, why)
		}
	}
}

func TestTheMainFileMustBeRead(t *testing.T) {
	t.Parallel()
	for main, want := range map[string]error{"kinds.json": blendfile.ErrNotBlend, "none.blend": fs.ErrNotExist, "../scenefiles/doc.go": fs.ErrInvalid} {
		if _, err := scenefiles.Find(t.Context(), os.DirFS("testdata"), main, scenefiles.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", main, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := scenefiles.Find(ctx, os.DirFS("testdata/kinds"), "main.blend", scenefiles.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want Canceled", err)
	}
}

// A file that was closed to make room is read again, and says the same.
func TestOneOpenFileIsEnough(t *testing.T) {
	t.Parallel()
	for project := range mains {
		all, one := find(t, project, scenefiles.Options{}), find(t, project, scenefiles.Options{MaxOpen: 1})
		if !reflect.DeepEqual(all, one) {
			t.Errorf("%s: %+v, with one open file %+v", project, all, one)
		}
	}
}

func TestBoundsAreKeptAndTold(t *testing.T) {
	t.Parallel()
	few := find(t, "kinds", scenefiles.Options{MaxNames: 3})
	if f := fileOf(t, few, `//tex\sub\..\back.png`); !few.Partial || f.Status != scenefiles.StatusFound {
		t.Errorf("of too many names: partial %v, %s", few.Partial, f.Status)
	}
	short := find(t, "kinds", scenefiles.Options{MaxAnswer: 500})
	if !short.Partial || len(short.Files) == 0 || len(short.Files) > 5 {
		t.Errorf("of a short answer: partial %v, %d files", short.Partial, len(short.Files))
	}
	single := find(t, "chain", scenefiles.Options{MaxBlends: 1})
	if f := fileOf(t, single, "//../../lib/props/prop.blend"); !single.Partial || f.Status != scenefiles.StatusFound {
		t.Errorf("of one .blend: partial %v, %s", single.Partial, f.Status)
	}
	main := unpackedSize(t, path.Join("testdata/chain", mains["chain"]))
	cut := find(t, "chain", scenefiles.Options{MaxUnpacked: main + 1000})
	if f := fileOf(t, cut, "//../../lib/props/prop.blend"); f.Problem == "" {
		t.Errorf("of few bytes: %+v", f)
	}
}

func unpackedSize(t *testing.T, file string) int64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	opened, err := blendfile.Open(f, blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	return opened.Unpacked()
}
