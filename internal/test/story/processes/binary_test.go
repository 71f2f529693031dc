package processes_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// serveProcess is `svc serve` as a process.
type serveProcess struct {
	cmd     *exec.Cmd
	address string
	lines   chan string // of its standard output, after the address; closed at its end
}

// serveBinary starts svc serve on a data folder, with a guarded log, and waits for its
// address.
func serveBinary(t testing.TB, binary, data string, environment []string, arguments ...string) (*serveProcess, error) {
	arguments = append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, arguments...)
	s := &serveProcess{cmd: exec.Command(binary, arguments...), lines: make(chan string, 1000)}
	s.cmd.Env, s.cmd.Stderr = environment, apptest.LogWriter(t, t.Output())
	s.cmd.SysProcAttr = story.DiesWithTheTest()
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.lines <- lines.Text()
		}
	}()
	if line, ok := s.await("svc listens on "); ok {
		s.address = strings.TrimPrefix(line, "svc listens on ")
		return s, nil
	}
	_ = s.cmd.Process.Kill()
	return nil, errors.Join(errors.New("svc serve printed no address"), s.cmd.Wait())
}

// await reads lines up to one that holds a text; ok is false when the service
// ends before, or says nothing for long.
func (s *serveProcess) await(text string) (line string, ok bool) {
	late := time.After(await.Patience)
	for {
		select {
		case line, open := <-s.lines:
			if !open || strings.Contains(line, text) {
				return line, open
			}
		case <-late:
			return "", false
		}
	}
}

// stop ends the service as an operator does, and returns how it ended.
func (s *serveProcess) stop() error {
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	for range s.lines { // to its end, which Wait would cut off
	}
	return errors.Join(err, s.cmd.Wait())
}

func TestAServiceThatNobodyHasUsedSaysWhatToDoNext(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, err := serveBinary(t, apptest.Binary(t), data, os.Environ(), "--worker", "none")
	if err != nil {
		t.Fatal(err)
	}
	for _, next := range []string{
		"svc admin workspace create --email you@example.com --credit-cents 500 --data " + data,
		"svc render scene.blend --server " + s.address + " --key svc_agent_",
		"svc admin sign-in-link --email you@example.com --public-url " + s.address,
	} {
		if _, ok := s.await(next); !ok {
			t.Errorf("it does not say %q", next)
		}
	}
	story.Get(t, http.MethodGet, s.address+"/v1/health", nil).Want(t, http.StatusOK, `"ok":true`)
	if err := s.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestSystemdLearnsThatTheServiceServes plays the systemd of a unit of Type=notify.
func TestSystemdLearnsThatTheServiceServes(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "svc") // a socket's path may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = systemd.Close() }()
	told := make(chan string, 1)
	go func() {
		text := make([]byte, 100)
		n, _ := systemd.Read(text)
		told <- string(text[:n])
	}()
	environment := append(os.Environ(), "NOTIFY_SOCKET="+systemd.LocalAddr().String())
	s, err := serveBinary(t, apptest.Binary(t), t.TempDir(), environment, "--worker", "none")
	if err != nil {
		t.Fatal(err)
	}
	if got := await.Next(t, told, "word that it serves"); got != "READY=1" {
		t.Errorf("systemd got %q", got)
	}
	story.Get(t, http.MethodGet, s.address+"/readyz", nil).Want(t, http.StatusOK, "")
	if err := s.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestTheCommandLineTellsTheWholeStory runs the scripts of testdata over the
// built binary and a real Blender.
func TestTheCommandLineTellsTheWholeStory(t *testing.T) {
	t.Parallel()
	svc, blenderPath := apptest.Binary(t), story.RealBlender(t)
	scenes, err := filepath.Abs("../../../../scripts/scenes")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(svc)+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("SVC", svc)
			env.Setenv("SCENES", scenes)
			env.Setenv("SVC_BLENDER", blenderPath)
			env.Setenv("SVC_DEVICE", "cpu")
			env.Setenv("SVC_ALLOW_BLENDER_VERSION", "true")
			scene, err := story.QuickScene()
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, demo.Filename), scene, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": scriptServe(t), "member": scriptMember, "exitcode": scriptExitCode,
		},
	})
}

// scriptServe is `serve DATA [flags]`: it starts the service, which ends with the
// script, and sets SVC_SERVER. What is left is audited, and the log is searched for
// its secrets.
func scriptServe(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		environment := append(os.Environ(), "SVC_BLENDER="+ts.Getenv("SVC_BLENDER"), "SVC_DEVICE="+ts.Getenv("SVC_DEVICE"), "SVC_ALLOW_BLENDER_VERSION=true")
		data := ts.MkAbs(args[0])
		s, err := serveBinary(t, ts.Getenv("SVC"), data, environment, args[1:]...)
		ts.Check(err)
		ts.Setenv("SVC_SERVER", s.address)
		ts.Defer(func() {
			ts.Check(s.stop())
			left, err := app.Open(context.Background(), app.Config{Data: data, Log: story.LogOf(t)})
			ts.Check(err)
			apptest.Audit(t, left)
			ts.Check(left.Close())
		})
	}
}

// scriptMember is `member NAME VARIABLE`: it puts a member of the JSON object on
// standard output into a variable.
func scriptMember(ts *testscript.TestScript, _ bool, args []string) {
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &object))
	value, ok := object[args[0]].(string)
	if !ok {
		ts.Fatalf("the output has no text %q", args[0])
	}
	ts.Setenv(args[1], value)
}

// scriptExitCode is `exitcode N COMMAND…`.
func scriptExitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%v ended with %s, want %s", args[1:], got, args[0])
	}
}
