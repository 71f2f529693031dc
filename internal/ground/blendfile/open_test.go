package blendfile_test

import (
	"os"
	"testing"

	"svc.example/internal/ground/blendfile"
)

// open opens a file of testdata until the test ends.
func open(t *testing.T, name string) *blendfile.Opened {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".blend")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	opened, err := blendfile.Open(file, blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	return opened
}

// level is that of a path, which the file refers to.
func level(t *testing.T, f *blendfile.Opened, path string) blendfile.Level {
	t.Helper()
	for _, r := range f.References() {
		if r.Path == path && !r.Linked {
			return r.Level
		}
	}
	t.Fatalf("no reference to %s", path)
	return 0
}

// linked.blend links a camera, an empty and the picture of the empty, which no render shows.
func TestALibraryIsReachedByWhatOthersLink(t *testing.T) {
	t.Parallel()
	main, library := open(t, "linked"), open(t, "library")
	if got := level(t, library, "//far.png"); got != blendfile.None {
		t.Errorf("level %d before anything links it", got)
	}
	main.Render()
	want := map[string]blendfile.Level{"OBFar camera": blendfile.Drawn, "OBFar empty": blendfile.Drawn, "IMFar away": blendfile.Computed}
	for _, l := range main.Linked() {
		if path := main.Libraries()[l.Library].Path; path != "//library.blend" || l.Level != want[l.Name] {
			t.Errorf("%s is linked from %s at level %d, want %d", l.Name, path, l.Level, want[l.Name])
		}
		delete(want, l.Name)
		library.Enter(l.Name, l.Level)
	}
	if len(want) != 0 {
		t.Errorf("not linked: %v", want)
	}
	if got := level(t, library, "//far.png"); got != blendfile.Computed {
		t.Errorf("level %d, want %d", got, blendfile.Computed)
	}
	library.Enter("IMFar away", blendfile.Drawn)
	if got := level(t, library, "//far.png"); got != blendfile.Drawn {
		t.Errorf("level %d, want %d", got, blendfile.Drawn)
	}
}

func TestWhatIsLinkedAndNotThereMayBeAnything(t *testing.T) {
	t.Parallel()
	library := open(t, "library")
	library.Enter("MAno such material", blendfile.Drawn)
	if got := level(t, library, "//far.png"); got != blendfile.Loaded {
		t.Errorf("level %d, want %d", got, blendfile.Loaded)
	}
}
