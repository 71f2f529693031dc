//go:build wine

package story_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
)

// TestTheWindowsProgramTellsTheStory runs the scripts of testdata/windows: svc.exe is the
// Windows program under Wine, svc the one of this machine, which serves and administers.
// make wine builds the first and names it in SVC_WINDOWS.
func TestTheWindowsProgramTellsTheStory(t *testing.T) {
	t.Parallel()
	svc, blenderPath := apptest.Binary(t), realBlender(t)
	windows, prefix := os.Getenv("SVC_WINDOWS"), os.Getenv("WINEPREFIX")
	if windows == "" || prefix == "" {
		t.Fatal("this test needs SVC_WINDOWS, an svc.exe, and Wine: run make wine")
	}
	tools := t.TempDir()
	wrapper := fmt.Sprintf("#!/bin/sh\nexec wine '%s' \"$@\"\n", windows)
	if err := os.WriteFile(filepath.Join(tools, "svc.exe"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/windows",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", strings.Join([]string{tools, filepath.Dir(svc), env.Getenv("PATH")}, string(os.PathListSeparator)))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("WINEPREFIX", prefix)
			env.Setenv("WINEDEBUG", "-all")
			env.Setenv("LANG", "C.UTF-8") // else Wine reads no name but those of ASCII
			env.Setenv("SVC", svc)
			env.Setenv("SVC_BLENDER", blenderPath)
			env.Setenv("SVC_DEVICE", "cpu")
			env.Setenv("SVC_ALLOW_BLENDER_VERSION", "true")
			// The folder of the script, in Windows' words.
			env.Setenv("HERE", "Z:"+strings.ReplaceAll(env.WorkDir, "/", `\`))
			scene, err := quickScene()
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, demo.Filename), scene, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": scriptServe, "member": scriptMember, "exitcode": scriptExitCode,
		},
	})
}
