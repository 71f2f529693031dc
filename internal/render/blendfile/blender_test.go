package blendfile_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
)

// The files in testdata were made by scripts/scenes/blendfile_make.py, which
// also wrote what Blender said of each when it had loaded it again.
func TestFactsAreWhatBlenderSays(t *testing.T) {
	t.Parallel()
	answers, err := filepath.Glob("testdata/*.json")
	if err != nil || len(answers) == 0 {
		t.Fatalf("no answers of Blender in testdata: %v", err)
	}
	for _, answer := range answers {
		t.Run(strings.TrimSuffix(filepath.Base(answer), ".json"), func(t *testing.T) {
			t.Parallel()
			facts := inspectFile(t, strings.TrimSuffix(answer, ".json")+".blend")
			slices.SortFunc(facts.Externals, func(a, b blendfile.External) int {
				return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Path, b.Path))
			})
			slices.SortFunc(facts.Simulations, func(a, b blendfile.Simulation) int {
				return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Owner, b.Owner))
			})
			slices.SortFunc(facts.Scene.FileOutputNodes, func(a, b blendfile.FileOutputNode) int {
				return cmp.Compare(a.Path, b.Path)
			})
			want, err := os.ReadFile(answer)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range differences("facts", decoded(t, want), decoded(t, encoded(t, facts))) {
				t.Error(d)
			}
		})
	}
}

// A node's name says how many files Blender writes of it for a frame: it can have one for each
// view, or one with all of them.
func TestAFileOutputNodeWritesWhatBlenderWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"output_views", "output_cameras"} {
		nodes := inspectFile(t, "testdata/"+name+".blend").Scene.FileOutputNodes
		if len(nodes) != 6 {
			t.Errorf("%s has %d nodes", name, len(nodes))
		}
		for _, n := range nodes {
			// Blender numbers nodes of one name.
			if want, _, _ := strings.Cut(n.Name, "."); want != fmt.Sprintf("writes %d", n.Files) {
				t.Errorf("%s: the node of %s is counted as %d files, and %s", name, n.Path, n.Files, n.Name)
			}
		}
	}
}

func TestAFileWithoutSceneHasNone(t *testing.T) {
	t.Parallel()
	facts := inspectFile(t, "testdata/library.blend")
	if facts.Scene != nil || facts.SceneCount != 0 {
		t.Errorf("scene %v of %d, want none", facts.Scene, facts.SceneCount)
	}
	if len(facts.MissingFiles) != 1 || facts.MissingFiles[0].Path != "//far.png" {
		t.Errorf("missing %v, want the one image", facts.MissingFiles)
	}
}

// The pictures of files.blend are used by nothing, and its strips are not shown.
func TestMissingIsNeitherPackedNorLinkedNorUnused(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"files":  {"//mesh.pc2", "//particles"},
		"linked": {"//library.blend"},
	} {
		var got []string
		for _, m := range inspectFile(t, "testdata/"+name+".blend").MissingFiles {
			got = append(got, m.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: missing %q, want %q", name, got, want)
		}
	}
}

func inspectFile(t *testing.T, path string) *blendfile.Facts {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := blendfile.Inspect(bytes.NewReader(b), blendfile.Options{})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return facts
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decoded(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// differences compares every value that want names; got may have more.
func differences(where string, want, got any) []string {
	var all []string
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v, want %v", where, got, want)}
		}
		for name := range w {
			all = append(all, differences(where+"."+name, w[name], g[name])...)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{fmt.Sprintf("%s: %v, want %v", where, got, want)}
		}
		for i := range w {
			all = append(all, differences(fmt.Sprintf("%s[%d]", where, i), w[i], g[i])...)
		}
	default:
		if want != got {
			all = append(all, fmt.Sprintf("%s: %v, want %v", where, got, want))
		}
	}
	return all
}
