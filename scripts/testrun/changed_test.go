package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// names are the import paths of packages.
func names(packages []pkg) (all []string) {
	for _, p := range packages {
		all = append(all, p.ImportPath)
	}
	return all
}

// The packages of a module: user's tests import helper, which imports ground.
func module() []pkg {
	tested := []string{"a_test.go"}
	return []pkg{
		{ImportPath: "m/ground", Dir: "/m/ground", TestGoFiles: tested},
		{ImportPath: "m/helper", Dir: "/m/helper", Imports: []string{"m/ground"}, Deps: []string{"m/ground"}},
		{ImportPath: "m/user", Dir: "/m/user", XTestImports: []string{"m/helper"}, XTestGoFiles: tested},
		{ImportPath: "m/alone", Dir: "/m/alone", TestGoFiles: tested},
	}
}

func TestWhatChangedAndWhatDependsOnItIsFound(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][2][]string{
		"ground/a.go":           {{"m/ground"}, {"m/user"}},
		"ground/testdata/x/y.z": {{"m/ground"}, {"m/user"}},
		"helper/a.go":           {nil, {"m/user"}},
		"alone/a_test.go":       {{"m/alone"}, nil},
		"README.md":             {nil, nil},
		"go.sum":                {{"m/ground", "m/user", "m/alone"}, nil},
	} {
		changed, dependent := affected(module(), filepath.FromSlash("/m"), []string{file})
		if !slices.Equal(names(changed), want[0]) || !slices.Equal(names(dependent), want[1]) {
			t.Errorf("%s: %v and %v, want %v", file, names(changed), names(dependent), want)
		}
	}
}

func TestADependentPackageRunsOnlyWhileThereIsRoom(t *testing.T) {
	t.Parallel()
	changed := []pkg{{ImportPath: "changed"}}
	dependent := []pkg{{ImportPath: "slow"}, {ImportPath: "unknown"}, {ImportPath: "fast"}}
	known := seconds{"changed": 10, "slow": 50, "fast": 1}
	for room, want := range map[float64]int{0: 1, 13: 1, 17: 2, 70: 3} {
		chosen, left := within(room, changed, dependent, known)
		if all := []string{"changed", "fast", "slow"}; !slices.Equal(names(chosen), all[:want]) {
			t.Errorf("in %v s: %v run, want %v", room, names(chosen), all[:want])
		}
		if len(chosen)+len(left) != 4 {
			t.Errorf("in %v s: %v run and %v are left of four", room, names(chosen), names(left))
		}
	}
}

func TestTheSlowestPackagesAreNamedAndRemembered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seconds")
	known := readSeconds(path)
	if err := known.write(path, seconds{"a": 1, "b": 3, "c": 2}); err != nil {
		t.Fatal(err)
	}
	if err := readSeconds(path).write(path, seconds{"a": 5}); err != nil {
		t.Fatal(err)
	}
	if got := readSeconds(path).slowest(2); !slices.Equal(got, []string{"a 5.0s", "b 3.0s"}) {
		t.Errorf("the slowest are %q", got)
	}
}
