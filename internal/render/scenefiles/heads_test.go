package scenefiles

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestAFileIsJudgedByItsFirstBytesAndAPlausibleOneIsNeverNamed(t *testing.T) {
	t.Parallel()
	lfs := "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1048576\n"
	page := "\xef\xbb\xbf\n<!DOCTYPE html><html>"
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 60)
	targa := "\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x04\x00\x18\x00pixels"
	for _, c := range []struct {
		kind          Kind
		name, content string
		why           string
	}{
		{KindImage, "a.png", lfs, "is a Git LFS pointer, not a picture"},
		{KindSequence, "a.exr", lfs, "is a Git LFS pointer, not a picture"},
		{KindFont, "a.ttf", lfs, "is a Git LFS pointer, not a font"},
		{KindVolume, "a.vdb", lfs, "is a Git LFS pointer, not a volume"},
		{KindCache, "a.abc", lfs, "is a Git LFS pointer, not a cache"},
		{KindSimulation, "a.bphys", lfs, "is a Git LFS pointer, not a cache"},
		{KindSound, "a.wav", lfs, "is a Git LFS pointer, not a sound"},
		{KindMovie, "a.mp4", lfs, "is a Git LFS pointer, not a film"},
		{KindImage, "a.png", "/annex/objects/SHA256E-s1--4d7a.png", "is a git-annex pointer, not a picture"},
		{KindImage, "a.tga", page, "is a web page, not a picture"},
		{KindFont, "a.otf", "<HTML lang=en>", "is a web page, not a font"},
		{KindImage, "a", "", "is empty"},
		{KindFont, "a.ttf", "", "is empty"},
		{KindVolume, "a.vdb", "", "is empty"},
		{KindSound, "a.ogg", "", "is empty"},
		{KindSimulation, "a.bphys", "", ""},
		{KindImage, "a.jpg", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00", "is a HEIC, AVIF or film file, which Blender does not read as a picture"},
		{KindTiles, "a.JPG", "%PDF-1.7", "does not begin as any picture that Blender reads"},
		{KindImage, "a.exr", "random bytes", "does not begin as any picture that Blender reads"},
		{KindVolume, "a.vdb", "random bytes", "does not begin as a volume of its kind"},
		{KindCache, "a.abc", "random bytes", "does not begin as a cache of its kind"},
		{KindImage, "a.jpg", png, ""},
		{KindImage, "a.png", targa, ""},
		{KindImage, "a.tga", "random bytes", ""},
		{KindImage, "a.xyz", "random bytes", ""},
		{KindImage, "a.tif", "II*\x00", ""},
		{KindImage, "a.hdr", "#?RGBE\n", ""},
		{KindVolume, "a.vdb", " BDV\x00\x00\x00\x00", ""},
		{KindCache, "a.mdd", "random bytes", ""},
		{KindCache, "a.usd", "random bytes", ""},
		{KindFont, "a.TTF", "random bytes", "does not begin as a font of its kind"},
		{KindFont, "a.otf", "\x00\x01\x00\x00\x00\x0f", ""},
		{KindFont, "a.ttf", "%!PS-AdobeFont-1.0", ""},
		{KindFont, "a.pfa", "random bytes", ""},
		{KindScript, "a.osl", "shader a() {}", ""},
	} {
		if got := whyUnreadable(c.kind, Name{c.name, int64(len(c.content))}, []byte(c.content)); got != c.why {
			t.Errorf("%s %s %.20q: %q, want %q", c.kind, c.name, c.content, got, c.why)
		}
	}
}

// TestAFileThatEndsTooEarlyIsNamed: those of the first 500 files.
func TestAFileThatEndsTooEarlyIsNamed(t *testing.T) {
	t.Parallel()
	cut := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("x", 2000)
	whole := "\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND\xaeB`\x82"
	s := searchOf()
	var files []File
	for i := range maxEnds + 1 {
		name := fmt.Sprintf("%d.png", i)
		s.tree.files.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(cut)}
		files = append(files, File{Kind: KindImage, Status: StatusFound, Reach: ReachNeeded, Names: []Name{{name, int64(len(cut))}}})
	}
	s.tree.files.(fstest.MapFS)["0.png"].Data = []byte(whole)
	files[0].Names[0].Bytes = int64(len(whole))
	s.readHeads(files)
	for i, f := range files {
		want := i > 0 && i < maxEnds
		if got := len(f.Unreadable) == 1 && f.Unreadable[0].Why == "is cut off: its end is missing"; got != want {
			t.Fatalf("file %d: %v, want that it is named: %v", i, f.Unreadable, want)
		}
	}
}

// TestACutFileIsNamedByWhatItIs: by its content, or by its name where that has no magic.
func TestACutFileIsNamedByWhatItIs(t *testing.T) {
	t.Parallel()
	lamp := "IESNA:LM-63-1995\nTILT=NONE\n1 1000 1 2 1 1 1 0 0 0\n1 1 100\n0 90\n0\n100 "
	targa := "\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01\x00\x18\x00pixel"
	for _, c := range []struct {
		kind          Kind
		name, content string
		cut           bool
	}{
		{KindLight, "lamp.ies", lamp, true},
		{KindLight, "lamp.ies", lamp + "90", false},
		{KindImage, "wood.TGA", targa, true},
		{KindImage, "wood.tga", targa + "s", false},
		{KindImage, "wood.xyz", targa, false},
		{KindSound, "step.ogg", "OggS\x00" + strings.Repeat("x", 30), true},
	} {
		s := searchOf()
		s.tree.files.(fstest.MapFS)[c.name] = &fstest.MapFile{Data: []byte(c.content)}
		files := []File{{Kind: c.kind, Status: StatusFound, Reach: ReachNeeded, Names: []Name{{c.name, int64(len(c.content))}}}}
		s.readHeads(files)
		if got := len(files[0].Unreadable) == 1; got != c.cut {
			t.Errorf("%s of %d bytes: %v, want that it is named: %v", c.name, len(c.content), files[0].Unreadable, c.cut)
		}
	}
}

func TestTheFirstBytesAreReadOfWhatThePictureNeedsAndOfSounds(t *testing.T) {
	t.Parallel()
	s := searchOf()
	names := []Name{}
	for _, n := range strings.Fields("a.png b.png") {
		s.tree.files.(fstest.MapFS)[n] = &fstest.MapFile{Data: []byte("%PDF")}
		names = append(names, Name{n, 4})
	}
	files := []File{
		{Kind: KindSequence, Status: StatusFound, Reach: ReachNeeded, Names: names},
		{Kind: KindImage, Status: StatusRemapped, Reach: ReachNeeded, Names: names[:1]},
		{Kind: KindSound, Status: StatusFound, Reach: ReachUnneeded, Names: []Name{{"a.wav", 0}}},
		{Kind: KindImage, Status: StatusFound, Reach: ReachPerhaps, Names: names},
		{Kind: KindLibrary, Status: StatusFound, Reach: ReachNeeded, Names: names},
	}
	s.readHeads(files)
	for i, want := range []int{2, 1, 1, 0, 0} {
		if got := files[i].Unreadable; len(got) != want {
			t.Errorf("%s: %v, want %d", files[i].Kind, got, want)
		}
	}
}
