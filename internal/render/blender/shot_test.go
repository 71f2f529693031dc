package blender_test

import (
	"testing"

	"svc.example/internal/render/blender"
)

// TestAShotIsTheSceneWithOtherNoiseFromAnotherPlace renders a scene as it is, with another
// seed, and from a moved camera; the same shot twice gives the same pixels.
func TestAShotIsTheSceneWithOtherNoiseFromAnotherPlace(t *testing.T) {
	t.Parallel()
	pixels := func(shot *blender.Shot) string {
		t.Helper()
		p, in := start(t, blender.Options{}), blender.SingleFile(scene(t, "plain"))
		in.Shot = shot
		if _, err := p.Open(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		return picture(t, render(t, p, 5).Path).SHA256
	}
	seen := map[string]string{}
	for name, shot := range map[string]*blender.Shot{
		"as it is": nil, "another seed": {Seed: 7}, "another place": {Seed: 7, Shift: [2]float64{0.05, 0}}, "above it": {Seed: 7, Shift: [2]float64{0, 0.05}},
	} {
		got := pixels(shot)
		if other, known := seen[got]; known {
			t.Errorf("%s and %s have the same pixels", name, other)
		}
		seen[got] = name
	}
	again := &blender.Shot{Seed: 7}
	if seen[pixels(again)] != "another seed" {
		t.Error("the same shot has other pixels")
	}
}
