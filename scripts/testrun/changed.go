package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Two cores have this many seconds in two minutes, less what finding the packages takes.
const room = 200.0

// linking is what it takes to make the program of a package's tests, about, in seconds.
const linking = 3.0

// quick chooses what a person waits for: the packages that differ from the main branch,
// and those that depend on them, the fastest first, while there is room. It prints which
// of them are left to the whole run.
func quick(ctx context.Context, out io.Writer, all []pkg, known seconds) (chosen []pkg, err error) {
	root, files, err := changedFiles(ctx)
	if err != nil {
		return nil, err
	}
	changed, dependent := affected(all, root, files)
	chosen, left := within(room, changed, dependent, known)
	fmt.Fprintf(out, "%d packages changed; of %d that depend on them, %d run\n", len(changed), len(dependent), len(chosen)-len(changed))
	for _, p := range left {
		fmt.Fprintf(out, "left to the whole run: %s\n", p.ImportPath)
	}
	return chosen, nil
}

// changedFiles are the files, by their paths from the root, that differ from where the
// main branch was left, and those that git does not know yet.
func changedFiles(ctx context.Context) (root string, files []string, err error) {
	git := func(arguments ...string) []string {
		text, failed := exec.CommandContext(ctx, "git", arguments...).Output()
		var exit *exec.ExitError
		if errors.As(failed, &exit) {
			failed = fmt.Errorf("git %s: %w: %s", arguments[0], failed, exit.Stderr)
		}
		err = errors.Join(err, failed)
		return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == 0 })
	}
	base := "HEAD"
	if text, failed := exec.CommandContext(ctx, "git", "merge-base", "origin/main", "HEAD").Output(); failed == nil { // a clone of its own has no origin
		base = strings.TrimSpace(string(text))
	}
	top := git("rev-parse", "--show-toplevel")
	if err != nil {
		return "", nil, err
	}
	files = slices.Concat(git("-C", top[0], "diff", "-z", "--name-only", "--no-renames", base), git("-C", top[0], "ls-files", "-z", "--others", "--exclude-standard"))
	return top[0], files, err
}

// affected finds the packages in whose folders or below files changed, and those whose
// code or tests import one of them. go.mod and go.sum change every package.
func affected(all []pkg, root string, files []string) (changed, dependent []pkg) {
	byFolder := map[string]string{}
	for _, p := range all {
		byFolder[p.Dir] = p.ImportPath
	}
	here := map[string]bool{}
	for _, file := range files {
		everything := file == "go.mod" || file == "go.sum"
		for folder := filepath.Dir(filepath.Join(root, file)); len(folder) >= len(root); folder = filepath.Dir(folder) {
			if name, ok := byFolder[folder]; ok {
				here[name] = true
				break
			}
		}
		for _, p := range all {
			here[p.ImportPath] = here[p.ImportPath] || everything
		}
	}
	deps := map[string][]string{}
	for _, p := range all {
		deps[p.ImportPath] = p.Deps
	}
	reaches := func(p pkg) bool {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if here[imported] || slices.ContainsFunc(deps[imported], func(d string) bool { return here[d] }) {
				return true
			}
		}
		return false
	}
	for _, p := range all {
		switch {
		case !p.tested():
		case here[p.ImportPath]:
			changed = append(changed, p)
		case reaches(p):
			dependent = append(dependent, p)
		}
	}
	return changed, dependent
}

// within takes all packages that changed, and of those that depend on them the fastest as
// long as there is room. A package that never ran is left out, because its time is
// unknown.
func within(room float64, changed, dependent []pkg, known seconds) (chosen, left []pkg) {
	cost := func(p pkg) float64 {
		if took, ok := known[p.ImportPath]; ok {
			return took + linking
		}
		return math.Inf(1)
	}
	for _, p := range changed {
		room -= min(cost(p), room)
	}
	chosen = slices.Clone(changed)
	for _, p := range slices.SortedStableFunc(slices.Values(dependent), func(a, b pkg) int { return cmp.Compare(cost(a), cost(b)) }) {
		if c := cost(p); len(left) == 0 && c <= room {
			room -= c
			chosen = append(chosen, p)
		} else {
			left = append(left, p)
		}
	}
	return chosen, left
}
