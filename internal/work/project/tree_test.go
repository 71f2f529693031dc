package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"svc.example/internal/ground/blob"
)

func TestATreeIsAFileSystemOfWhatTheManifestLists(t *testing.T) {
	t.Parallel()
	blobs, err := blob.OpenDisk(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	put := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		hash := hex.EncodeToString(sum[:])
		keys[hash] = "uploads/" + hash
		w, err := blobs.Create(t.Context(), keys[hash])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		return hash
	}
	one, two := put("one "), put("two")
	m := Manifest{Main: "shots/010/a.blend", Files: []File{
		{Path: "shots/010/a.blend", SizeBytes: 11, Parts: []string{one, one, two}},
		{Path: "shots/empty", SizeBytes: 0}, {Path: "tex/b.png", SizeBytes: 3, Parts: []string{two}},
	}}
	tree := NewTree(t.Context(), blobs, m, keys)
	if err := fstest.TestFS(tree, "shots/010/a.blend", "shots/empty", "tex/b.png"); err != nil {
		t.Error(err)
	}
	if got, err := fs.ReadFile(tree, "shots/010/a.blend"); !bytes.Equal(got, []byte("one one two")) || err != nil {
		t.Errorf("it reads %q, %v", got, err)
	}
	if _, err := fs.Stat(tree, "tex/B.png"); err == nil {
		t.Error("a name in other case is found")
	}
}
