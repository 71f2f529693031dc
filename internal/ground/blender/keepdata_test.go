package blender_test

import (
	"path/filepath"
	"testing"

	"svc.example/internal/ground/blender"
)

func TestKeptDataGivesThePixelsOfFramesByHand(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"changing", "motion", "border", "simplified"} {
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
		"plain": {true, false}, "simplified": {false, false}, "cloth": {true, true},
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

// The scene that shows why kept data is watched, and by another process: what its
// simulation keeps is not Cycles' alone.
func TestKeptDataCanChangePixels(t *testing.T) {
	t.Parallel()
	keeps, _ := open(t, "cloth", blender.Options{KeepData: true})
	alone, _ := open(t, "cloth", blender.Options{KeepData: true})
	var kept, fresh []string
	for n := 1; n <= 4; n++ {
		kept = append(kept, picture(t, render(t, keeps, n).Path).SHA256)
		f, err := alone.RenderFresh(t.Context(), n, nil)
		if err != nil {
			t.Fatal(err)
		}
		fresh = append(fresh, picture(t, f.Path).SHA256)
	}
	if kept[0] != fresh[0] || kept[3] == fresh[3] {
		t.Errorf("kept %v, fresh %v: want the first alike and the last not", kept, fresh)
	}
	hand := byHand(t, scene(t, "cloth"), "1,2,3,4")
	if want := picture(t, filepath.Join(hand, "frame_0004.png")).SHA256; fresh[3] != want {
		t.Errorf("fresh %s, by hand %s", fresh[3], want)
	}
}
