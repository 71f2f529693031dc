package strips_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/strips"
)

// factsOf inspects one of the files that the tests of blendfile have.
func factsOf(t *testing.T, name string) *blendfile.Facts {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "blendfile", "testdata", name+".blend"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	facts, err := blendfile.Inspect(f, blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

func TestFilesThatMayBeCut(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]strips.Reason{
		"settings":        "",
		"nodes":           "",
		"layers_off":      "",
		"views":           strips.Denoised,
		"sequencer":       strips.Sequenced,
		"reach":           strips.SeveralScenes,
		"simulations":     strips.Played,
		"world_volume":    strips.WorldVolume,
		"library":         strips.Unproven, // it has no scene
		"spaces_of_nodes": strips.SeveralScenes,
	} {
		if got := strips.Splittable(factsOf(t, name)); got != want {
			t.Errorf("%s: %q, wanted %q", name, got, want)
		}
	}
}

// One thing after the other is changed in a scene that may be cut.
func TestWhatKeepsAPictureWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*blendfile.Facts)
		want   strips.Reason
	}{
		{"nothing", func(*blendfile.Facts) {}, ""},
		{"a newer file", func(f *blendfile.Facts) { f.FileVersion = 500 }, strips.Unproven},
		{"several views", func(f *blendfile.Facts) { f.Scene.Multiview = true }, strips.Views},
		{"another engine", func(f *blendfile.Facts) { f.Scene.Engine = "BLENDER_EEVEE" }, strips.OtherEngine},
		{"denoising of its own", func(f *blendfile.Facts) { f.Rendering.Denoising = []string{"scene Scene"} }, strips.Denoised},
		{"denoising by the compositor", func(f *blendfile.Facts) { f.Rendering.Denoising = []string{"compositor"} }, ""},
		{"a simulation", func(f *blendfile.Facts) { f.Simulations = []blendfile.Simulation{{}} }, strips.Played},
		{"a baked simulation", func(f *blendfile.Facts) { f.Simulations = []blendfile.Simulation{{Baked: true}} }, ""},
		{"a time limit", func(f *blendfile.Facts) { f.Rendering.Division.TimeLimit = true }, strips.TimeLimited},
		{"path guiding", func(f *blendfile.Facts) { f.Rendering.Division.Guiding = true }, strips.Guided},
		{"scripts", func(f *blendfile.Facts) { f.Rendering.Division.Scripts = true }, strips.Scripts},
		{"Freestyle", func(f *blendfile.Facts) { f.Rendering.Division.Freestyle = true }, strips.Lines},
		{"Grease Pencil", func(f *blendfile.Facts) { f.Rendering.Division.ObjectTypes[26] = true }, strips.Lines},
		{"an object of a type to come", func(f *blendfile.Facts) { f.Rendering.Division.ObjectTypes[99] = true }, strips.Unproven},
		{"tiles", func(f *blendfile.Facts) { f.Rendering.Division.Tiled = true; f.Scene.AdaptiveSampling = false }, ""},
		{"tiles and adaptive sampling", func(f *blendfile.Facts) { f.Rendering.Division.Tiled = true; f.Scene.AdaptiveSampling = true }, strips.AdaptiveTiles},
		{"a pass of sample counts", func(f *blendfile.Facts) { f.Rendering.Division.SampleCounts = true; f.Scene.AdaptiveSampling = true }, strips.SampleCounts},
		{"a border without cropping", func(f *blendfile.Facts) { f.Scene.Border = &blendfile.Border{MaxX: 1, MaxY: 0.5} }, strips.Bordered},
		{"a border with cropping", func(f *blendfile.Facts) { f.Scene.Border = &blendfile.Border{MaxX: 1, MaxY: 0.5, Crop: true} }, ""},
		{"a size that is animated", func(f *blendfile.Facts) { f.Scene.SizeChanges = true }, strips.Driven},
		{"bounces that are animated", func(f *blendfile.Facts) { f.Rendering.Division.Curves = []string{"cycles.max_bounces"} }, strips.Driven},
		{"a driver that reads the size", func(f *blendfile.Facts) { f.Rendering.Division.Curves = []string{"read render.resolution_x"} }, strips.Driven},
		{"noise and samples that are animated", func(f *blendfile.Facts) {
			f.Rendering.Division.Curves = []string{"cycles.seed", `["cycles"]["samples"]`}
		}, ""},
		{"a list that was given up", func(f *blendfile.Facts) { f.Rendering.Division.Known = false }, strips.Unproven},
	} {
		facts := factsOf(t, "settings")
		c.change(facts)
		got := strips.Splittable(facts)
		if got != c.want {
			t.Errorf("%s: %q, wanted %q", c.name, got, c.want)
		}
		if (got == "") != (got.Text() == "") {
			t.Errorf("%s: the reason %q says %q", c.name, got, got.Text())
		}
	}
}

// The page for users tells of every reason.
func TestThePageHasEachReason(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "stills.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range []strips.Reason{
		strips.Denoised, strips.AdaptiveTiles, strips.TimeLimited, strips.WorldVolume, strips.Guided, strips.Lines, strips.Played, strips.Driven,
		strips.OtherEngine, strips.SeveralScenes, strips.Sequenced, strips.Scripts, strips.SampleCounts, strips.Bordered, strips.Unproven,
	} {
		if reason.Text() == "" || !strings.Contains(string(page), "\n| `"+string(reason)+"` |") {
			t.Errorf("docs/stills.md does not tell of %q (%q)", reason, reason.Text())
		}
	}
}
