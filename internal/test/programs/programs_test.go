package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// written writes the files of a module of its own.
func written(t *testing.T, module string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAProgramIsBuiltOnceForEachContentOfItsSources(t *testing.T) {
	t.Parallel()
	module, folder := t.TempDir(), t.TempDir()
	p := Program{"said", ".", ".", []string{"go.mod", "."}}
	says := func(word string) map[string]string {
		return map[string]string{"main.go": "package main\n\nfunc main() { println(\"" + word + "\") }\n"}
	}
	written(t, module, map[string]string{"go.mod": "module said\n\ngo 1.26\n"})
	// run runs the program and says whether it was built for that.
	run := func(want string) (built bool) {
		t.Helper()
		before, _ := os.Stat(filepath.Join(folder, "said"))
		path, err := p.build(module, folder)
		if err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(path).CombinedOutput(); err != nil || strings.TrimSpace(string(said)) != want {
			t.Errorf("it says %q, %v; want %q", said, err, want)
		}
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return before == nil || !os.SameFile(before, after)
	}
	written(t, module, says("one"))
	if !run("one") || run("one") {
		t.Error("the same sources are not built once")
	}
	written(t, module, map[string]string{"main_test.go": "package main\n", "testdata/a": "b"})
	if run("one") {
		t.Error("tests make it another program")
	}
	written(t, module, says("two"))
	if !run("two") {
		t.Error("other sources are not built")
	}
	written(t, module, map[string]string{"main.go": "package main\n\nfunc main() { wrong }\n"})
	if _, err := p.build(module, folder); err == nil || !strings.Contains(err.Error(), "undefined: wrong") {
		t.Errorf("what cannot be built: %v", err)
	}
	written(t, module, says("three"))
	run("three")
}
