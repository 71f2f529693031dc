package contentkey_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/contentkey"
	"svc.example/internal/render/framelist"
	"svc.example/internal/test/packed"
)

// The files of testdata are made by scripts/scenes/contentkey_make.py.

func bytesOf(t testing.TB, name string) []byte {
	t.Helper()
	return packed.Read(t, "testdata/"+name+".blend")
}

func read(t testing.TB, file []byte) *contentkey.Scene {
	t.Helper()
	s, err := contentkey.Read(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }, blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var all = framelist.Range{First: 1, Last: 250, Step: 1}.List()

// compare compares the scene of testdata with a revision of it.
func compare(t *testing.T, revision string) contentkey.Comparison {
	t.Helper()
	return contentkey.Compare(read(t, bytesOf(t, "scene")), read(t, bytesOf(t, revision)), all)
}

func TestWhatNoPictureComesFromChangesNoFrame(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"scene", "interface"} {
		if c := compare(t, revision); len(c.Changed) > 0 {
			t.Errorf("%s: %s changed: %+v", revision, c.Changed, c.Causes)
		}
	}
}

// Names and custom properties count where something reads them.
func TestNamesAndPropertiesCountWhereSomethingReadsThem(t *testing.T) {
	t.Parallel()
	if c := compare(t, "noted"); len(c.Changed) > 0 {
		t.Errorf("nothing reads them: %s changed: %+v", c.Changed, c.Causes)
	}
	reading := read(t, bytesOf(t, "reading"))
	for _, revision := range []string{"reading_renamed", "reading_noted"} {
		if c := contentkey.Compare(reading, read(t, bytesOf(t, revision)), all); len(c.Unchanged) > 0 {
			t.Errorf("%s: %s unchanged", revision, c.Unchanged)
		}
	}
}

// A strip that is held sets its properties in every frame; another leaves them as a frame before
// has set them.
func TestAHeldStripLeavesFramesApart(t *testing.T) {
	t.Parallel()
	held, ends := read(t, bytesOf(t, "strip")), read(t, bytesOf(t, "strip_ends"))
	if held.Whole != "" || !strings.Contains(ends.Whole, "NLA") {
		t.Errorf("held: whole because %q; with an end: %q", held.Whole, ends.Whole)
	}
	c := contentkey.Compare(held, read(t, bytesOf(t, "strip_floor")), all)
	if got := c.Changed.String(); got != "97-139" {
		t.Errorf("%s changed: %+v", got, c.Causes)
	}
}

// A driver that reads the length of the scene makes every byte count: see watched.go.
func TestTheLengthOfASceneChangesNoFrameOfOneWithDrivers(t *testing.T) {
	t.Parallel()
	if c := contentkey.Compare(read(t, bytesOf(t, "driven")), read(t, bytesOf(t, "driven_longer")), all); len(c.Changed) > 0 {
		t.Errorf("%s changed: %+v", c.Changed, c.Causes)
	}
}

func TestAKeyChangesTheFramesUpToItsNeighbours(t *testing.T) {
	t.Parallel()
	c := compare(t, "moved")
	if got := c.Changed.String(); got != "97-139" {
		t.Errorf("%s changed", got)
	}
	if len(c.Causes) != 1 || c.Causes[0].What != "action CubeAction" || c.Causes[0].Keys < 1 || c.Causes[0].Frames.String() != "97-139" {
		t.Errorf("the causes are %+v", c.Causes)
	}
}

func TestAMaterialChangesAllFrames(t *testing.T) {
	t.Parallel()
	c := compare(t, "material")
	if len(c.Unchanged) > 0 || len(c.Causes) != 1 || c.Causes[0].What != "material Floor" || c.Causes[0].Frames != nil {
		t.Errorf("%s unchanged, causes %+v", c.Unchanged, c.Causes)
	}
}

func TestWithMemoryEveryFrameCountsEverything(t *testing.T) {
	t.Parallel()
	s := read(t, bytesOf(t, "particles"))
	if !strings.Contains(s.Whole, "particle") {
		t.Errorf("whole because %q", s.Whole)
	}
	if c := compare(t, "particles"); len(c.Unchanged) > 0 {
		t.Errorf("%s unchanged", c.Unchanged)
	}
}

// A Blender of the future has members that this program does not know.
func TestAnUnknownMemberCounts(t *testing.T) {
	t.Parallel()
	before, after := bytesOf(t, "scene"), bytesOf(t, "interface")
	for _, file := range [][]byte{before, after} {
		if n := bytes.Count(file, []byte("\x00locx\x00")); n != 1 {
			t.Fatalf("the structs name locx %d times", n)
		}
		copy(file[bytes.Index(file, []byte("\x00locx\x00"))+1:], "newx")
	}
	if c := contentkey.Compare(read(t, before), read(t, after), all); len(c.Unchanged) > 0 {
		t.Errorf("%s unchanged", c.Unchanged)
	}
}

func TestAFileOfTheSceneCountsByItsContent(t *testing.T) {
	t.Parallel()
	before, after := read(t, bytesOf(t, "scene")), read(t, bytesOf(t, "scene"))
	before.AddFile("wood.png", "one")
	after.AddFile("wood.png", "one")
	if c := contentkey.Compare(before, after, all); len(c.Changed) > 0 {
		t.Errorf("%s changed", c.Changed)
	}
	after = read(t, bytesOf(t, "scene"))
	after.AddFile("wood.png", "another")
	if c := contentkey.Compare(before, after, all); len(c.Unchanged) > 0 || len(c.Causes) != 1 || c.Causes[0].What != "file wood.png" {
		t.Errorf("%s unchanged, causes %+v", c.Unchanged, c.Causes)
	}
}

func TestAFileThatChangesWhileItIsReadIsRefused(t *testing.T) {
	t.Parallel()
	opened := 0
	file := bytesOf(t, "scene")
	_, err := contentkey.Read(func() (io.ReadCloser, error) {
		if opened++; opened == 3 {
			return os.Open("testdata/particles.blend")
		}
		return io.NopCloser(bytes.NewReader(file)), nil
	}, blendfile.Options{})
	if damaged, ok := errors.AsType[*blendfile.DamagedError](err); !ok {
		t.Errorf("%v, %v", damaged, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"scene", "particles"} {
		f.Add(bytesOf(f, name))
	}
	f.Fuzz(func(_ *testing.T, file []byte) {
		s, err := contentkey.Read(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }, blendfile.Options{})
		if err == nil {
			s.Keys([]int{1, 2})
		}
	})
}
