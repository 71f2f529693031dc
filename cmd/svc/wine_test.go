//go:build wine

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/screen"
	"svc.example/internal/test/winetest"
)

// TestTheWindowsProgramRunsTheScripts runs the scripts for rendering and verifying with the
// Windows program as svc. Where Windows differs, they have the condition wine.
func TestTheWindowsProgramRunsTheScripts(t *testing.T) {
	windows := winetest.Open(t, "svc")
	for _, scripts := range []testscript.Params{verifyScripts(), callerScripts(), accountScripts(t)} {
		t.Run(filepath.Base(scripts.Dir), func(t *testing.T) {
			scripts.Condition = func(condition string) (bool, error) {
				_, err := native(condition)
				return err == nil, err
			}
			native := scripts.Setup
			scripts.Setup = func(e *testscript.Env) error {
				if native != nil {
					if err := native(e); err != nil {
						return err
					}
				}
				return windows.Setup(t, e)
			}
			testscript.RunT(winetest.InOrder{T: t}, scripts)
		})
	}
}

// TestTheWindowsProgramUsesAConsole types at the console that Wine makes of a terminal:
// Ctrl-C at the price spends nothing, yes starts the job, Ctrl-C then leaves it running, and
// the list of jobs is drawn over the one before.
func TestTheWindowsProgramUsesAConsole(t *testing.T) {
	windows := winetest.Open(t, "svc")
	started, url := apptest.Start(t, app.Config{})
	key := (&apptest.World{App: started, URL: url}).Workspace(t, 100).Agent.Secret
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "scene.blend"), demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (*exec.Cmd, *screen.Screen) {
		command := exec.Command(filepath.Join(windows.Tools, "svc"), args...)
		command.Dir = folder
		command.Env = append(os.Environ(), "SVC_SERVER="+url, "SVC_KEY="+key, "LANG=C.UTF-8", "TERM=xterm-256color")
		return command, screen.Start(t, command, 120)
	}
	ends := func(command *exec.Cmd, s *screen.Screen, code int, says string) string {
		t.Helper()
		err := command.Wait()
		said := s.Text()
		if command.ProcessState.ExitCode() != code || !strings.Contains(said, says) {
			t.Errorf("%v, want exit code %d and %q:\n%q", err, code, says, said)
		}
		return said
	}

	command, s := run("render", "scene.blend", "--frames", "1-2")
	s.Type(t, "[y/N/look]", "\x03")
	ends(command, s, 130, "nothing was spent")

	command, s = run("render", "scene.blend", "--frames", "1-2")
	s.Type(t, "[y/N/look]", "y\r")
	s.Type(t, "started JOB-", "\x03")
	ends(command, s, 130, "the service continues rendering")

	command, s = run("jobs", "--watch")
	s.Await(t, "scene.blend")
	drawn := strings.Count(s.Text(), "scene.blend")
	await.Until(t, "the list once more", func() bool { return strings.Count(s.Text(), "scene.blend") > drawn })
	s.Type(t, "scene.blend", "\x03")
	if said := ends(command, s, 0, "\x1b[2A\x1b[J"); strings.Count(said, "JOB-") < 2 {
		t.Errorf("%q", said)
	}
}
