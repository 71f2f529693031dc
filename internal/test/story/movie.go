package story

import (
	"os"
	"testing"
)

// MovieScene is the demo's scene with a movie as its output. Only packages of stories find it.
func MovieScene(t *testing.T) []byte {
	t.Helper()
	scene, err := os.ReadFile("../testdata/movie.blend")
	if err != nil {
		t.Fatal(err)
	}
	return scene
}
