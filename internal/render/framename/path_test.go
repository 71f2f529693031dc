package framename_test

import (
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"svc.example/internal/render/framename"
)

func TestPathsOfOutputsAreKeptWhereTheyAreSafe(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"beauty/Image0001.png":       "beauty/Image0001.png",
		"../../etc/x0001.png":        "etc/x0001.png",
		`C:\out\..\depth_0007.exr`:   "C_/out/depth_0007.exr",
		"/a//./b/0001.png":           "a/b/0001.png",
		"COM\u00b9.exr":              "_COM\u00b9.exr",
		"conin$/comet.exr":           "_conin$/comet.exr",
		"con/NUL.0001.png":           "_con/_NUL.0001.png",
		".hidden/-rf 0001.png":       "_hidden/_rf 0001.png",
		"dir. /a\x00b\u202e0001.png": "dir._/a_b_0001.png",
		"Müll/ä0001.png":             "Müll/ä0001.png",
		"":                           "_",
		"..":                         "_",
	} {
		if got := framename.Path(raw); got != want {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
	}
}

// Some file systems take names for one that differ in capitals, or in how an accent is written.
func TestNamesThatSomeSystemTakesForOneDiffer(t *testing.T) {
	t.Parallel()
	for _, alike := range [][]string{
		{"\u00e9.png", "e\u0301.png", "E\u0301.png", "\u00c9.PNG"}, {"\u017f.png", "s.png", "S.png"}, {"\u03c2.exr", "\u03c3.exr", "\u03a3.exr"},
		{"e\u0301/a.png", "\u00e9.png/b.png", "\u00e9"},
	} {
		var names framename.Names
		taken := map[string]bool{}
		for _, raw := range alike {
			name := norm.NFD.String(strings.ToLower(strings.ToUpper(names.Take(raw))))
			if taken[name] {
				t.Errorf("of %q two are %q", alike, name)
			}
			taken[name] = true
		}
	}
}

func TestPathsOfOutputsAreSafeAndNeverCollide(t *testing.T) {
	t.Parallel()
	part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"..", ".", "", "a", "A", "a.png", "A.PNG", "con", strings.Repeat("ä", 300)}))
	rapid.Check(t, func(t *rapid.T) {
		var names framename.Names
		taken := map[string]bool{}
		for range rapid.IntRange(1, 8).Draw(t, "files") {
			raw := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "path"), rapid.SampledFrom([]string{"/", `\`}).Draw(t, "slash"))
			name := names.Take(raw)
			if !fs.ValidPath(name) || name == "." || len(name) > framename.MaxBytes || framename.Path(name) != name || strings.ContainsAny(name, "\\:*?\"<>|\x00\n") {
				t.Fatalf("%q is %q, then %q", raw, name, framename.Path(name))
			}
			low := strings.ToLower(name)
			for other := range taken {
				if low == other || strings.HasPrefix(low, other+"/") || strings.HasPrefix(other, low+"/") {
					t.Fatalf("%q collides with %q", name, other)
				}
			}
			taken[low] = true
		}
	})
}
