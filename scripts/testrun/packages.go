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
	TestGoFiles  []string
	XTestGoFiles []string
}

// list returns the packages that match the patterns and have tests, in the order of the
// patterns, each once.
func list(ctx context.Context, patterns []string) (found []pkg, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports,TestGoFiles,XTestGoFiles"}, patterns...)...)
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
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			found = append(found, p)
		}
	}
}

// concurrent reports whether the package's own code, without its tests, starts
// goroutines or guards memory that goroutines share. Only such a package can cause a
// data race.
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
