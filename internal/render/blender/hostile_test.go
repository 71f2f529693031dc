package blender_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
)

// enemy is the folder of files that mean harm, and what they aim at.
type enemy struct {
	t      *testing.T
	files  string
	target string // a folder of ours that they try to reach
	calls  atomic.Int64
}

// newEnemy makes the files, each of which knows this test's own target.
func newEnemy(t *testing.T) *enemy {
	t.Helper()
	e := &enemy{t: t, files: t.TempDir(), target: t.TempDir()}
	if err := os.WriteFile(filepath.Join(e.target, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			e.calls.Add(1)
			_ = conn.Close()
		}
	}()
	host, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(find(t), "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3",
		"--python", "../../../scripts/scenes/hostile.py", "--", e.files, e.target, host, port).CombinedOutput()
	if err != nil {
		t.Fatalf("make the hostile files: %v\n%s", err, said)
	}
	// Making them is no attack: what Blender did then is forgotten.
	e.calls.Store(0)
	return e
}

func (e *enemy) file(name string) string { return filepath.Join(e.files, name+".blend") }

// harmless fails the test when anything was reached.
func (e *enemy) harmless() {
	e.t.Helper()
	left, err := os.ReadDir(e.target)
	if err != nil || len(left) != 1 {
		e.t.Errorf("the target holds %v, %v", left, err)
	}
	for _, place := range []string{"/", "/usr", e.files} {
		if found, err := filepath.Glob(filepath.Join(place, "hostile*")); err != nil || len(found) > 0 {
			e.t.Errorf("written: %v, %v", found, err)
		}
	}
	if n := e.calls.Load(); n > 0 {
		e.t.Errorf("the listener was called %d times", n)
	}
}

// tight is a sandbox whose limits a test meets soon.
func tight(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	s, err := limited(sandbox.Limits{Memory: 768 << 20, FileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHostileFileHarmsNothing opens files that mean harm. Whatever happens to
// one, nothing outside is touched, and the next job renders.
func TestHostileFileHarmsNothing(t *testing.T) {
	t.Parallel()
	e := newEnemy(t)
	t.Run("files", func(t *testing.T) { // returns when all of them are through
		t.Run("whose code is never run", e.withoutEffect)
		t.Run("that are too much", e.tooMuch)
		t.Run("that would take hours first", e.tooLarge)
		t.Run("whose frames have no end", e.withoutEnd)
		t.Run("whose textures are no files", e.withoutFiles)
		t.Run("whose library is a pipe", e.waits)
		t.Run("whose code runs", e.takesOver)
		t.Run("whose code the driver lets in", e.slipsIn)
	})
	e.harmless()
	p, _ := open(t, "plain", blender.Options{})
	render(t, p, 1)
}

func (e *enemy) withoutEffect(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"register_script", "python_driver", "endless_driver", "driver_loop", "file_output", "freestyle", "freestyle_layer", "freestyle_keyed", "freestyle_line_set", "freestyle_layer_name", "text_nodes", "osl_nodes"} {
		p := start(t, blender.Options{Sandbox: tight(t)})
		opened, err := p.Open(t.Context(), blender.SingleFile(e.file(name)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f := render(t, p, 1)
		if picture(t, f.Path).Width != 64 || strings.Contains(f.Log, "hostile: ") {
			t.Errorf("%s: its code ran:\n%s", name, f.Log)
		}
		if name == "file_output" && !slices.Contains(opened.Switched, "file_output_muted") {
			t.Errorf("%s: switched %v", name, opened.Switched)
		}
		if strings.HasPrefix(name, "freestyle") && name != "freestyle_line_set" && !slices.Contains(opened.Switched, "style_modules_off") {
			t.Errorf("%s: switched %v", name, opened.Switched)
		}
	}
}

// tooMuch is about files that would take the machine.
func (e *enemy) tooMuch(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ code, word string }{
		"subdivision": {blender.OutOfMemory, "memory"},
		"large_file":  {blender.Crashed, "1 MiB"},
	} {
		p := start(t, blender.Options{Sandbox: tight(t)})
		if _, err := p.Open(t.Context(), blender.SingleFile(e.file(name))); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, err := p.Render(t.Context(), 1, nil)
		var failed *blender.Error
		if !errors.As(err, &failed) || failed.Code != want.code || !strings.Contains(failed.Message, want.word) {
			t.Errorf("%s: %v, want %s with %q in it", name, err, want.code, want.word)
		}
	}
}

// tooLarge is about a picture of 4 gigapixels, under the limits that a worker has by
// default. On two cores Cycles would render its thousand tiles for more than an
// hour before it found that they do not fit.
func (e *enemy) tooLarge(t *testing.T) {
	t.Parallel()
	s, err := limited(sandbox.Limits{Memory: min(sandbox.DefaultLimits().Memory, 32<<30)}) // of a large machine less than there is
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, blender.Options{Sandbox: s})
	_, err = p.Open(t.Context(), blender.SingleFile(e.file("huge_output")))
	var failed *blender.Error
	if !errors.As(err, &failed) || failed.Code != blender.OutOfMemory || failed.Final || !strings.Contains(failed.Message, "65536 x 65536 pixels takes 64 GiB") {
		t.Errorf("a picture of 65536 x 65536 pixels: %v", err)
	}
	next, _ := open(t, "plain", blender.Options{Sandbox: s})
	render(t, next, 1)
}

// withoutEnd is about frames that never end, and report progress: their time is up
// before they are done, in little memory and with a short log.
func (e *enemy) withoutEnd(t *testing.T) {
	t.Parallel()
	for name, frame := range map[string]int{"keyed_samples": 2, "driven_samples": 2, "view_layers": 1} {
		p := start(t, blender.Options{Sandbox: tight(t)})
		if _, err := p.Open(t.Context(), blender.SingleFile(e.file(name))); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := p.Render(ctx, frame, func(float64) {})
		cancel()
		var failed *blender.Error
		if !errors.As(err, &failed) || failed.Code != blender.FrameTimeExceeded || len(failed.Log) > blender.FrameLogBytes {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withoutFiles is about textures in places where to read never ends. They look like any
// texture that is missing.
func (e *enemy) withoutFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zero", "random", "stdin", "pipe", "memory", "kcore", "folder"} {
		p := start(t, blender.Options{Sandbox: tight(t)})
		opened, err := p.Open(t.Context(), blender.SingleFile(e.file("texture_"+name)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if dropped := slices.Contains(opened.Switched, "special_files_dropped"); dropped == (name == "folder") {
			t.Errorf("%s: switched %v", name, opened.Switched)
		}
		if f := render(t, p, 1); picture(t, f.Path).Width != 64 || len(f.Log) > blender.FrameLogBytes {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// waits is about a file that Blender cannot open to its end: the watchdog ends it.
func (e *enemy) waits(t *testing.T) {
	t.Parallel()
	p := start(t, blender.Options{Sandbox: tight(t)})
	p.SetPatience(blender.Patience{Asleep: 2 * time.Second})
	_, err := p.Open(t.Context(), blender.SingleFile(e.file("library_pipe")))
	failure(t, err, blender.NoProgress)
}

// slipsIn takes away what closes Freestyle: as if it were an unknown way in. The code is
// not compiled then.
func (e *enemy) slipsIn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"freestyle", "freestyle_line_set"} {
		p := start(t, blender.Options{Sandbox: tight(t)}.Attacked("drop_style_modules = lambda switched: None\n"))
		if _, err := p.Open(t.Context(), blender.SingleFile(e.file(name))); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f, err := p.Render(t.Context(), 1, nil)
		log := f.Log
		if failed, ok := errors.AsType[*blender.Error](err); ok {
			log = failed.Log
		}
		if strings.Contains(log, "hostile: ") || !strings.Contains(log, "Python of the file was refused (compile)") {
			t.Errorf("%s: its code was not refused: %v\n%s", name, err, log)
		}
	}
}

// takesOver takes away our first wall: Blender is told to run the file's scripts,
// as if a fault of it had let them.
func (e *enemy) takesOver(t *testing.T) {
	t.Parallel()
	in, home := t.TempDir(), t.TempDir()
	content, err := os.ReadFile(e.file("register_script"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(in, "scene.blend")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path, err := filepath.EvalSymlinks(find(t))
	if err != nil {
		t.Fatal(err)
	}
	p, err := box(t).Start(sandbox.Command{
		Path: path, Args: []string{"--background", "--factory-startup", "--enable-autoexec", "-noaudio", file},
		Env: []string{"HOME=" + home, "TMPDIR=" + home, "PATH=/usr/bin:/bin"}, Dir: home,
		Read: []string{filepath.Dir(path), in}, Write: []string{home}, Output: w,
	})
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	_, err = said.ReadFrom(r)
	ended := p.Wait()
	_, line, ran := strings.Cut(said.String(), "hostile: ")
	if err != nil || !ran {
		t.Fatalf("the script did not run (%s, %v):\n%s", ended, err, said.String())
	}
	line, _, _ = strings.Cut(line, "\n")
	var deeds map[string]string
	if err := json.Unmarshal([]byte(line), &deeds); err != nil || len(deeds) < 12 {
		t.Fatalf("%d deeds, %v: %s", len(deeds), err, line)
	}
	for deed, how := range deeds {
		if !strings.HasPrefix(how, "refused: ") {
			t.Errorf("%s: %s", deed, how)
		}
	}
}
