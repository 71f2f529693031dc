package blender_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/colour"
)

func TestABlenderTellsWhatItHasForColours(t *testing.T) {
	t.Parallel()
	info := start(t, blender.Options{}).Info()
	if info.Colors.Text() == "" {
		t.Fatalf("Blender %s told %+v", info.Version, info.Colors)
	}
	var major, minor int
	if _, err := fmt.Sscanf(info.Version, "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	if known := colour.Of(100*major + minor); known.Known() && !reflect.DeepEqual(info.Colors, known) {
		t.Errorf("Blender %s has %+v, known is %+v", info.Version, info.Colors, known)
	}
}

// Blender replaces an unknown view with the display's first one. It does not do so for
// the output's own view, and ends when it writes the picture: then the scene's holds. It
// also ends at a node that converts from an unknown colour space.
func TestColoursThatBlenderLacksAreReplaced(t *testing.T) {
	t.Parallel()
	want := picture(t, filepath.Join(byHand(t, scene(t, "colors_plain"), "3"), "frame_0003.png"))
	for name, c := range map[string]struct {
		lacks    string
		switched []string
	}{
		"colors_scene":  {"False Color", []string{}},
		"colors_output": {"False Color", []string{"output_colors_off"}},
		"colors_node":   {"Filmic sRGB", []string{"color_conversions_off"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(scene(t, name))
			if err != nil {
				t.Fatal(err)
			}
			before, after := []byte(c.lacks+"\x00"), []byte("Cinema 2040\x00")
			if n := bytes.Count(content, before); n != 1 {
				t.Fatalf("%s is %d times in the file", c.lacks, n)
			}
			file := filepath.Join(t.TempDir(), "scene.blend")
			if err := os.WriteFile(file, bytes.Replace(content, before, after, 1), 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, blender.Options{})
			opened, err := p.Open(t.Context(), blender.SingleFile(file))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(opened.Switched, c.switched) {
				t.Errorf("switched %q, want %q", opened.Switched, c.switched)
			}
			if got := picture(t, render(t, p, 3).Path); got != want {
				t.Errorf("the picture is %+v, with the default view by hand %+v", got, want)
			}
		})
	}
}
