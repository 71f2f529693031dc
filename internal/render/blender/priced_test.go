package blender_test

import (
	"errors"
	"testing"

	"svc.example/internal/render/blender"
)

// TestNoOtherSceneThanThePricedOneIsRendered: where the reader of .blend files and Blender
// choose another scene, the frame fails at once, on every worker.
func TestNoOtherSceneThanThePricedOneIsRendered(t *testing.T) {
	t.Parallel()
	for _, priced := range []string{"Scene", "Another", "Sc\uFFFDne"} {
		in := blender.SingleFile(scene(t, "plain"))
		in.Scene = priced
		_, err := start(t, blender.Options{}).Open(t.Context(), in)
		failed, refused := errors.AsType[*blender.Error](err)
		if refused != (priced == "Another") {
			t.Errorf("priced %q: %v", priced, err)
		}
		if refused && (failed.Code != blender.FrameCheckFailed || !failed.Final) {
			t.Errorf("refused with %+v", failed)
		}
	}
}
