package story

import (
	"testing"

	"svc.example/internal/test/packed"
)

// Revision is a file of package contentkey: "scene" as it was, "interface" with the same
// pictures, "moved" with other pictures in the frames 97 to 139, "material" in all. Only
// packages of stories find it.
func Revision(t *testing.T, name string) []byte {
	t.Helper()
	return packed.Read(t, "../../../render/contentkey/testdata/"+name+".blend")
}
