package scenefiles_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
)

// completed are the facts of a file of testdata, with those of what is packed in it, and how
// often it was opened for these.
func completed(t *testing.T, path string, o scenefiles.Options) (facts *blendfile.Facts, opened int, err error) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if facts, err = blendfile.Inspect(bytes.NewReader(content), blendfile.Options{}); err != nil {
		t.Fatal(err)
	}
	err = scenefiles.Complete(t.Context(), facts, "scene.blend", func() (io.ReadCloser, error) {
		opened++
		return io.NopCloser(bytes.NewReader(content)), nil
	}, o)
	return facts, opened, err
}

func TestWhatAPackedLibraryLacksIsMissing(t *testing.T) {
	t.Parallel()
	facts, _, err := completed(t, "testdata/packed/scene.blend", scenefiles.Options{})
	want := blendfile.MissingFile{Kind: blendfile.KindImage, Path: "//t.png", Owner: "t", UsedBy: "material t", From: "src/m.blend"}
	if err != nil || !slices.Equal(facts.MissingFiles, []blendfile.MissingFile{want}) || len(facts.Partial) > 0 {
		t.Errorf("%v, missing %+v, partial %v", err, facts.MissingFiles, facts.Partial)
	}
}

func TestSimulationsOfLibrariesAreTold(t *testing.T) {
	t.Parallel()
	cloth := func(name string, baked bool) blendfile.Simulation {
		return blendfile.Simulation{Kind: blendfile.Cloth, Owner: name, FirstFrame: 1, LastFrame: 2, Baked: baked, From: "lib/set.blend"}
	}
	// Neither the hidden one nor the one of the collection that is not linked.
	want := []blendfile.Simulation{cloth("Baked", true), cloth("Cloth", false)}
	check := func(how string, got []blendfile.Simulation) {
		slices.SortFunc(got, func(a, b blendfile.Simulation) int { return strings.Compare(a.Owner, b.Owner) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", how, got, want)
		}
	}
	facts, _, err := completed(t, "testdata/moves/packed.blend", scenefiles.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check("packed", facts.Simulations)
	check("on disk", find(t, "moves", scenefiles.Options{}).Simulations)
	alone, opened, err := completed(t, "testdata/moves/main.blend", scenefiles.Options{})
	if err != nil || opened > 0 || len(alone.Simulations) > 0 {
		t.Errorf("without its library: %v, opened %d times, %+v", err, opened, alone.Simulations)
	}
}

// Of the library's bodies one is passive, and one is in no world's collection.
func TestBodiesOfLibrariesThatAWorldMovesAreTold(t *testing.T) {
	t.Parallel()
	body := func(name string) blendfile.Simulation {
		return blendfile.Simulation{Kind: blendfile.RigidBody, Owner: name, FirstFrame: 1, LastFrame: 250, From: "lib/bodies.blend"}
	}
	want := []blendfile.Simulation{body("Ball"), body("Brick")}
	check := func(how string, got []blendfile.Simulation) {
		slices.SortFunc(got, func(a, b blendfile.Simulation) int { return strings.Compare(a.Owner, b.Owner) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", how, got, want)
		}
	}
	facts, _, err := completed(t, "testdata/falls/packed.blend", scenefiles.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check("packed", facts.Simulations)
	check("on disk", find(t, "falls", scenefiles.Options{}).Simulations)
}

// The scene's collection has a collection of the library in it. The view layer excludes
// one of those in it, and another is not rendered.
func TestWhatALinkedCollectionShowsIsNeeded(t *testing.T) {
	t.Parallel()
	found := find(t, "falls", scenefiles.Options{})
	for path, want := range map[string]scenefiles.Reach{
		"//brick.png": scenefiles.ReachNeeded, "//Crate.png": scenefiles.ReachPerhaps, "//Hidden.png": scenefiles.ReachPerhaps,
	} {
		if f := fileOf(t, found, path); f.Reach != want || f.Status != scenefiles.StatusMissing {
			t.Errorf("%s: %s, %s", path, f.Reach, f.Status)
		}
	}
	facts, _, err := completed(t, "testdata/falls/packed.blend", scenefiles.Options{})
	want := blendfile.MissingFile{Kind: blendfile.KindImage, Path: "//brick.png", Owner: "brick", UsedBy: "material brick", From: "lib/bodies.blend"}
	if err != nil || !slices.Equal(facts.MissingFiles, []blendfile.MissingFile{want}) {
		t.Errorf("packed: %v, missing %+v, want %+v", err, facts.MissingFiles, want)
	}
}

func TestColourSpacesOfImagesInLibrariesAreTold(t *testing.T) {
	t.Parallel()
	want := blendfile.UsedSpace{UsedBy: "image paint", Space: "Linear ACES"}
	facts, _, err := completed(t, "testdata/falls/packed.blend", scenefiles.Options{})
	if err != nil || !slices.Contains(facts.Scene.Colors.Others, want) {
		t.Errorf("packed: %v, %+v, want %+v", err, facts.Scene.Colors.Others, want)
	}
	if got := find(t, "falls", scenefiles.Options{}).Spaces; !slices.Contains(got, want) {
		t.Errorf("on disk: %+v, want %+v", got, want)
	}
}

func TestAFileWithoutPackedLibrariesIsNotReadAgain(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"testdata/kinds/main.blend", "testdata/chain/shots/010/shot.blend"} {
		if _, opened, err := completed(t, path, scenefiles.Options{}); opened > 0 || err != nil {
			t.Errorf("%s: opened %d times, %v", path, opened, err)
		}
	}
}

// A search that found no memory can be tried again; one without an answer would let a
// missing file pass.
func TestPackedLibrariesAreReadOrTheFileIsRefused(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	content, err := os.ReadFile("testdata/packed/scene.blend")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := blendfile.Inspect(bytes.NewReader(content), blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = scenefiles.Complete(t.Context(), facts, "scene.blend", func() (io.ReadCloser, error) { return nil, gone }, scenefiles.Options{})
	if !errors.Is(err, gone) {
		t.Errorf("%v, want %v", err, gone)
	}
	if cut, _, err := completed(t, "testdata/packed/scene.blend", scenefiles.Options{MaxBlends: 1}); err != nil || !slices.Equal(cut.Partial, []string{"packed_libraries"}) {
		t.Errorf("of few libraries: %v, partial %v", err, cut.Partial)
	}
}
