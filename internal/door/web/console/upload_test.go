package console

import (
	"testing"

	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
)

func TestASceneIsDescribedInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		samples int
		format  string
		want    string
	}{
		{1, "OPEN_EXR", "3840 × 2160 pixels, 1 sample, OpenEXR, saved with Blender 3.4"},
		{24, "PNG", "3840 × 2160 pixels, 24 samples, PNG, saved with Blender 3.4"},
		{2, "OPEN_EXR_MULTILAYER", "3840 × 2160 pixels, 2 samples, multilayer OpenEXR, saved with Blender 3.4"},
	} {
		scene := quote.Scene{FrameWidth: 3840, FrameHeight: 2160, Samples: c.samples, OutputFormat: c.format, FileVersion: "3.4"}
		if got := (uploadView{Inspection: intake.Inspection{Scene: scene}}).SceneText(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
