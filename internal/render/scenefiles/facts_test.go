package scenefiles_test

import (
	"testing"

	"svc.example/internal/render/scenefiles"
)

func TestTheWordsOfTheInterfaceAreFewer(t *testing.T) {
	t.Parallel()
	type words struct {
		kind   scenefiles.Kind
		status scenefiles.Status
	}
	for _, c := range []struct {
		kind   scenefiles.Kind
		status scenefiles.Status
		reach  scenefiles.Reach
		want   words
	}{
		{scenefiles.KindImage, scenefiles.StatusFound, scenefiles.ReachNeeded, words{"image", "found"}},
		{scenefiles.KindScript, scenefiles.StatusFound, scenefiles.ReachPerhaps, words{"image", "found"}},
		{scenefiles.KindLight, scenefiles.StatusRemapped, scenefiles.ReachNeeded, words{"image", "remapped"}},
		{scenefiles.KindTiles, scenefiles.StatusMissing, scenefiles.ReachNeeded, words{"udim", "missing"}},
		{scenefiles.KindSequence, scenefiles.StatusOutside, scenefiles.ReachNeeded, words{"sequence", "missing"}},
		{scenefiles.KindImage, scenefiles.StatusMissing, scenefiles.ReachPerhaps, words{"image", "unused"}},
		{scenefiles.KindLibrary, scenefiles.StatusOutside, scenefiles.ReachUnneeded, words{"library", "unused"}},
		{scenefiles.KindSound, scenefiles.StatusFound, scenefiles.ReachUnneeded, words{"sound", "unused"}},
		{scenefiles.KindLibrary, scenefiles.StatusPacked, scenefiles.ReachNeeded, words{"library", "packed"}},
		{scenefiles.KindImage, scenefiles.StatusPacked, scenefiles.ReachUnneeded, words{"image", "packed"}},
	} {
		f := scenefiles.File{Kind: c.kind, Status: c.status, Reach: c.reach}
		if kind, status := f.Words(); (words{kind, status}) != c.want {
			t.Errorf("%s, %s, %s is %s, %s, want %+v", c.kind, c.status, c.reach, kind, status, c.want)
		}
	}
}
