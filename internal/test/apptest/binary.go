package apptest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"svc.example/internal/ground/osfile"
)

// Binary returns the path of the product's binary, svc, built from the sources as
// they are. SVC_TEST_BINARY names one that is built already. Otherwise it is built
// once for all test processes of a run, and not again before the sources change.
func Binary(t testing.TB) (path string) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// binary builds once in each process: even when nothing has changed, go build takes
// a second to find that out.
var binary = sync.OnceValues(func() (string, error) {
	if built := os.Getenv("SVC_TEST_BINARY"); built != "" {
		return filepath.Abs(built)
	}
	folder, err := moduleFolder()
	if err != nil {
		return "", err
	}
	return build(folder)
})

// build builds into a folder of the user's cache that belongs to the checkout. The
// lock lets one process build while the others wait, and the kernel releases it
// when its holder dies.
func build(module string) (path string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "svc-test", module)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := osfile.Lock(lock); err != nil {
		return "", err
	}
	path = filepath.Join(folder, "svc")
	command := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./cmd/svc")
	command.Dir = module
	// What is built beside its place is renamed into it: a process that runs the old
	// binary keeps it.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOTMPDIR="+folder)
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build svc: %w\n%s", err, said)
	}
	return path, nil
}

// moduleFolder finds the root of the sources: go test runs a test in its package's
// folder.
func moduleFolder() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		up := filepath.Dir(folder)
		if up == folder {
			return "", errors.New("no go.mod above the test's folder")
		}
		folder = up
	}
}
