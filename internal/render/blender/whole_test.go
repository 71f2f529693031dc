package blender_test

import (
	"strings"
	"testing"

	"svc.example/internal/render/blender"
)

// TestAPictureThatIsRenderedWholeIsTheSame: tiles change no pixel of a picture that is
// rendered whole instead, and a frame that is rendered fresh has them as the scene says.
func TestAPictureThatIsRenderedWholeIsTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tiles", "tiles_passes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, opened := open(t, name, blender.Options{Whole: 1 << 20, KeepData: true})
			if !opened.Whole {
				t.Fatal("it is rendered in tiles")
			}
			fresh, err := p.RenderFresh(t.Context(), 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(fresh.Log, "Tiles") {
				t.Errorf("a fresh frame is not rendered in tiles:\n%s", fresh.Log)
			}
			want := picture(t, fresh.Path)
			for range 2 { // the second one with kept data
				f := render(t, p, 1)
				if strings.Contains(f.Log, "Tiles") {
					t.Errorf("it is rendered in tiles:\n%s", f.Log)
				}
				if got := picture(t, f.Path); got != want {
					t.Errorf("the picture is %+v, in tiles it is %+v", got, want)
				}
			}
		})
	}
}

// TestTilesThatMayShowStay: pixels depend on their neighbours within the tile.
func TestTilesThatMayShowStay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tiles_adaptive", "tiles_timed", "tiles_keyed", "plain"} {
		if _, opened := open(t, name, blender.Options{Whole: 1 << 20, KeepData: true}); opened.Whole {
			t.Errorf("%s is rendered whole", name)
		}
	}
	for _, most := range []int64{0, 64*48*16 - 1} {
		if _, opened := open(t, "tiles", blender.Options{Whole: most, KeepData: true}); opened.Whole {
			t.Errorf("a scene is rendered whole where %d bytes are allowed", most)
		}
	}
}
