package contentkey_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"svc.example/internal/render/contentkey"
)

// A file has the values that its curves set in the frame in which it was saved.
func TestWhatACurveSetsDoesNotCountAsTheFileHasIt(t *testing.T) {
	t.Parallel()
	before := read(t, bytesOf(t, "animated"))
	if c := contentkey.Compare(before, read(t, bytesOf(t, "animated_elsewhere")), all); len(c.Changed) > 0 {
		t.Errorf("saved in another frame: %s changed: %+v", c.Changed, c.Causes)
	}
	if c := contentkey.Compare(before, read(t, bytesOf(t, "animated_else")), all); len(c.Unchanged) > 0 {
		t.Errorf("a value that no curve sets: %s unchanged", c.Unchanged)
	}
}

// A modifier can have a frame show the curve as it is in others.
func TestAKeyChangesTheFramesThatShowItsTime(t *testing.T) {
	t.Parallel()
	for _, revisions := range []struct{ before, after, want string }{
		{"stepped", "stepped_moved", "86-150"},
		{"limited", "limited_moved", "97-250"},
		{"beyond", "beyond_line", "230-250"},
		{"beyond_cycles", "beyond_cycles_moved", "97-139,231-250"},
	} {
		c := contentkey.Compare(read(t, bytesOf(t, revisions.before)), read(t, bytesOf(t, revisions.after)), all)
		if got := c.Changed.String(); got != revisions.want {
			t.Errorf("%s: %s changed, want %s", revisions.after, got, revisions.want)
		}
		if len(c.Causes) != 1 || c.Causes[0].What != "action CubeAction" || c.Causes[0].Frames.String() != revisions.want {
			t.Errorf("%s: the causes are %+v", revisions.after, c.Causes)
		}
	}
}

// Blender begins with the pose of the file where bones depend on each other in a circle.
func TestARigCountsAsItWasSavedWhereBonesNeedEachOther(t *testing.T) {
	t.Parallel()
	for _, scene := range []string{"rig", "driven"} {
		if c := contentkey.Compare(read(t, bytesOf(t, scene)), read(t, bytesOf(t, scene+"_elsewhere")), all); len(c.Changed) > 0 {
			t.Errorf("%s saved in another frame: %s changed: %+v", scene, c.Changed, c.Causes)
		}
	}
	if c := contentkey.Compare(read(t, bytesOf(t, "rig_circle")), read(t, bytesOf(t, "rig_circle_elsewhere")), all); len(c.Unchanged) > 0 {
		t.Errorf("in a circle: %s unchanged", c.Unchanged)
	}
}

// A constraint without a distance takes that of the first frame in which Blender evaluates it.
func TestWhatBlenderMeasuresWhereTheFileWasSavedCounts(t *testing.T) {
	t.Parallel()
	files := [][]byte{bytesOf(t, "measured"), bytesOf(t, "measured_elsewhere")}
	if c := contentkey.Compare(read(t, files[0]), read(t, files[1]), all); len(c.Changed) > 0 {
		t.Errorf("with a distance: %s changed: %+v", c.Changed, c.Causes)
	}
	distance := binary.LittleEndian.AppendUint32(nil, math.Float32bits(7.123))
	for _, file := range files {
		if n := bytes.Count(file, distance); n != 1 {
			t.Fatalf("the distance is there %d times", n)
		}
		clear(file[bytes.Index(file, distance):][:4])
	}
	c := contentkey.Compare(read(t, files[0]), read(t, files[1]), all)
	if len(c.Unchanged) > 0 {
		t.Errorf("without: %s unchanged", c.Unchanged)
	}
}
