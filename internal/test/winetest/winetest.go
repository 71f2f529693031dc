//go:build wine

package winetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/internal/test/script"
)

// scriptTime bounds a script: a Windows program that hangs must not hold up the others.
const scriptTime = 5 * time.Minute

// Windows is a Wine with the program in it.
type Windows struct {
	Tools  string // a folder for PATH, with the program under the name that Open was given
	Prefix string // the folder of this Windows
}

// Open finds the program and the Windows that make wine has made, and fails where one is
// missing. name is the program's in scripts.
func Open(t *testing.T, name string) *Windows {
	t.Helper()
	program, prefix := os.Getenv("SVC_WINDOWS"), os.Getenv("WINEPREFIX")
	if program == "" || prefix == "" {
		t.Fatal("this test needs SVC_WINDOWS, an svc.exe, and Wine: run make wine")
	}
	w := &Windows{Tools: t.TempDir(), Prefix: prefix}
	script.Write(t, filepath.Join(w.Tools, name), fmt.Sprintf("exec wine '%s' \"$@\"\n", program))
	return w
}

// Variables are what Wine needs of the environment.
func Variables() []string {
	return []string{"WINEPREFIX", "WINEDEBUG", "WINEDLLOVERRIDES", "TMPDIR", "LANG"}
}

// Setup prepares a script for the program, without any settings of an earlier one, and ends
// every program of this Windows when the script takes longer than scriptTime.
func (w *Windows) Setup(t *testing.T, e *testscript.Env) error {
	e.Setenv("PATH", w.Tools+string(os.PathListSeparator)+e.Getenv("PATH"))
	for _, name := range Variables() {
		e.Setenv(name, os.Getenv(name))
	}
	e.Setenv("TMPDIR", os.TempDir()) // where Wine looks for the Windows that runs already
	e.Setenv("LANG", "C.UTF-8")      // otherwise Wine reads only names in ASCII
	late := time.AfterFunc(scriptTime, func() {
		t.Errorf("%s takes longer than %s: its programs are ended", filepath.Base(e.WorkDir), scriptTime)
		kill := exec.Command("wineserver", "--kill") // of WINEPREFIX
		if err := kill.Run(); err != nil {
			t.Error(err)
		}
	})
	e.Defer(func() { late.Stop() })
	return w.emptySettings(e)
}

// emptySettings empties the folder where this Windows keeps profiles, which no variable
// moves, and shows it to the script as settings.
func (w *Windows) emptySettings(e *testscript.Env) error {
	users, err := filepath.Glob(filepath.Join(w.Prefix, "drive_c", "users", "*", "AppData", "Roaming"))
	if err != nil || len(users) == 0 {
		return fmt.Errorf("%s has no AppData: %w", w.Prefix, err)
	}
	for _, roaming := range users {
		if err := os.RemoveAll(filepath.Join(roaming, "svc")); err != nil {
			return err
		}
	}
	return os.Symlink(users[0], filepath.Join(e.WorkDir, "settings"))
}

// InOrder runs scripts one after the other: they share one Windows and its settings.
type InOrder struct{ *testing.T }

// Parallel does not let scripts run in parallel.
func (InOrder) Parallel() {}

// Run runs one script.
func (t InOrder) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(InOrder{t}) })
}

// Verbose is the flag of go test.
func (InOrder) Verbose() bool { return testing.Verbose() }
