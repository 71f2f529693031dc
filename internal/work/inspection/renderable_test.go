package inspection_test

import (
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/quote"
)

// Blender renders no picture of less than a pixel. A size that is keyed may be another one
// than is stored.
func TestAPictureOfNoPixelsIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scene   blendfile.Scene
		refused bool
	}{
		"one pixel":             {blendfile.Scene{ResolutionX: 4, ResolutionY: 4, ResolutionPercentage: 25}, false},
		"less than one":         {blendfile.Scene{ResolutionX: 40, ResolutionY: 30, ResolutionPercentage: 2}, true},
		"less than one, keyed":  {blendfile.Scene{ResolutionX: 40, ResolutionY: 30, ResolutionPercentage: 2, SizeChanges: true}, false},
		"an empty border":       {blendfile.Scene{ResolutionX: 40, ResolutionY: 30, ResolutionPercentage: 100, Border: &blendfile.Border{MinX: 0.5, MaxX: 0.5, MaxY: 1}}, true},
		"an empty crop":         {blendfile.Scene{ResolutionX: 40, ResolutionY: 30, ResolutionPercentage: 100, Border: &blendfile.Border{MinX: 0.5, MaxX: 0.5, MaxY: 1, Crop: true}}, true},
		"a border with a pixel": {blendfile.Scene{ResolutionX: 40, ResolutionY: 30, ResolutionPercentage: 100, Border: &blendfile.Border{MinX: 0.5, MaxX: 0.53, MaxY: 1}}, false},
	} {
		c.scene.Engine = "CYCLES"
		facts := &blendfile.Facts{FileVersion: 401, Scene: &c.scene, Rendering: &blendfile.Rendering{Shots: []blendfile.Shot{{Engine: "CYCLES"}}}}
		if err := inspection.Renderable(facts, quote.Farm{}); fault.Is(err, fault.PictureTooSmall) != c.refused || err != nil && !c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Blender would write such a view out of the worker's folder; the worker refuses it too, after
// the start.
func TestAViewThatLeavesItsFolderIsRefusedBeforeItIsPaid(t *testing.T) {
	t.Parallel()
	for stray, want := range map[string]fault.Code{"": "", "right": fault.ViewPathUnsafe} {
		facts := &blendfile.Facts{FileVersion: 401, Rendering: &blendfile.Rendering{Shots: []blendfile.Shot{{Engine: "CYCLES"}}},
			Scene: &blendfile.Scene{Engine: "CYCLES", ResolutionX: 4, ResolutionY: 4, ResolutionPercentage: 100, StrayView: stray}}
		if err := inspection.Renderable(facts, quote.Farm{}); fault.Of(err) != want && (err != nil || want != "") {
			t.Errorf("%q: %v, want %q", stray, err, want)
		}
	}
}

// What is rendered decides, not the scene that is active: an edit may be of any engine, and
// without a camera, while its strips show scenes of Cycles.
func TestAFileIsRefusedForTheScenesThatAreRendered(t *testing.T) {
	t.Parallel()
	cycles, eevee := blendfile.Shot{Scene: "Shot", Engine: "CYCLES"}, blendfile.Shot{Scene: "Title", Engine: "BLENDER_EEVEE"}
	strip := func(s blendfile.Shot) blendfile.Shot { s.Strip = "strip"; return s }
	type shots = []blendfile.Shot
	for name, c := range map[string]struct {
		engine    string
		rendering blendfile.Rendering
		want      fault.Code
	}{
		"the scene itself":                   {"CYCLES", blendfile.Rendering{Shots: shots{cycles}}, ""},
		"the scene itself, of another one":   {"BLENDER_EEVEE", blendfile.Rendering{Shots: shots{eevee}}, fault.EngineNotSupported},
		"before engines had names":           {"", blendfile.Rendering{Shots: shots{{Scene: "1"}}}, fault.EngineNotSupported},
		"no camera":                          {"CYCLES", blendfile.Rendering{Shots: shots{cycles}, NoCamera: "Shot"}, fault.NoCamera},
		"an edit of another engine":          {"BLENDER_EEVEE", blendfile.Rendering{Sequenced: true, Shots: shots{strip(cycles)}}, ""},
		"an edit with a strip of another":    {"BLENDER_EEVEE", blendfile.Rendering{Sequenced: true, Shots: shots{strip(cycles), strip(eevee)}}, ""},
		"an edit of another engine's only":   {"CYCLES", blendfile.Rendering{Sequenced: true, Shots: shots{strip(eevee)}}, fault.EngineNotSupported},
		"an edit of files":                   {"CYCLES", blendfile.Rendering{Sequenced: true}, ""},
		"an edit of files, of another":       {"BLENDER_WORKBENCH", blendfile.Rendering{Sequenced: true}, fault.EngineNotSupported},
		"a compositor of Cycles alone":       {"BLENDER_EEVEE", blendfile.Rendering{Shots: shots{cycles}}, ""},
		"a compositor with another engine's": {"CYCLES", blendfile.Rendering{Shots: shots{cycles, eevee}}, fault.EngineNotSupported},
		"a compositor of pictures":           {"CYCLES", blendfile.Rendering{}, ""},
	} {
		facts := &blendfile.Facts{FileVersion: 401, Scene: &blendfile.Scene{Name: "Title", Engine: c.engine, ResolutionX: 4, ResolutionY: 4, ResolutionPercentage: 100}, Rendering: &c.rendering}
		if err := inspection.Renderable(facts, quote.Farm{}); fault.Of(err) != c.want && (err != nil || c.want != "") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
