package artifact

import (
	"testing"

	"svc.example/internal/ground/db/query"
)

func TestStripsThatAgreeWithinTheNoiseOfGPUsAreToldAsAlike(t *testing.T) {
	t.Parallel()
	got := receiptStrips([]query.Strip{
		{Frame: 1, SeamBelow: "a"}, {Frame: 1, SeamAbove: "a", SeamBelow: "b"}, {Frame: 1, SeamAbove: "c"},
		{Frame: 2, SeamBelow: "d"}, {Frame: 2, SeamAbove: "e"},
	})
	for frame, want := range map[int64][]bool{1: {false, false, true}, 2: {false, true}} {
		if len(got[frame]) != len(want) {
			t.Fatalf("frame %d has the strips %+v", frame, got[frame])
		}
		for i, s := range got[frame] {
			if s.Alike != want[i] {
				t.Errorf("strip %d of frame %d: %+v, want alike: %v", i, frame, s, want[i])
			}
		}
	}
}
