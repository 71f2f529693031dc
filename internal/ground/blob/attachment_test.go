package blob_test

import (
	"mime"
	"testing"

	"svc.example/internal/ground/blob"
)

// TestADownloadKeepsItsName: old browsers read the name in ASCII, others the whole one, and
// no name ends the header early.
func TestADownloadKeepsItsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"frames.zip":        `attachment; filename="frames.zip"; filename*=UTF-8''frames.zip`,
		"Grüße 場景.zip":      `attachment; filename="Gr__e __.zip"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%E5%A0%B4%E6%99%AF.zip`,
		`a"; x="b%41\c.zip`: `attachment; filename="a_; x=_b_41_c.zip"; filename*=UTF-8''a%22%3B%20x%3D%22b%2541%5Cc.zip`,
	} {
		got := blob.Attachment(name)
		if got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
		if _, read, err := mime.ParseMediaType(got); err != nil || read["filename"] != name {
			t.Errorf("%q is read as %q, %v", name, read["filename"], err)
		}
	}
}
