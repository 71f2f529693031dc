//go:build wine

package processes_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/test/winetest"
)

// TestTheWindowsProgramTellsTheStory runs the scripts of testdata/windows: svc.exe is the
// Windows program under Wine, svc the one of this machine, which serves and administers.
// make wine builds the first and names it in SVC_WINDOWS.
func TestTheWindowsProgramTellsTheStory(t *testing.T) {
	svc, blenderPath, windows := apptest.Binary(t), story.RealBlender(t), winetest.Open(t, "svc.exe")
	testscript.RunT(winetest.InOrder{T: t}, testscript.Params{
		Dir: "testdata/windows",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(svc)+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("HOME", env.WorkDir)
			if err := windows.Setup(t, env); err != nil {
				return err
			}
			env.Setenv("SVC", svc)
			env.Setenv("SVC_BLENDER", blenderPath)
			env.Setenv("SVC_DEVICE", "cpu")
			env.Setenv("SVC_ALLOW_BLENDER_VERSION", "true")
			// The folder of the script, in Windows' words.
			env.Setenv("HERE", "Z:"+strings.ReplaceAll(env.WorkDir, "/", `\`))
			scene, err := story.QuickScene()
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, demo.Filename), scene, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": scriptServe(t), "member": scriptMember, "exitcode": scriptExitCode, "cut": scriptCut,
		},
	})
}

// scriptCut is `cut SIGNAL COMMAND…`: it starts svc render, sends the signal when it says
// that the job is started, and puts the job's id into JOB. What it printed is saved in
// the file said.
func scriptCut(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]os.Signal{"INT": os.Interrupt, "KILL": os.Kill}
	tools, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
	command := exec.Command(filepath.Join(tools, args[1]), args[2:]...)
	command.Dir = ts.MkAbs(".")
	for _, name := range append(winetest.Variables(), "PATH", "HOME", "SVC_SERVER", "SVC_KEY") {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	output, err := command.StdoutPipe()
	ts.Check(err)
	command.Stderr = command.Stdout
	ts.Check(command.Start())
	var said strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if job, ok := strings.CutPrefix(lines.Text(), "started "); ok {
			ts.Setenv("JOB", job)
			ts.Check(command.Process.Signal(signals[args[0]]))
		}
	}
	if err := command.Wait(); err == nil {
		ts.Fatalf("it ended well:\n%s", said.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("said"), []byte(said.String()), 0o600))
}
