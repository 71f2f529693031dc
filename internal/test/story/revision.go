package story

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Revision is a file of package contentkey: "scene" as it was, "interface" with the same
// pictures, "moved" with other pictures in the frames 97 to 139, "material" in all.
func Revision(t *testing.T, name string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("../../../render/contentkey/testdata", name+".blend")) // from a package of stories
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	plain, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
