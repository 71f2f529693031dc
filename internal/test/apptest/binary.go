package apptest

import (
	"sync"
	"testing"

	"svc.example/internal/test/programs"
)

// Binary returns the path of the product's binary, svc, built from the sources as they are.
func Binary(t testing.TB) (path string) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// binary looks at the sources once in each process.
var binary = sync.OnceValues(func() (string, error) { return programs.Build(programs.Svc) })
