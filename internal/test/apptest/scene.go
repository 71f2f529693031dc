package apptest

import (
	"testing"

	"github.com/klauspost/compress/zstd"

	"svc.example/internal/ground/demo"
)

// PlainScene is the demo scene without compression, in which bytes can be
// changed in place.
func PlainScene(t *testing.T) []byte {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	plain, err := d.DecodeAll(demo.Scene(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
