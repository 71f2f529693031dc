package inspection_test

import (
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/work/inspection"
)

// A .blend alone and a project name what is missing in the same words.
func TestMissingFilesHaveTheKindsOfTheInterface(t *testing.T) {
	t.Parallel()
	for kind, want := range map[blendfile.Kind]string{
		blendfile.KindImage: "image", blendfile.KindImageSequence: "sequence", blendfile.KindImageTiles: "udim", blendfile.KindLibrary: "library",
	} {
		facts := &blendfile.Facts{Scene: &blendfile.Scene{}, Rendering: &blendfile.Rendering{}}
		facts.MissingFiles = append(facts.MissingFiles, blendfile.MissingFile{Kind: kind, Path: "//a"})
		if got := inspection.SceneOf(facts, "a.blend").MissingFiles[0].Kind; got != want {
			t.Errorf("%s is reported as %s", kind, got)
		}
	}
}
