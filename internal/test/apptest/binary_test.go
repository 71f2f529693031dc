package apptest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"svc.example/internal/test/apptest"
)

func TestTheBinaryIsBuiltOnceAndRuns(t *testing.T) {
	t.Parallel()
	path := apptest.Binary(t)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(path, "--version").CombinedOutput(); err != nil || !strings.Contains(string(said), "svc") {
		t.Errorf("svc --version says %q, %v", said, err)
	}
	again, err := os.Stat(apptest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, again) {
		t.Error("a second call built another binary")
	}
}
