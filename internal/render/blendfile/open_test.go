package blendfile_test

import (
	"bytes"
	"maps"
	"os"
	"testing"

	"svc.example/internal/render/blendfile"
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

// dnaEyes describes stereo images, whose views no Blender finds without a window.
const dnaEyes = listBase + `
ID: void *next; void *prev; ID *newid; Library *lib; char name[66]; short flag; int tag
PackedFile: int size; int seek; void *data
ImageView: ImageView *next; ImageView *prev; char name[64]; char filepath[1024]
Image: ID id; char name[1024]; PackedFile *packedfile; ListBase views; short source; short flag; int pad
FileGlobal: char subvstr[4]; int pad; void *curscene`

func TestTheSecondEyeOfAnImageIsAFileThatNoPictureShows(t *testing.T) {
	t.Parallel()
	s := newSynth(form{version: 304, bits: 64}, dnaEyes)
	s.block("GLOB", "FileGlobal", 0, values{})
	s.block("IM", "Image", 0x1000, values{"id.name": "IMwall", "name": "//wall_L.png", "source": 1, "views.first": addr(0x2000), "views.last": addr(0x2001)})
	s.block("DATA", "ImageView", 0x2000, values{"next": addr(0x2001), "name": "left", "filepath": "//wall_L.png"})
	s.block("DATA", "ImageView", 0x2001, values{"prev": addr(0x2000), "name": "right", "filepath": "//wall_R.png"})
	opened, err := blendfile.Open(bytes.NewReader(s.bytes()), blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	opened.Render() // without a scene everything may count
	got := map[string]blendfile.Level{}
	for _, r := range opened.References() {
		got[r.Path] = r.Level
	}
	if want := map[string]blendfile.Level{"//wall_L.png": blendfile.Drawn, "//wall_R.png": blendfile.Computed}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	facts := inspectBytes(t, s.bytes())
	if len(facts.MissingFiles) != 1 || len(facts.Externals) != 1 {
		t.Errorf("missing %+v of %+v, want the left one alone", facts.MissingFiles, facts.Externals)
	}
}
