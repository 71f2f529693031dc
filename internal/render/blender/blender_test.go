package blender_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
)

// find is the Blender under test.
func find(t *testing.T) string {
	t.Helper()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("these tests drive a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	return path
}

// scenes makes the test scenes once a run; the folder is removed by TestMain.
var scenes = sync.OnceValues(func() (string, error) { return makeScenes("render_tests.py") })

// makeScenes lets a script make its scenes in a new folder.
func makeScenes(script string, names ...string) (string, error) {
	dir, err := os.MkdirTemp("", "blender-scenes-")
	if err != nil {
		return "", err
	}
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return dir, err
	}
	args := append([]string{"--background", "--factory-startup", "-noaudio", "--python-exit-code", "3",
		"--python", "../../../scripts/scenes/" + script, "--", dir}, names...)
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		return dir, errors.New(string(out))
	}
	return dir, nil
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:]))
	}
	code := m.Run()
	for _, made := range []func() (string, error){scenes, simulations, spread, dividing, writing} {
		if dir, _ := made(); dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// whole is the sandbox that every test's Blender runs in.
var whole = sync.OnceValues(func() (*sandbox.Sandbox, error) { return limited(sandbox.Limits{}) })

func box(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	s, err := whole()
	if err != nil {
		t.Fatalf("run scripts/install-tools sandbox: %v", err)
	}
	return s
}

func limited(l sandbox.Limits) (*sandbox.Sandbox, error) {
	self, err := sandbox.Self()
	if err != nil {
		return nil, err
	}
	return sandbox.Open(context.Background(), sandbox.Config{Limits: l, Self: self})
}

func scene(t *testing.T, name string) string {
	t.Helper()
	find(t)
	dir, err := scenes()
	if err != nil {
		t.Fatalf("make the test scenes: %v", err)
	}
	return filepath.Join(dir, name+".blend")
}

func start(t *testing.T, opts blender.Options) *blender.Process {
	t.Helper()
	opts.Path, opts.Temp, opts.Out = find(t), t.TempDir(), t.TempDir()
	if opts.Sandbox == nil {
		opts.Sandbox = box(t)
	}
	if opts.Device == "" {
		opts.Device = blender.CPU
	}
	p, err := blender.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left, _ := os.ReadDir(opts.Temp); len(left) > 0 {
			t.Errorf("the process left %v", left)
		}
	})
	return p
}

// open starts a process on a scene.
func open(t *testing.T, name string, opts blender.Options) (*blender.Process, blender.Opened) {
	t.Helper()
	p := start(t, opts)
	opened, err := p.Open(t.Context(), blender.SingleFile(scene(t, name)))
	if err != nil {
		t.Fatalf("open %s: %v", name, err)
	}
	return p, opened
}

func render(t *testing.T, p *blender.Process, frame int) blender.Frame {
	t.Helper()
	f, err := p.Render(t.Context(), frame, nil)
	if err != nil {
		t.Fatalf("render frame %d: %v", frame, err)
	}
	return f
}

func picture(t *testing.T, path string) pixels.Picture {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p, err := pixels.Read(file)
	if err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
	return p
}

// byHand renders frames as anyone would on a command line and returns the folder.
func byHand(t *testing.T, file string, frames string) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command(find(t), "--background", "--factory-startup", "-noaudio", file,
		"-o", filepath.Join(dir, "frame_"), "-f", frames).CombinedOutput()
	if err != nil {
		t.Fatalf("render by hand: %v\n%s", err, out)
	}
	return dir
}

func TestFramesAreThoseRenderedByHand(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"motion", "border", "two_scenes", "missing", "format_jpeg"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hand := byHand(t, scene(t, name), "2,3,12,25")
			p, _ := open(t, name, blender.Options{})
			for _, n := range []int{12, 2, 3, 25} { // in an order of our own, one past the scene's end
				f := render(t, p, n)
				ours, theirs := picture(t, f.Path), picture(t, filepath.Join(hand, filepath.Base(f.Path)))
				if ours != theirs {
					t.Errorf("frame %d: %+v, by hand %+v", n, ours, theirs)
				}
				if f.Width != ours.Width || f.Height != ours.Height {
					t.Errorf("frame %d: said %dx%d, is %dx%d", n, f.Width, f.Height, ours.Width, ours.Height)
				}
			}
		})
	}
}

func TestRelativeFoldersAreThoseOfTheCaller(t *testing.T) {
	file := scene(t, "plain")
	path := find(t)
	t.Chdir(t.TempDir())
	if err := os.Mkdir("work", 0o700); err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("work/here.blend", here, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := blender.Start(t.Context(), blender.Options{Path: path, Temp: "work", Out: "work", Device: blender.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Open(t.Context(), blender.SingleFile("work/here.blend")); err != nil {
		t.Fatal(err)
	}
	if f := render(t, p, 1); picture(t, "work/frame_0001.png").Width != 64 || !filepath.IsAbs(f.Path) {
		t.Errorf("the picture is %s", f.Path)
	}
}

func TestFilesAreNamedByTheirFrame(t *testing.T) {
	t.Parallel()
	p, opened := open(t, "plain", blender.Options{})
	if opened.Format != "PNG" || len(opened.Switched) != 0 {
		t.Errorf("opened %+v, want PNG with nothing switched", opened)
	}
	for n, want := range map[int]string{0: "frame_0000.png", 7: "frame_0007.png", 12345: "frame_12345.png"} {
		f := render(t, p, n)
		if filepath.Base(f.Path) != want || f.Number != n {
			t.Errorf("frame %d is %s (said %d), want %s", n, f.Path, f.Number, want)
		}
		if f.Device != "CPU" || f.DeviceName == "" || f.Seconds <= 0 {
			t.Errorf("frame %d: %+v, want the CPU's name and a time", n, f)
		}
	}
	if _, err := p.Render(t.Context(), -1, nil); err == nil {
		t.Error("frame -1 was rendered")
	}
}

func TestFramesFollowWithoutAGap(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "plain", blender.Options{})
	const most = 20 * time.Millisecond
	best := time.Hour
	for n, last := 1, (time.Time{}); n <= 6 || best > most && n <= 100; n++ { // the machine may be busy
		f := render(t, p, n)
		if !last.IsZero() {
			best = min(best, f.Started.Sub(last))
		}
		last = time.Now()
	}
	t.Logf("least gap between a frame's end and the next one's start: %s", best)
	if best > most {
		t.Errorf("the gap is %s, want under %s", best, most)
	}
}

func TestProgressRisesToTheWholeFrame(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "plain", blender.Options{})
	var seen []float64 // Blender's lines are read in order, by one goroutine
	var mu sync.Mutex
	f, err := p.Render(t.Context(), 1, func(done float64) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) == 0 || !slices.IsSorted(seen) || seen[len(seen)-1] > 1 {
		t.Errorf("progress %v, want rising shares", seen)
	}
	if !strings.Contains(f.Log, "frame_0001.png") {
		t.Errorf("the frame's log does not name its file:\n%s", f.Log)
	}
	if strings.Contains(f.Log, filepath.Dir(f.Path)) {
		t.Errorf("the frame's log names a folder of this machine:\n%s", f.Log)
	}
}

func TestSwitchesAreReported(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		denoise  blender.Denoise
		switched []string
		file     string
	}{
		"file_output":      {blender.Keep, []string{"file_output_muted"}, "frame_0001.png"},
		"movie":            {blender.Keep, []string{"movie_output_as_png"}, "frame_0001.png"},
		"stereo":           {blender.Keep, []string{"multiview_off"}, "frame_0001.png"},
		"strips":           {blender.Keep, []string{"file_output_muted"}, "frame_0001.png"},
		"denoise":          {blender.Off, []string{"denoise_off"}, "frame_0001.png"},
		"denoise_node":     {blender.Off, []string{"denoise_off"}, "frame_0001.png"},
		"denoise_no_layer": {blender.Keep, nil, "frame_0001.png"},
		"denoise_loose":    {blender.Keep, nil, "frame_0001.png"},
		"edit":             {blender.Keep, []string{"sequencer_off"}, "frame_0001.png"},
		"edit_of_effects":  {blender.Keep, []string{"sequencer_off"}, "frame_0001.png"},
		"two_scenes":       {blender.Off, nil, "frame_0001.png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, opened := open(t, name, blender.Options{Denoise: want.denoise})
			if !slices.Equal(opened.Switched, want.switched) {
				t.Errorf("switched %v, want %v", opened.Switched, want.switched)
			}
			if f := render(t, p, 1); filepath.Base(f.Path) != want.file || picture(t, f.Path).Width != 64 {
				t.Errorf("%+v, want a picture %s", f, want.file)
			}
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(filepath.Dir(scene(t, "plain")), "stray")); err == nil {
			t.Error("a File Output node wrote its files")
		}
	})
}

// The Cycles strips of an edit are rendered, whatever engine the edit has; other strips and
// a compositor show no picture of Cycles.
func TestScenesOfOtherEnginesAreRefusedOrLeftOut(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "edit", blender.Options{})
	shot, title := picture(t, render(t, p, 1).Path), picture(t, render(t, p, 2).Path)
	if shot.Defects.Blank == 1 || title.Defects.Blank != 1 {
		t.Errorf("blank is %v of the shot, %v of the title", shot.Defects.Blank, title.Defects.Blank)
	}
	for _, name := range []string{"eevee", "edit_of_titles", "composited_title"} {
		refused := start(t, blender.Options{})
		_, err := refused.Open(t.Context(), blender.SingleFile(scene(t, name)))
		failure(t, err, "blender_crashed")
	}
}

func TestScriptsOfTheFileDoNotRun(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "script", blender.Options{})
	render(t, p, 1)
	if _, err := os.Stat(filepath.Join(filepath.Dir(scene(t, "script")), "script-ran")); err == nil {
		t.Error("the file's script ran")
	}
}

// failure returns the *Error in err, which must be of the code.
func failure(t *testing.T, err error, code string) *blender.Error {
	t.Helper()
	var e *blender.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	return e
}

func TestDenoiserThatIsNotThereIsRefusedAtOpen(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"denoise", "denoise_node"} {
		p := start(t, blender.Options{})
		_, err := p.Open(t.Context(), blender.SingleFile(scene(t, name)))
		if p.Info().Denoiser {
			if err != nil {
				t.Errorf("%s: this Blender has a denoiser, yet: %v", name, err)
			}
			continue
		}
		if e := failure(t, err, blender.DenoiserUnavailable); !e.Final || !strings.Contains(e.Message, "--denoise off") {
			t.Errorf("%s: %+v, want a final failure that names --denoise off", name, e)
		}
	}
}

func TestAskedForAGPUItNeverRendersOnTheCPU(t *testing.T) {
	t.Parallel()
	p := start(t, blender.Options{Device: blender.GPU})
	_, err := p.Open(t.Context(), blender.SingleFile(scene(t, "plain")))
	if _, _, ok := p.Info().Choose(blender.GPU); !ok {
		failure(t, err, blender.GPUUnavailable)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if f := render(t, p, 1); f.Device != "GPU" {
		t.Errorf("rendered on %s", f.Device)
	}
}

func TestFileThatIsNoBlendIsAFinalFailure(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(scene(t, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"text": []byte("not a .blend"), "cut": whole[:len(whole)/2], "empty": nil} {
		path := filepath.Join(t.TempDir(), name+".blend")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := start(t, blender.Options{}).Open(t.Context(), blender.SingleFile(path))
		e := failure(t, err, blender.Crashed)
		if !e.Final || strings.Contains(e.Message+e.Log, filepath.Dir(path)) {
			t.Errorf("%s: %+v, want a final failure without folders", name, e)
		}
	}
	_, err = start(t, blender.Options{}).Open(t.Context(), blender.SingleFile(scene(t, "eevee")))
	if e := failure(t, err, blender.Crashed); !strings.Contains(e.Message, "EEVEE") {
		t.Errorf("eevee: %+v, want the engine named", e)
	}
}

func TestFrameThatBlenderRefusesIsAFailure(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "no_camera", blender.Options{})
	_, err := p.Render(t.Context(), 1, nil)
	if e := failure(t, err, blender.Crashed); !strings.Contains(strings.ToLower(e.Message), "camera") {
		t.Errorf("%+v, want the missing camera named", e)
	}
}

// whileRendering calls act as soon as a long frame's first sample is done.
func whileRendering(ctx context.Context, p *blender.Process, act func()) error {
	var once sync.Once
	_, err := p.Render(ctx, 1, func(float64) { once.Do(act) })
	return err
}

func TestAKilledBlenderIsACrash(t *testing.T) {
	t.Parallel()
	for signal, word := range map[syscall.Signal]string{syscall.SIGSEGV: "crashed", syscall.SIGKILL: "killed"} {
		p, _ := open(t, "slow", blender.Options{})
		pid := p.PID()
		err := whileRendering(t.Context(), p, func() { _ = syscall.Kill(pid, signal) })
		if e := failure(t, err, blender.Crashed); !strings.Contains(e.Message, word) {
			t.Errorf("%v: %q", signal, e.Message)
		}
		if _, err := p.Render(t.Context(), 1, nil); err == nil {
			t.Error("a process that is gone rendered a frame")
		}
	}
}

func TestEndedContextEndsTheProcess(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "slow", blender.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	err := whileRendering(ctx, p, cancel)
	failure(t, err, blender.NoProgress)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say that the context was cancelled", err)
	}
	if err := syscall.Kill(p.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is still there: %v", err)
	}
}

func TestInfoIsWhatTheCommandLineSays(t *testing.T) {
	t.Parallel()
	info, err := blender.Probe(t.Context(), find(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(find(t), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(said), "Blender "+info.Version) || info.BuildHash == "" {
		t.Errorf("%+v, the command line says %q", info, said)
	}
	if kind, name, ok := info.Choose(blender.CPU); kind != "CPU" || name == "" || !ok {
		t.Errorf("CPU is %q %q", kind, name)
	}
}

func TestNoAnimationMovesAFrameToTheCPU(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(find(t), "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3",
		"--python", "testdata/pinned.py", "--", "driver.py").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "pinned: all right") {
		t.Errorf("%v:\n%s", err, out)
	}
}
