package blender_test

import (
	"path/filepath"
	"testing"

	"svc.example/internal/render/blender"
)

func TestKeptDataGivesThePixelsOfFramesByHand(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"changing", "motion", "border", "simplified", "points", "circle", "circle_of_two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hand := byHand(t, scene(t, name), "1,2,3,4,5,6")
			p, _ := open(t, name, blender.Options{KeepData: true})
			for n := 1; n <= 6; n++ {
				f := render(t, p, n)
				if ours, theirs := picture(t, f.Path), picture(t, filepath.Join(hand, filepath.Base(f.Path))); ours != theirs {
					t.Errorf("frame %d: %+v, by hand %+v", n, ours, theirs)
				}
			}
		})
	}
}

// TestDataIsKeptOnlyOfKindsThatAreProven, and what stands in the way has a name. "points" is
// one of which kept data shows the frame before; "cloth" is played.
func TestDataIsKeptOnlyOfKindsThatAreProven(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{
		"plain": "", "simplified": "animation of render.use_simplify of Scene", "points": "a modifier of type NODES", "motion": "motion blur",
	} {
		_, opened := open(t, name, blender.Options{KeepData: true})
		if opened.KeepsData != (why == "") || opened.NotKept != why {
			t.Errorf("%s: keeps data %v, because of %q, want %q", name, opened.KeepsData, opened.NotKept, why)
		}
	}
	if _, opened := open(t, "cloth", blender.Options{KeepData: true}); opened.KeepsData || !opened.Plays {
		t.Error("a scene that is played keeps data by our own settings")
	}
	if _, opened := open(t, "plain", blender.Options{}); opened.KeepsData {
		t.Error("data is kept although that was not requested")
	}
}
