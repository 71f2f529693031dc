package blender_test

import (
	"path/filepath"
	"testing"

	"svc.example/internal/render/blender"
)

func TestKeptDataGivesThePixelsOfFramesByHand(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"changing", "motion", "border", "simplified", "circle", "circle_of_two"} {
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

func TestDataIsNotKeptWhereThatIsKnownToChangePixels(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ keeps, simulation bool }{
		"plain": {true, false}, "simplified": {false, false}, "cloth": {false, false},
	} {
		_, opened := open(t, name, blender.Options{KeepData: true})
		if opened.KeepsData != want.keeps || opened.HasSimulation != want.simulation {
			t.Errorf("%s: keeps data %v, simulation %v, want %+v", name, opened.KeepsData, opened.HasSimulation, want)
		}
	}
	if _, opened := open(t, "plain", blender.Options{}); opened.KeepsData {
		t.Error("data is kept that nobody asked to keep")
	}
}
