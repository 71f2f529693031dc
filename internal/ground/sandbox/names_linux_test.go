package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"svc.example/internal/ground/sandbox"
)

// TestNothingInsideNamesTheMachinesFolders: neither the program's own names nor anything of /proc
// that it can read.
func TestNothingInsideNamesTheMachinesFolders(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{})
	box.WithGPUs(machineWith(t, "dev/nvidiactl"))
	for _, gpu := range []bool{false, true} {
		wantNoNames(t, box, gpu)
	}
}

// machineWith is a root with some files.
func machineWith(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, file := range files {
		path := filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestDriversThatWereNotTracedReadAllOfProc: an unknown need must not cost a GPU.
func TestDriversThatWereNotTracedReadAllOfProc(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		has []string
		all bool
	}{
		{nil, true},
		{[]string{"dev/nvidiactl", "dev/dri/card0"}, false},
		{[]string{"dev/kfd", "dev/dri/card0"}, true},
		{[]string{"dev/nvidiactl", "dev/kfd"}, true},
		{[]string{"dev/nvidiactl", "sys/module/i915/srcversion"}, true},
		{[]string{"dev/nvidiactl", "dev/dxg"}, true},
	} {
		if all := slices.Contains(sandbox.GPUFiles(machineWith(t, c.has...)), "/proc"); all != c.all {
			t.Errorf("with %v, all of /proc: %v", c.has, all)
		}
	}
}

// wantNoNames has a program read all that it can.
func wantNoNames(t *testing.T, box *sandbox.Sandbox, gpu bool) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data-of-anna")
	in, out, root := filepath.Join(data, "in"), filepath.Join(data, "out"), filepath.Join(data, "root")
	for _, folder := range []string{in, out, root, filepath.Join(root, "home/anna")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = fmt.Fprintln(w, filepath.Base(data), filepath.Base(t.Name()), filepath.Dir(program), "--ro-bind")
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	c := sandbox.Command{
		Read: []string{in}, Write: []string{out}, Root: root, Dir: "/svc/out", Pass: []*os.File{r},
		Inside: map[string]string{in: "/svc/in", out: "/svc/out"}, GPU: gpu,
	}
	if _, said := run(t, box, c, "search"); said != "true" {
		t.Errorf("GPU %v: %s", gpu, said)
	}
}

func TestFoldersHaveTheirNamesInside(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{})
	in, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(in, "input"), []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct{ what, path, want string }{
		{"read", "/svc/in/input", "inside"},
		{"write", "/svc/out/mine", "written"},
		{"write", "/svc/in/mine", "denied|read-only"},
		{"write", "/svc/mine", "denied|read-only"},
		{"read", filepath.Join(in, "input"), "no such file"},
	} {
		c := sandbox.Command{Read: slices.Clip([]string{in}), Write: []string{out}, Inside: map[string]string{in: "/svc/in", out: "/svc/out"}}
		if _, said := run(t, box, c, try.what, try.path); !anyOf(said, try.want) {
			t.Errorf("%s %s: %q, want %s", try.what, try.path, said, try.want)
		}
	}
}
