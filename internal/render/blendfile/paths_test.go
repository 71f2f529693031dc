package blendfile_test

import (
	"testing"

	"svc.example/internal/render/blendfile"
)

func TestPathsHaveOneForm(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		"":                            "",
		"//textures/wood.png":         "//textures/wood.png",
		`//textures\wood.png`:         "//textures/wood.png",
		`//..\shared\.\wood.png`:      "//../shared/wood.png",
		"//a/b/../c.png":              "//a/c.png",
		"/home//x/./y.png":            "/home/x/y.png",
		`C:\Users\x\y.png`:            "C:/Users/x/y.png",
		"C:/a/../b.png":               "C:/b.png",
		`\\server\share\dir\..\z.png`: `\\server/share/z.png`,
		"plain.png":                   "plain.png",
		"//skin.<UDIM>.png":           "//skin.<UDIM>.png",
	} {
		if got := blendfile.NormalisePath(stored); got != want {
			t.Errorf("%q becomes %q, want %q", stored, got, want)
		}
	}
}
