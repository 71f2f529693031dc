// Package packed reads the files of testdata that are kept compressed with zstd. Start reading at
// Read.
package packed

import (
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Read returns what a compressed file contains.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
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
