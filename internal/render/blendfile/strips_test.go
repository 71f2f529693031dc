package blendfile_test

import "testing"

// A strip of another engine is left out: what its scene has and lacks concerns no frame.
func TestAStripOfAnotherEngineTakesAndNeedsNothing(t *testing.T) {
	t.Parallel()
	r := inspectFile(t, "testdata/strips_of_engines.blend").Rendering
	if len(r.Shots) != 2 || r.NoCamera != "" || len(r.Denoising) != 0 || r.OtherWork != 1920*1080*2 {
		t.Errorf("%+v", r)
	}
}
