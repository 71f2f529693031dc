package scenefiles

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/sequence"
)

// drawn is a reference that the picture shows.
func drawn(kind blendfile.Kind, path string) blendfile.Reference {
	return blendfile.Reference{External: blendfile.External{Kind: kind, Path: path}, Level: blendfile.Drawn}
}

func TestACacheLiesBesideTheFileThatItsObjectIsOfUnlessItIsOfTheMainOne(t *testing.T) {
	t.Parallel()
	s := searchOf("shots/blendcache_scene/a.bphys", "lib/blendcache_prop/b.bphys", "lib/ext/x_000001_00.bphys", "shots/ext/x_000001_00.bphys")
	s.main.path = "shots/scene.blend"
	prop := &blend{path: "lib/prop.blend"}
	for want, bake := range map[string]blendfile.Bake{
		"lib/blendcache_prop/b.bphys":    {Implied: true, Baked: true, Prefixes: []string{""}},
		"shots/blendcache_scene/a.bphys": {Implied: true, Baked: true, Prefixes: []string{""}, OfMain: true},
		"lib/ext/x_000001_00.bphys":      {Baked: true, Prefixes: []string{"x_"}},
		"shots/ext/x_000001_00.bphys":    {Baked: true, Prefixes: []string{"x_"}, OfMain: true},
	} {
		r := drawn(blendfile.KindSimulation, "//ext")
		r.Bake = &bake
		f, ok := s.file(prop, &r)
		if got := pathsOf(f.Names); !ok || !slices.Equal(got, []string{want}) || f.From != "lib/prop.blend" || f.Kind != KindSimulation {
			t.Errorf("%+v: %v from %s, want %s", bake, got, f.From, want)
		}
	}
}

func TestACacheThatIsNotBakedNeedNotBeThere(t *testing.T) {
	t.Parallel()
	s := searchOf("scene.blend", "here/data/a.vdb")
	for path, bake := range map[string]blendfile.Bake{"//gone": {Folders: []string{"data"}}, "//here": {Folders: []string{"data"}}} {
		for _, bake.Baked = range []bool{false, true} {
			r := drawn(blendfile.KindSimulation, path)
			r.Bake = &bake
			f, listed := s.file(s.main, &r)
			if want := path == "//here" || bake.Baked; listed != want || listed && f.There() != (path == "//here") {
				t.Errorf("%s, baked %v: %s, listed %v", path, bake.Baked, f.Status, listed)
			}
		}
	}
}

func TestAStripNeedsTheNamesThatItStores(t *testing.T) {
	t.Parallel()
	s := searchOf("scene.blend", "frames/a.png", "frames/c.png", "frames/d.png")
	r := drawn(blendfile.KindImageSequence, "//frames/a.png")
	r.Names = []string{"a.png", "b.png", "c.png", "../scene.blend"}
	f, _ := s.file(s.main, &r)
	if got := pathsOf(f.Names); !slices.Equal(got, []string{"frames/a.png", "frames/c.png"}) || !slices.Equal(f.Lacking, []string{"frames/b.png", "scene.blend"}) {
		t.Errorf("%v without %v", got, f.Lacking)
	}
}

// A clip stores no length: what follows its last picture is not missing.
func TestAClipEndsWithItsLastPicture(t *testing.T) {
	t.Parallel()
	s := searchOf("scene.blend", "plate/a_07.png", "plate/a_08.png", "plate/a_11.png")
	r := drawn(blendfile.KindImageSequence, "//plate/a_07.png")
	r.Uses = []sequence.Use{{Start: 1, Frames: sequence.ToTheLast, Offset: 6, Rule: sequence.Clip}}
	f, _ := s.file(s.main, &r)
	s.holes(&f)
	if f.Sequence == nil || !slices.Equal(f.Sequence.Lacks, []sequence.Numbers{{First: 9, Last: 10}}) || f.Sequence.Uses[0].Frames != 5 {
		t.Errorf("%+v", f.Sequence)
	}
}

// From 5.0 on a .blend can have data of a library in it, whose paths count from there.
func TestDataThatWasPackedOutOfALibraryCountsFromThere(t *testing.T) {
	t.Parallel()
	s := searchOf("scene.blend", "lib/mat/a.png")
	r := drawn(blendfile.KindImage, "//a.png")
	r.In = "//lib/mat/m.blend"
	if f, _ := s.file(s.main, &r); f.Path != "lib/mat/a.png" || f.Status != StatusFound || f.From != "scene.blend" {
		t.Errorf("%+v", f)
	}
}

func TestWhatIsSaidTwiceOfAFileIsListedOnceWithTheGreaterReach(t *testing.T) {
	t.Parallel()
	f := File{Reach: ReachPerhaps, Owner: "a", Names: []Name{{"a.png", 1}, {"b.png", 2}}, Lacking: []string{"d.png"}}
	merge(&f, File{Reach: ReachNeeded, Owner: "b", Names: []Name{{"b.png", 2}, {"c.png", 3}}})
	if f.Reach != ReachNeeded || f.Owner != "b" || !slices.Equal(pathsOf(f.Names), []string{"a.png", "b.png", "c.png"}) || !slices.Equal(f.Lacking, []string{"d.png"}) {
		t.Errorf("%+v", f)
	}
	merge(&f, File{Reach: ReachUnneeded, Owner: "c"})
	if f.Reach != ReachNeeded || f.Owner != "b" {
		t.Errorf("%+v", f)
	}
}

func TestNoPictureNeedsASound(t *testing.T) {
	t.Parallel()
	r := drawn(blendfile.KindSound, "//a.wav")
	r.Level = blendfile.Computed
	if got := reachOf(&r); got != ReachUnneeded {
		t.Error(got)
	}
}

// The way to a packed library is read for each of them, so it counts where there is none, too.
func TestWhatIsReadToAPackedLibraryCounts(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/packed/scene.blend")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	whole, err := blendfile.Section(f, blendfile.Options{}, 0, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	content, err := io.ReadAll(whole)
	if err != nil {
		t.Fatal(err)
	}
	at := int64(len(content) / 4)
	s := searchOf()
	s.tree.files = lone{"scene.blend", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
	s.o, s.unpacked = Options{}.withDefaults(), int64(len(content))
	around := &blend{path: "scene.blend"}
	for turn, want := range []int64{int64(len(content)) - at, int64(len(content)) - 2*at} {
		err := s.read(&blend{path: "none.blend", inside: around, at: at, size: 100})
		if !errors.Is(err, blendfile.ErrNotBlend) || s.unpacked > want {
			t.Errorf("library %d: %v, %d bytes may still be read, want at most %d", turn, err, s.unpacked, want)
		}
	}
}
