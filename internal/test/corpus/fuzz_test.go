package corpus_test

import (
	"strings"
	"testing"

	"svc.example/internal/test/corpus"
)

func TestRandomScenesAreCountedForEachVersion(t *testing.T) {
	t.Parallel()
	page := corpus.FuzzPage([]corpus.FuzzBatch{
		{Blender: "3.4.1", First: 0, Scenes: 49, Kept: 20, Lively: 12, Others: 2, Ended: []int{7}},
		{Blender: "4.3.2", First: 0, Scenes: 50, Kept: 21, Lively: 11, Differ: []int{3}, Ordered: 1},
		{Blender: "3.4.1", First: 50, Scenes: 50, Kept: 22, Lively: 10, Unsteady: 1},
	})
	for _, row := range []string{"| 3.4.1 | 99 | 42 | 22 | 0 | 2 | 0 | 1 | 1 |", "| 4.3.2 | 50 | 21 | 11 | 1 | 0 | 1 | 0 | 0 |"} {
		if !strings.Contains(page, row) {
			t.Errorf("no row %q in\n%s", row, page)
		}
	}
}
