package blender_test

import (
	"reflect"
	"slices"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
)

// TestACancelledJobSaysWhatItCost cancels a job for which there is no computer.
func TestACancelledJobSaysWhatItCost(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	a := legacyDesk(svc)
	var signedIn, told map[string]any
	a.signIn(svc.Caller(story.Credit), &signedIn)
	a.does("cancel", &told, nil)
	want := map[string]any{"waits": "waiting: no computer is online", "frames": "", "notice": "shot was cancelled. It cost nothing."}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("a cancelled job tells %v, want %v", told, want)
	}
}

// bringsWhatTheCompositorWrites renders a scene with File Output nodes.
func (a desk) bringsWhatTheCompositorWrites() {
	a.t.Helper()
	a.run(nil, "-b", "--factory-startup", "--python-exit-code", "3", "--python", "../../../../scripts/scenes/outputs.py", "--", a.folder)
	var told struct{ Files []string }
	a.does("outputs", &told, nil)
	want := []string{
		"frame_0007.png", "outputs/grouped0007.jpg", "outputs/multi/all_0007.exr", "outputs/passes/beauty_0007.png", "outputs/passes/beauty_0007.tif",
		"outputs/passes/depth/z0007.exr", "outputs/tail/07_end.bmp",
	}
	if !slices.Equal(told.Files, want) {
		a.t.Errorf("the compositor's files are %q, want %q", told.Files, want)
	}
}

// loadsFramesIntoTheFile puts OpenEXR frames with a gap and PNG frames into the sequencer and the
// compositor: each frame at its own place, each job in a channel of its own, with the colour space
// that Blender gives such a file.
func (a desk) loadsFramesIntoTheFile() {
	a.t.Helper()
	type loaded struct {
		Strips  [][]any
		Colours bool
		Node    []any
	}
	var told map[string]loaded
	a.does("load", &told, nil)
	want := map[string]loaded{
		"float": {
			Strips:  [][]any{{1.0, 1.0, []any{"frame_0001.exr", "frame_0002.exr"}}, {1.0, 4.0, []any{"frame_0004.exr"}}},
			Colours: true, Node: []any{"SEQUENCE", 1.0, 4.0, 0.0, false},
		},
		"s010": {
			Strips:  [][]any{{2.0, 1.0, []any{"frame_0001.png", "frame_0002.png"}}},
			Colours: true, Node: []any{"SEQUENCE", 1.0, 2.0, 0.0, false},
		},
	}
	if !reflect.DeepEqual(told, want) {
		a.t.Errorf("the frames are loaded as\n%+v, want\n%+v", told, want)
	}
}
