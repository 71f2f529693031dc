package contentkey_test

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"testing/fstest"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/contentkey"
)

// project is a scene that shows an object of library.blend, whose material is one of nested.blend.
// Each file is one of testdata/linked, by its name there; "" for a file that is missing.
type project struct{ scene, library, nested string }

var original = project{"linked", "library", "nested"}

func (p project) read(t *testing.T) *contentkey.Scene {
	t.Helper()
	tree := fstest.MapFS{}
	for path, name := range map[string]string{"scene.blend": p.scene, "library.blend": p.library, "nested.blend": p.nested} {
		if name != "" {
			tree[path] = &fstest.MapFile{Data: bytesOf(t, "linked/"+name)}
		}
	}
	hash := func(path string) (string, error) {
		h := fnv.New64a()
		_, _ = h.Write(tree[path].Data)
		return fmt.Sprint(h.Sum64()), nil
	}
	s, err := contentkey.InTree(t.Context(), tree, "scene.blend", "", hash, blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p project) compare(t *testing.T) contentkey.Comparison {
	t.Helper()
	return contentkey.Compare(original.read(t), p.read(t), all)
}

func TestWhatASceneDoesNotUseOfALibraryChangesNoFrame(t *testing.T) {
	t.Parallel()
	for _, revision := range []project{
		original, {"linked_interface", "library", "nested"}, {"linked", "library_interface", "nested"}, {"linked", "library", "nested_interface"},
	} {
		if c := revision.compare(t); len(c.Changed) > 0 {
			t.Errorf("%+v: %s changed: %+v", revision, c.Changed, c.Causes)
		}
	}
}

func TestWhatASceneUsesOfALibraryChangesTheFramesThatComeFromIt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		project
		changed, cause string
	}{
		{project{"linked", "library_material", "nested"}, "1-250", "material Paint of library.blend"},
		{project{"linked", "library", "nested_material"}, "1-250", "material Wood of nested.blend"},
		{project{"linked_moved", "library", "nested"}, "97-139", "action CubeAction"},
		{project{"linked", "library_moved", "nested"}, "97-139", "action PropAction of library.blend"},
	} {
		c := row.compare(t)
		if got := c.Changed.String(); got != row.changed || len(c.Causes) != 1 || c.Causes[0].What != row.cause {
			t.Errorf("%+v: %s changed, causes %+v", row, got, c.Causes)
		}
	}
}

func TestALibraryWithMemoryMakesEveryFrameCountEverything(t *testing.T) {
	t.Parallel()
	particles := project{"linked", "library_particles", "nested"}
	before := particles.read(t)
	if !strings.Contains(before.Whole, "particle") {
		t.Errorf("whole because %q", before.Whole)
	}
	moved := project{"linked_moved", "library_particles", "nested"}
	if c := contentkey.Compare(before, moved.read(t), all); len(c.Unchanged) > 0 {
		t.Errorf("%s unchanged", c.Unchanged)
	}
	if c := contentkey.Compare(before, particles.read(t), all); len(c.Changed) > 0 {
		t.Errorf("%s changed", c.Changed)
	}
}

// Of a library that cannot be followed, every byte counts.
func TestWithoutOneLibraryAllOthersCountAsAWhole(t *testing.T) {
	t.Parallel()
	missing := project{"linked", "library", ""}
	before := missing.read(t)
	if before.Whole != "it uses linked data" {
		t.Errorf("whole because %q", before.Whole)
	}
	if c := contentkey.Compare(before, missing.read(t), all); len(c.Changed) > 0 {
		t.Errorf("%s changed", c.Changed)
	}
	for _, revision := range []project{original, {"linked", "library_interface", ""}, {"linked_moved", "library", ""}, {"linked", "", "nested"}} {
		if c := contentkey.Compare(before, revision.read(t), all); len(c.Unchanged) > 0 {
			t.Errorf("%+v: %s unchanged", revision, c.Unchanged)
		}
	}
}
