package scenefiles

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/render/sequence"
)

// searchOf searches a tree of empty files.
func searchOf(names ...string) *search {
	files := fstest.MapFS{}
	for _, n := range names {
		files[n] = &fstest.MapFile{Data: []byte(n)}
	}
	return &search{
		ctx: context.Background(),
		o:   Options{Memory: memory.NewBudget(0)}.withDefaults(), answer: DefaultMaxAnswer, main: &blend{path: "scene.blend"},
		tree: &tree{files: files, folders: map[string]*folder{}, left: DefaultMaxNames, steps: stepsLimit},
	}
}

func TestTheNumberOfASequenceIsTheLastOneBeforeTheExtension(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][3]string{
		"anim_0001.png":      {"anim_", "0001", ".png"},
		"v2_shot010_end.exr": {"v2_shot", "010", "_end.exr"},
		"0001.png":           {"", "0001", ".png"},
		"plate":              {"", "", "plate"},
		"plate7":             {"plate", "7", ""},
		"take.2.0001.tif":    {"take.2.", "0001", ".tif"},
		"frame0001.2k.png":   {"frame0001.", "2", "k.png"},
		".0001":              {"", "", ".0001"},
	} {
		if head, digits, tail := sequence.Split(name, false); [3]string{head, digits, tail} != want {
			t.Errorf("%s: %q %q %q, want %q", name, head, digits, tail, want)
		}
	}
	if _, digits, _ := sequence.Split("smoke_01_high.vdb", true); digits != "" {
		t.Errorf("the number of a volume is right before the extension, not %q", digits)
	}
	if head, digits, tail := sequence.Split("smoke.v2.0010.vdb", true); head != "smoke.v2." || digits != "0010" || tail != ".vdb" {
		t.Errorf("%q %q %q", head, digits, tail)
	}
}

func TestASequenceTakesNumbersThatHaveGrownAndNoOthers(t *testing.T) {
	t.Parallel()
	s := searchOf("p/a98.png", "p/a99.png", "p/a100.png", "p/a1000.png", "p/a7.png", "p/a099.png", "p/a98b.png", "p/a98.jpg", "p/b98.png", "p/a.png", "p/a98.png.bak", "q/a98.png")
	found, err := s.numbered("p/a98.png", false, false)
	if got := pathsOf(found.names); err != nil || !slices.Equal(got, []string{"p/a100.png", "p/a1000.png", "p/a98.png", "p/a99.png"}) {
		t.Errorf("%v, %v", got, err)
	}
	// The stored first one need not be there.
	if found, _ := s.numbered("p/a01.png", false, false); len(found.names) != 4 {
		t.Errorf("%v", found.names)
	}
	if found, _ := s.numbered("P/A98.PNG", true, false); len(found.names) != 4 {
		t.Errorf("but for case: %v", found.names)
	}
}

func TestTilesAreNamedInBothWaysOfBlenderAndTheOldOne(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"wall.<UDIM>.png": "wall.1012.png", "wall.<UVTILE>.png": "wall.u2_v2.png", "wall.1001.png": "wall.1012.png",
		"wall_u1_v1.png": "wall_u2_v2.png", "2001wall.png": "1012wall.png", "wall.png": "wall.png", "wall.12001.png": "wall.12001.png",
	} {
		if got := tileName(tilePattern(name), 1012); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestACacheHasTheFilesThatBelongToIt(t *testing.T) {
	t.Parallel()
	s := searchOf("c/cloth_000001_00.bphys", "c/cloth_000002_00.bphys", "c/hair_000001_00.bphys", "c/notes.txt",
		"c/data/fluid_data_0001.vdb", "c/data/deep/er.vdb", "c/config/config_0001.uni", "c/mine/secret.txt", "c/12345/blobs/a", "c/12345/meta/b", "c/1x/no")
	for name, c := range map[string]struct {
		bake blendfile.Bake
		want []string
	}{
		"named":   {blendfile.Bake{Prefixes: []string{"cloth_"}}, []string{"c/cloth_000001_00.bphys", "c/cloth_000002_00.bphys"}},
		"all":     {blendfile.Bake{Prefixes: []string{""}}, []string{"c/cloth_000001_00.bphys", "c/cloth_000002_00.bphys", "c/hair_000001_00.bphys", "c/notes.txt"}},
		"folders": {blendfile.Bake{Folders: []string{"config", "data", "noise"}}, []string{"c/config/config_0001.uni", "c/data/deep/er.vdb", "c/data/fluid_data_0001.vdb"}},
		"numbers": {blendfile.Bake{Numbers: true}, []string{"c/12345/blobs/a", "c/12345/meta/b"}},
	} {
		found, err := s.baked("c", false, &c.bake)
		if got := pathsOf(found.names); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v; %v", name, got, c.want, err)
		}
	}
}

func TestAPathThatIsNotThereIsTakenForAnotherOnlyWhenThatIsCertain(t *testing.T) {
	t.Parallel()
	tree := []string{
		"scene.blend", "tex/Rust.PNG", "tex/both.png", "Tex/BOTH.png", "left/color.png", "right/color.png", "plain.png",
		"sets/Wood/oak.png", "old/sets/steel/a.png", "new/sets/steel/a.png", "new/walls/sets/steel/b.png",
		"e\u0301te\u0301/e\u0301.png", "loose/a.png", "shots/b.blend", "shots/sub/near.png",
	}
	for stored, want := range map[string]string{
		"//Tex/rust.png":                  "tex/Rust.PNG",                // differs by case
		"//TEX/Both.png":                  "",                            // so do two
		"//tex/both.png":                  "tex/both.png",                // exactly
		"//\u00e9t\u00e9/\u00e9.png":      "e\u0301te\u0301/e\u0301.png", // composed letters: macOS takes them apart
		"/home/bob/film/left/color.png":   "left/color.png",
		`D:\film\RIGHT\color.png`:         "right/color.png",
		`\\nas\film\sets\wood\oak.png`:    "sets/Wood/oak.png",
		"/home/bob/color.png":             "", // a name alone
		"/home/bob/plain.png":             "",
		"/x/sets/steel/a.png":             "", // two that share as much
		"/x/new/sets/steel/a.png":         "new/sets/steel/a.png",
		"//../sets/steel/b.png":           "new/walls/sets/steel/b.png",
		"//../color.png":                  "",
		"//missing/left/color.png":        "", // in the tree: it is what it says
		"loose/a.png":                     "loose/a.png",
		"/disk/film/left/color.png":       "left/color.png",
		"/disk/film/plain.png":            "plain.png", // a path of this disk
		`C:\Users\Anna\shot\plain.png`:    "plain.png", // where the .blend was saved
		`c:\users\anna\shot\TEX\rust.png`: "tex/Rust.PNG",
	} {
		s := searchOf(tree...)
		s.base = "/disk/film"
		s.main.savedAs = `C:\Users\Anna\shot\scene.blend`
		f := s.locate(stored, s.main, s.single)
		if f.There() != (want != "") || f.There() && f.Path != want {
			t.Errorf("%s: %s %q, want %q", stored, f.Status, f.Path, want)
		}
	}
	s := searchOf(tree...)
	if f := s.locate(`sub\near.png`, &blend{path: "shots/b.blend"}, s.single); f.Path != "shots/sub/near.png" || f.Status != StatusRemapped || f.Wanted != "sub/near.png" {
		t.Errorf("next to its .blend: %+v", f)
	}
}

func TestWhatLeadsOutOfTheTreeIsOutsideAndOtherMachinesAreMissing(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]Status{
		"//../a/b.png": StatusOutside, "/home/bob/a.png": StatusOutside, `C:\a.png`: StatusMissing, `\\nas\a.png`: StatusMissing, "//a.png": StatusMissing,
	} {
		s := searchOf("scene.blend")
		s.base = "/disk/film"
		if f := s.locate(stored, s.main, s.single); f.Status != want {
			t.Errorf("%s is %s, want %s", stored, f.Status, want)
		}
	}
	s := searchOf("scene.blend")
	if f := s.locate("/home/bob/a.png", s.main, s.single); f.Status != StatusMissing {
		t.Errorf("of a tree that is on no disk: %s", f.Status)
	}
}

// Many paths can each stand for the same thousands of files.
func TestASearchEndsWhenTooMuchWasLookedAt(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 1000 {
		names = append(names, fmt.Sprintf("p/a%04d.png", n))
	}
	s := searchOf(names...)
	s.tree.steps = 100_000
	looked := 0
	for ; !s.full() && looked < 1000; looked++ {
		if _, err := s.numbered(fmt.Sprintf("p/a%04d.png", looked), false, false); err != nil {
			t.Fatal(err)
		}
	}
	if looked > 10 || !s.partial {
		t.Errorf("%d sequences of 1000 files each, partial %v", looked, s.partial)
	}
}

func pathsOf(names []Name) (all []string) {
	for _, n := range names {
		all = append(all, n.Path)
	}
	slices.Sort(all)
	return all
}
