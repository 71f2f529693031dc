package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// pkg is a package as go list describes it.
type pkg struct {
	ImportPath   string
	Dir          string
	GoFiles      []string // without the test files
	Imports      []string
	Deps         []string // of the code without tests
	TestGoFiles  []string
	XTestGoFiles []string
	TestImports  []string
	XTestImports []string
}

// list returns the packages that match the patterns, in the order of the patterns, each
// once.
func list(ctx context.Context, patterns []string) (found []pkg, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports,Deps,TestGoFiles,XTestGoFiles,TestImports,XTestImports"}, patterns...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		found = append(found, p)
	}
}

// tested reports whether the package has tests.
func (p pkg) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// oneAtATime is the comment of a package whose tests run nothing at the same time and are
// many times slower under the race detector. Only `make test-long` runs them with it.
const oneAtATime = "\n//testrun:one-at-a-time\n"

// raced reports whether the package's tests run with the race detector: all do, since
// net/http alone runs handlers in parallel, except the stories, packages with the comment
// oneAtATime, and what else waits for a real Blender or browser. Among those, only the
// tests of code that starts goroutines do.
func (p pkg) raced() (bool, error) {
	if concurrent, err := p.concurrent(); concurrent || err != nil {
		return concurrent, err
	}
	for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return false, err
		}
		for _, waits := range []string{oneAtATime, `os.Getenv("SVC_BLENDER")`, `"svc.example/internal/test/story"`, `"github.com/chromedp/chromedp"`} {
			if bytes.Contains(text, []byte(waits)) {
				return false, nil
			}
		}
	}
	return true, nil
}

// concurrent reports whether the package's own code, without its tests, starts
// goroutines or guards memory that goroutines share.
func (p pkg) concurrent() (bool, error) {
	for _, path := range []string{"sync", "sync/atomic", "golang.org/x/sync/errgroup"} {
		if slices.Contains(p.Imports, path) {
			return true, nil
		}
	}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		found := false
		ast.Inspect(file, func(n ast.Node) bool {
			_, is := n.(*ast.GoStmt)
			found = found || is
			return !found
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}
