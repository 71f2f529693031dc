package sdk_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/sdk"
)

func packageOf(t *testing.T, language string) sdk.Package {
	t.Helper()
	all, err := sdk.Packages()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p sdk.Package) bool { return p.For == language })
	if i < 0 {
		t.Fatalf("there is no package for %s", language)
	}
	return all[i]
}

func TestEachPackageCarriesTheLicence(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"python", "typescript"} {
		if got, err := os.ReadFile(filepath.Join(folder, "LICENSE")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s/LICENSE is not the file of the project: %v", folder, err)
		}
	}
}

func TestTheWheelIsTheOneThatPythonBuilds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	command := exec.CommandContext(t.Context(), "python3", "python/build.py", folder)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	p := packageOf(t, "Python")
	built, err := os.ReadFile(filepath.Join(folder, p.Name))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(built, p.Bytes) {
		t.Errorf("the wheel has %d bytes, Python's has %d, and they differ", len(p.Bytes), len(built))
	}
}

func TestTheTarballHasTheFilesThatNpmPacks(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "npm", "pack", "--dry-run", "--json", "--offline")
	command.Dir = "typescript"
	output, err := command.Output()
	if err != nil {
		t.Fatalf("npm: %v (scripts/install-tools node installs it)", err)
	}
	var packed []struct {
		Filename string
		Files    []struct {
			Path string
			Size int64
		}
	}
	if err := json.Unmarshal(output, &packed); err != nil || len(packed) != 1 {
		t.Fatalf("%v: %s", err, output)
	}
	want := map[string]int64{}
	for _, f := range packed[0].Files {
		want[f.Path] = f.Size
	}
	p := packageOf(t, "TypeScript")
	if p.Name != packed[0].Filename {
		t.Errorf("it is called %s, npm calls it %s", p.Name, packed[0].Filename)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(p.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unzipped)
	for {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(entry.Name, "package/")
		if size, ok := want[name]; !ok || size != entry.Size {
			t.Errorf("%s has %d bytes; npm packs it with %d", entry.Name, entry.Size, size)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("it lacks %v", want)
	}
}

// TestTheReferenceHasWhatThePackageExports reads the lists of exports. A constant of Python is
// a value, which the README says; Schemas are the types of the OpenAPI document.
func TestTheReferenceHasWhatThePackageExports(t *testing.T) {
	t.Parallel()
	for language, exports := range map[string]struct {
		index, list, name string
		least             int
	}{
		"Python":     {"python/svc_render/__init__.py", `(?s)__all__ = \[(.*)\]`, `"([A-Za-z]\w*[a-z]\w*)"`, 20},
		"TypeScript": {"typescript/lib/index.d.ts", `(?s)\*/(.*)`, `(?:\{|,)\s*(?:type )?(\w+)`, 40},
	} {
		reference, err := sdk.Reference(language)
		if err != nil {
			t.Fatal(err)
		}
		index, err := os.ReadFile(exports.index)
		if err != nil {
			t.Fatal(err)
		}
		list := regexp.MustCompile(exports.list).FindSubmatch(index)
		names := regexp.MustCompile(exports.name).FindAllSubmatch(list[1], -1)
		for _, name := range names {
			if heading := "\n## " + string(name[1]) + "\n"; string(name[1]) != "Schemas" && !strings.Contains(reference, heading) {
				t.Errorf("the reference of %s lacks %s", language, name[1])
			}
		}
		if len(names) < exports.least {
			t.Errorf("%s exports %d names: the list was not read", language, len(names))
		}
		for _, hidden := range []string{"def _job", "def _pages", "private ", "self._transport"} {
			if strings.Contains(reference, hidden) {
				t.Errorf("the reference of %s has %q", language, hidden)
			}
		}
	}
}

// TestTheTypeScriptSourcesImportNoCircle, not even of types: each file can be read without those
// that use it.
func TestTheTypeScriptSourcesImportNoCircle(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("typescript/src/*.ts")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	from := regexp.MustCompile(`(?m)^(?:import|export)\b[^;]*? from "\./(\w+)\.js";`)
	imports := map[string][]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".ts")
		for _, found := range from.FindAllStringSubmatch(string(source), -1) {
			imports[name] = append(imports[name], found[1])
		}
	}
	cleared := map[string]bool{}
	var walk func(name string, above []string)
	walk = func(name string, above []string) {
		if at := slices.Index(above, name); at >= 0 {
			t.Errorf("a circle of imports: %s", strings.Join(append(above[at:], name), " → "))
			return
		}
		if cleared[name] {
			return
		}
		for _, next := range imports[name] {
			walk(next, append(slices.Clone(above), name))
		}
		cleared[name] = true
	}
	for name := range imports {
		walk(name, nil)
	}
	if len(imports["client"]) < 5 {
		t.Errorf("the imports of client.ts are not found: %v", imports["client"])
	}
}
