package corpus_test

import (
	"os"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/corpus"
	"svc.example/internal/test/long"
)

// Pairs such as make corpus compares, in one Blender, most with edits that leave some frames or
// all of them as they are.
func TestNoFrameThatDiffersIsCalledUnchanged(t *testing.T) {
	t.Parallel()
	for name, edits := range map[string][]string{
		"all":       nil,
		"keys":      {"move_key", "remove_key", "interface_only"},
		"libraries": {"library_material", "library_key", "library_nested", "library_unused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
			if err != nil {
				t.Fatalf("there is no Blender: run scripts/with-blender go test: %v", err)
			}
			pairs, found, differ := 0, 0, 0
			revisions := corpus.Revisions{Blender: program, Folder: t.TempDir(), Edits: edits}
			revisions.Report = func(p corpus.Pair) {
				pairs++
				found += p.Found
				differ += p.Frames - p.Equal
				if len(p.Stale) > 0 || p.Ended {
					t.Errorf("%+v", p)
				}
			}
			count := long.Scale(8, 20)
			if name == "all" {
				count = long.Scale(2, 100)
			}
			if err := revisions.Run(t.Context(), 0, count); err != nil {
				t.Fatal(err)
			}
			if pairs != count || (found == 0 || differ == 0) && name != "all" {
				t.Errorf("of %d pairs %d frames were found unchanged, and %d differ", pairs, found, differ)
			}
		})
	}
}

func TestPairsOfRevisionsAreCountedForEachVersionAndEdit(t *testing.T) {
	t.Parallel()
	page := corpus.RevisionsPage([]corpus.Pair{
		{Blender: "3.4.1", Edit: "move_key", Frames: 6, Equal: 4, Found: 3},
		{Blender: "3.4.1", Edit: "rename", Frames: 6, Equal: 6},
		{Blender: "3.4.1", Edit: "rename", Frames: 6, Unsteady: true},
		{Blender: "4.3.2", Edit: "move_key", Frames: 6, Equal: 2, Found: 2, Stale: []int{3}},
		{Blender: "4.3.2", Ended: true},
	})
	for _, row := range []string{
		"| 3.4.1 | 3 | 0 | 3 of 10 (30 %) | 3 of 4 (75 %) in 1 pairs | 1 | 0 |",
		"| 4.3.2 | 2 | 1 | 2 of 2 (100 %) | 2 of 2 (100 %) in 1 pairs | 0 | 1 |",
		"| move key | 2 | 1 | 5 of 6 (83 %) |",
	} {
		if !strings.Contains(page, row) {
			t.Errorf("no row %q in\n%s", row, page)
		}
	}
}
