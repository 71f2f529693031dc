package artifact

import (
	"testing"

	"svc.example/internal/work/receipt"
	"svc.example/internal/work/result"
)

// TestAReceiptNamesTheVersionOfEachFrameOnlyWhereTheyDiffer.
func TestAReceiptNamesTheVersionOfEachFrameOnlyWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, second, all, want string }{{"4.1.1", "4.1.1", "4.1.1", ""}, {"4.1.1", "3.4.1", "3.4.1, 4.1.1", "3.4.1"}} {
		a := summarize("key", receipt.File{}, []result.Frame{{Frame: 1, BlenderVersion: c.first}, {Frame: 2, BlenderVersion: c.second}}, details{})
		if a.Renderer.Version != c.all || a.Frames[1].Version != c.want {
			t.Errorf("of %s and %s it says %q, of the second frame %q", c.first, c.second, a.Renderer.Version, a.Frames[1].Version)
		}
	}
}
