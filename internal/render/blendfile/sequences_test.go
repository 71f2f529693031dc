package blendfile_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/sequence"
)

func referencesOf(t *testing.T, path string) []blendfile.Reference {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	opened, err := blendfile.Open(file, blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	opened.Render()
	return opened.References()
}

// Nodes and textures that the picture does not come from, and muted nodes, show nothing.
func TestASequenceIsShownAsItsUsersSayThatThePictureComesFrom(t *testing.T) {
	t.Parallel()
	want := map[string][]sequence.Use{
		"//plate_0001.png":   {{Start: 1, Frames: 4, Rule: sequence.Cycle}, {Start: 2, Frames: 5, Offset: 3, Rule: sequence.Hold}},
		"//CLIP_01.vdb":      {{Start: 3, Frames: 7, Offset: 2, Rule: sequence.Clip}},
		"//EXTEND_01.vdb":    {{Start: 3, Frames: 7, Offset: 2, Rule: sequence.Extend}},
		"//REPEAT_01.vdb":    {{Start: 3, Frames: 7, Offset: 2, Rule: sequence.Cycle}},
		"//PING_PONG_01.vdb": {{Start: 3, Frames: 7, Offset: 2, Rule: sequence.PingPong}},
		"//bump_0001.png":    {{Start: 3, Frames: 5, Offset: 2, Rule: sequence.Hold}},
		"//unused_0001.png":  nil,
		"//clip_0007.png":    {{Start: 2, Frames: sequence.ToTheLast, Offset: 7, Rule: sequence.Clip}},
	}
	for _, file := range []string{"numbered", "numbered_elsewhere"} {
		for _, r := range referencesOf(t, "testdata/"+file+".blend") {
			slices.SortFunc(r.Uses, func(a, b sequence.Use) int { return a.Start - b.Start })
			if !slices.Equal(r.Uses, want[r.Path]) {
				t.Errorf("%s: %+v, want %+v", r.Path, r.Uses, want[r.Path])
			}
			delete(want, r.Path)
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
}

// That of another scene is not shown.
func TestAVolumeOfTheWorldIsToldWhereThePictureShowsIt(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{"world_volume": true, "world_volume_off": false, "numbered": false} {
		if got := inspectFile(t, "testdata/"+file+".blend").WorldVolume; got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

// What was tracked in a clip is in the .blend.
func TestAClipIsNeededOnlyWhereItsPicturesAreShown(t *testing.T) {
	t.Parallel()
	var needed, named []string
	for _, r := range referencesOf(t, "testdata/clips.blend") {
		named = append(named, r.Owner)
		if r.Level == blendfile.Drawn {
			needed = append(needed, r.Owner)
		}
	}
	slices.Sort(needed)
	if got := strings.Join(needed, " "); got != "KeyingScreen MovieClip" || len(named) != 5 {
		t.Errorf("needed: %s, of %v", got, named)
	}
}
