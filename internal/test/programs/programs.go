// Package programs builds the programs of this repository that tests run as processes.
//
// What always holds: a program always matches the sources. It is built once for each content
// of them, by the first caller: testrun before the tests, or the first test of `go test
// ./package`. A test that asks reads the sources, so go test takes its result from the cache
// only while they stay the same.
//
// Start reading at Build.
package programs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/osfile"
)

// Program is what one main package is built to.
type Program struct {
	name    string
	module  string // its folder
	pkg     string
	sources []string // files and folders of the module that decide what it is
}

// product are the sources of svc and of the examples, with what is embedded.
var product = []string{"go.mod", "go.sum", "addons", "client", "clients", "cmd", "docs", "internal", "sdk"}

// The programs that tests run. To add one, add it here and to All.
var (
	// Svc is the product.
	Svc = Program{"svc", ".", "./cmd/svc", product}
	// GoClient tells the stories of the conformance suite by the Go SDK.
	GoClient = Program{"goclient", ".", "./clients/conformance/goclient", product}
	// CommandClient tells them by the commands of svc.
	CommandClient = Program{"commandclient", ".", "./clients/conformance/commandclient", product}
	// Pipeline is the Go example of a pipeline.
	Pipeline = Program{"pipeline", ".", "./clients/pipeline", product}
	// Witness is another project's witness.
	Witness = Program{"witness", "tools/witness", ".", []string{"."}}
)

// All are all programs.
func All() []Program { return []Program{Svc, GoClient, CommandClient, Pipeline, Witness} }

// Path returns where a program lies, and builds it where that is not done yet.
func Path(t testing.TB, p Program) (path string) {
	t.Helper()
	path, err := Build(p)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build builds a program unless it is built from the same sources. It lies in a folder of
// the user's cache that belongs to the checkout. The lock lets one process build while the
// others wait, and the kernel releases it when its holder dies.
func Build(p Program) (path string, err error) {
	root, err := moduleFolder()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return p.build(root, filepath.Join(cache, "svc-test", root))
}

func (p Program) build(root, folder string) (path string, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(folder, p.name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := osfile.Lock(lock); err != nil {
		return "", err
	}
	module := filepath.Join(root, p.module)
	content, err := p.content(module)
	if err != nil {
		return "", err
	}
	path, key := filepath.Join(folder, p.name), filepath.Join(folder, p.name+".content")
	if was, err := os.ReadFile(key); err == nil && string(was) == content {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	command := exec.Command("go", "build", "-buildvcs=false", "-o", path, p.pkg)
	command.Dir = module
	// The file is built next to its place and renamed into it: a process that runs the old
	// program keeps it.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOTMPDIR="+folder)
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", p.name, err, said)
	}
	return path, os.WriteFile(key, []byte(content), 0o600)
}

// content is the SHA-256 of all that decides what the program is.
func (p Program) content(module string) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s %s %q\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, os.Getenv("GOFLAGS"))
	for _, source := range p.sources {
		err := filepath.WalkDir(filepath.Join(module, source), func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && (slices.Contains([]string{"test", "testdata", "node_modules", "__pycache__", "screenshots"}, e.Name()) ||
				strings.HasPrefix(e.Name(), ".") && path != module):
				return filepath.SkipDir
			case !e.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(hash, "%s %x\n", path, sha256.Sum256(text))
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
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
