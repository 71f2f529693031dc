package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/internal/ground/sandbox"
)

// TestMain lets this program be what it is in production too: the inner half of
// the sandbox. Before that it may be told to see what a sandboxed program can do.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "act" {
		os.Exit(act(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// open opens a sandbox of this program.
func open(t *testing.T, mode sandbox.Mode, limits sandbox.Limits) *sandbox.Sandbox {
	t.Helper()
	self, err := sandbox.Self()
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Open(t.Context(), sandbox.Config{Mode: mode, Limits: limits, Self: self})
	if err != nil {
		t.Fatalf("these tests want bubblewrap: run scripts/install-tools sandbox: %v", err)
	}
	return box
}

// run runs this program's act in a sandbox and returns its end and what it said.
func run(t *testing.T, box *sandbox.Sandbox, c sandbox.Command, act ...string) (sandbox.Ending, string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if c.Path, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	if c.Read = append(c.Read, c.Path); c.Inside != nil && box.HasRoot() {
		c.Inside[c.Path] = "/svc/program"
		c.Path = "/svc/program"
	}
	c.Args, c.Output = append([]string{"act"}, act...), w
	if c.Dir == "" {
		c.Dir = "/"
	}
	p, err := box.Start(c)
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(t.Context(), p.Kill)
	defer stop()
	said := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		_, _ = io.Copy(&all, r)
		said <- all.String()
	}()
	return p.Wait(), strings.TrimSpace(<-said)
}

func TestOnlyTheGivenFoldersAreThere(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{})
	given, seen, secret := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "secret")
	for _, path := range []string{secret, filepath.Join(seen, "input")} {
		if err := os.WriteFile(path, []byte("inside"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := sandbox.Command{Read: []string{seen}, Write: []string{given}}
	for _, try := range []struct{ what, path, want string }{
		{"read", secret, "no such file"},
		{"read", "/etc/passwd", "no such file"},
		{"read", filepath.Join(seen, "input"), "inside"},
		{"write", filepath.Join(seen, "mine"), "denied|read-only"},
		{"write", filepath.Join(given, "mine"), "written"},
		{"write", "/mine", "denied|read-only"},
		{"write", "/usr/mine", "denied|read-only"},
		{"write", "/proc/sys/kernel/hostname", "denied|read-only"},
		{"list", "/", "denied"},
		{"list", "/home", "no such file|denied"},
		{"list", "/root", "no such file|denied"},
	} {
		_, said := run(t, box, c, try.what, try.path)
		if !anyOf(strings.ToLower(said), try.want) {
			t.Errorf("%s %s: %q, want %s", try.what, try.path, said, try.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(given, "mine")); err != nil || string(got) != "written" {
		t.Errorf("the given folder holds %q, %v", got, err)
	}
	// What comes into a given folder later is seen: a job's file does.
	if err := os.WriteFile(filepath.Join(seen, "later"), []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said := run(t, box, c, "read", filepath.Join(seen, "later")); said != "inside" {
		t.Errorf("a file that came later reads %q", said)
	}
}

// NVIDIA's driver names its threads, and takes a refusal for a machine without a GPU.
func TestOnlyWhoIsToUseAGPUMayNameItsThreads(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{})
	for _, try := range []struct {
		gpu        bool
		what, path string
		want       string
	}{
		{true, "name", "", "named"},
		{false, "name", "", "denied"},
		{true, "write", "/proc/self/oom_score_adj", "denied"},
		{true, "write", "/proc/sys/kernel/hostname", "denied|read-only"},
	} {
		if _, said := run(t, box, sandbox.Command{GPU: try.gpu}, try.what, try.path); !anyOf(said, try.want) {
			t.Errorf("GPU %t, %s %s: %q, want %s", try.gpu, try.what, try.path, said, try.want)
		}
	}
}

// anyOf says that text has one of the words that are parted by bars.
func anyOf(text, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func TestThereIsNoNetwork(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	called := make(chan struct{})
	go func() {
		if conn, err := listener.Accept(); err == nil {
			conn.Close()
			close(called)
		}
	}()
	if e, said := run(t, nil, sandbox.Command{}, "call", listener.Addr().String()); e.Status != 0 {
		t.Fatalf("without a sandbox the listener is not reached: %s", said)
	}
	<-called
	if e, said := run(t, open(t, sandbox.Required, sandbox.Limits{}), sandbox.Command{}, "call", listener.Addr().String()); e.Status == 0 {
		t.Errorf("the listener was reached: %s", said)
	}
}

func TestSystemCallsThatOnlyAnAttackNeedsAreRefused(t *testing.T) {
	t.Parallel()
	if _, said := run(t, open(t, sandbox.Required, sandbox.Limits{}), sandbox.Command{}, "calls"); said != "done" {
		t.Error(said)
	}
}

func TestTheEnvironmentIsWhatWasGiven(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{})
	_, said := run(t, box, sandbox.Command{Env: []string{"GIVEN=1"}}, "environment")
	for line := range strings.Lines(said) {
		if name, _, _ := strings.Cut(line, "="); name != "GIVEN" && name != "PWD" { // bubblewrap sets PWD
			t.Errorf("the program sees %s", name)
		}
	}
	if !strings.Contains(said, "GIVEN=1") {
		t.Errorf("the program does not see what it was given: %q", said)
	}
}

func TestDescriptorsPassThrough(t *testing.T) {
	t.Parallel()
	for _, mode := range []sandbox.Mode{sandbox.Required, sandbox.Off} {
		box := open(t, mode, sandbox.Limits{})
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		e, _ := run(t, box, sandbox.Command{Pass: []*os.File{w}}, "fd3")
		_ = w.Close()
		got, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil || string(got) != "through" || e != (sandbox.Ending{}) {
			t.Errorf("%s: descriptor 3 gave %q, %v; it ended with %s", mode, got, err, e)
		}
	}
}

func TestTheEndingIsReportedAsItWas(t *testing.T) {
	t.Parallel()
	for _, mode := range []sandbox.Mode{sandbox.Required, sandbox.Off} {
		box := open(t, mode, sandbox.Limits{})
		for _, c := range []struct {
			act  string
			want sandbox.Ending
		}{
			{"leave 0", sandbox.Ending{}},
			{"leave 70", sandbox.Ending{Status: 70}},
			{"signal 11", sandbox.Ending{Signal: syscall.SIGSEGV}},
			{"signal 6", sandbox.Ending{Signal: syscall.SIGABRT}},
			// However it is killed, it was not for memory.
			{"signal 9", sandbox.Ending{Signal: syscall.SIGKILL}},
		} {
			if e, _ := run(t, box, sandbox.Command{}, strings.Fields(c.act)...); e != c.want {
				t.Errorf("%s, %s: ended with %+v", mode, c.act, e)
			}
		}
	}
}

func TestALimitThatEndsAProgramIsNamed(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{Memory: 256 << 20, FileSize: 1 << 20})
	out := t.TempDir()
	c := sandbox.Command{Write: []string{out}}
	e, said := run(t, box, c, "hoard", "1024")
	// By a control group it is killed; by a resource limit it is refused the memory.
	if e.Hit != sandbox.HitMemory && !strings.Contains(said, "out of memory") && !strings.Contains(said, "cannot allocate memory") {
		t.Errorf("a gigabyte under 256 MiB: %+v, %q", e, said)
	}
	if box.Report().Cgroup > 0 && (e.Hit != sandbox.HitMemory || e.Limit != "256 MiB") {
		t.Errorf("under a control group: %+v", e)
	}
	// A box of its own: under the race detector a dozen processes take all the memory.
	crowd := open(t, sandbox.Required, sandbox.Limits{Tasks: 64})
	limited := strings.Contains(crowd.Report().String(), "64 tasks")
	if e, said = run(t, crowd, c, "fork", "200"); limited != strings.Contains(said, "temporarily unavailable") {
		t.Errorf("200 processes under 64 tasks: %+v, %q", e, said)
	}
	if crowd.Report().Cgroup > 0 && e.Hit != sandbox.HitTasks {
		t.Errorf("200 processes under 64 tasks: %s, %s %s", e, e.Hit, e.Limit)
	}
	if e, said = run(t, box, c, "grow", filepath.Join(out, "big"), "8"); !strings.Contains(said, "file too large") && e.Signal != syscall.SIGXFSZ {
		t.Errorf("8 MiB under 1 MiB: %+v, %q", e, said)
	}
	if info, err := os.Stat(filepath.Join(out, "big")); err != nil || info.Size() > 1<<20 {
		t.Errorf("the file is %v, %v", info.Size(), err)
	}
	few := open(t, sandbox.Required, sandbox.Limits{OpenFiles: 32})
	if e, said = run(t, few, c, "handles", "100"); !strings.Contains(said, "too many open files") {
		t.Errorf("100 files under 32: %+v, %q", e, said)
	}
	// A box of its own: on a busy machine the others take a second too.
	short := open(t, sandbox.Required, sandbox.Limits{CPU: time.Second})
	if e, said = run(t, short, c, "spin"); e.Hit != sandbox.HitCPU || e.Limit != "1s" {
		t.Errorf("an endless loop under a second: %+v, %q", e, said)
	}
}

func TestNothingIsLeftAfterAKill(t *testing.T) {
	t.Parallel()
	for _, mode := range []sandbox.Mode{sandbox.Required, sandbox.Off} {
		box := open(t, mode, sandbox.Limits{})
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		path, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		p, err := box.Start(sandbox.Command{Path: path, Read: []string{path}, Args: []string{"act", "linger"}, Dir: "/", Output: w})
		_ = w.Close()
		if err != nil {
			t.Fatal(err)
		}
		ready := make([]byte, 5)
		if _, err := io.ReadFull(r, ready); err != nil || string(ready) != "ready" {
			t.Fatalf("%s: %q, %v", mode, ready, err)
		}
		pid := p.PID()
		if command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); !bytes.Contains(command, []byte("linger")) {
			t.Errorf("%s: PID is that of %q", mode, command)
		}
		p.Kill()
		p.Kill()
		if e := p.Wait(); e.Signal != syscall.SIGKILL || e.Hit != sandbox.HitNone {
			t.Errorf("%s: ended with %+v", mode, e)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: the program is still there: %v", mode, err)
		}
		if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 { // its child held the pipe too
			t.Errorf("%s: %q, %v", mode, rest, err)
		}
		_ = r.Close()
	}
}

func TestWhatIsInForceIsWhatIsReported(t *testing.T) {
	t.Parallel()
	r := open(t, sandbox.Required, sandbox.Limits{Memory: 1 << 30, Tasks: 100, FileSize: 1 << 20, OpenFiles: 99, CPU: time.Hour}).Report()
	line := r.String()
	for _, want := range []string{"bubblewrap (", "net", "pid", "mount", "seccomp", "memory 1 GiB", "files of 1 MiB", "99 open files", "1h0m0s of CPU time"} {
		if !strings.Contains(line, want) {
			t.Errorf("%s does not say %q", line, want)
		}
	}
	t.Logf("here: %s; lacking: %v", line, r.Lacking)
	var off *sandbox.Sandbox
	if r := off.Report(); r.String() != "none" || r.Complete() || r.Mode != sandbox.Off {
		t.Errorf("switched off: %+v", r)
	}
}

// A host that forbids namespaces is made by a sandbox around the test: the
// tightest one forbids its programs to make any.
func TestWhereNamespacesAreForbiddenRequiredRefusesAndAutoSays(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{})
	here := "/usr/bin:/bin"
	for _, c := range []struct{ mode, path, want string }{
		{"required", here, "docs/sandbox.md"},
		{"required", "/nowhere", "apt install bubblewrap"},
		{"auto", here, "landlock"},
		{"auto", "/nowhere", "memory"},
	} {
		// Its children read their status in /proc, as only those of programs with a GPU can.
		_, said := run(t, box, sandbox.Command{Env: []string{"PATH=" + c.path}, GPU: true}, "open", c.mode)
		if !strings.Contains(said, c.want) {
			t.Errorf("%s with PATH=%s: %q, want %q in it", c.mode, c.path, said, c.want)
		}
		if refused := strings.Contains(said, "the sandbox does not work here"); refused != (c.mode == "required") {
			t.Errorf("%s with PATH=%s: %q", c.mode, c.path, said)
		}
	}
}

func TestAutoWithoutBubblewrapStillHasTheSecondLayer(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	box := open(t, sandbox.Auto, sandbox.Limits{FileSize: 1 << 20})
	r := box.Report()
	if len(r.Namespaces) > 0 || len(r.Lacking) == 0 {
		t.Fatalf("%+v", r)
	}
	out, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := sandbox.Command{Write: []string{out}}
	if _, said := run(t, box, c, "read", secret); r.Landlock > 0 && !strings.Contains(said, "denied") {
		t.Errorf("a file outside reads %q", said)
	}
	if _, said := run(t, box, c, "write", filepath.Join(out, "mine")); said != "written" {
		t.Errorf("the given folder: %q", said)
	}
	if _, said := run(t, box, c, "calls"); said != "done" {
		t.Error(said)
	}
	if e, said := run(t, box, c, "grow", filepath.Join(out, "big"), "8"); !strings.Contains(said, "file too large") && e.Signal != syscall.SIGXFSZ {
		t.Errorf("8 MiB under 1 MiB: %+v, %q", e, said)
	}
}

func TestTheRootIsTheCallersAndReadOnly(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{})
	given := t.TempDir()
	for _, try := range []struct{ what, path, want string }{
		{"read", "/home/anna/a.png", "inside"},
		{"write", "/home/anna/a.png", "denied|read-only"},
		{"write", "/home/anna/mine", "denied|read-only"},
		{"write", "/mine", "denied|read-only"},
		{"write", filepath.Join(given, "mine"), "written"},
		{"read", "/etc/passwd", "no such file"},
		{"list", "/", "denied"},
		{"list", "/root", "no such file|denied"},
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "home/anna"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "home/anna/a.png"), []byte("inside"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, said := run(t, box, sandbox.Command{Write: []string{given}, Root: root}, try.what, try.path); !anyOf(strings.ToLower(said), try.want) {
			t.Errorf("%s %s: %q, want %s", try.what, try.path, said, try.want)
		}
		if got, err := os.ReadFile(filepath.Join(root, "home/anna/a.png")); err != nil || string(got) != "inside" {
			t.Errorf("the file of the root holds %q, %v", got, err)
		}
	}
}

// TestProgramRunsOnItsProcessorsOnly, with all it starts, and we continue as
// before.
func TestProgramRunsOnItsProcessorsOnly(t *testing.T) {
	t.Parallel()
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		t.Fatal(err)
	}
	last := 0
	for n := range len(own) * 64 {
		if own.IsSet(n) {
			last = n
		}
	}
	for _, mode := range []sandbox.Mode{sandbox.Required, sandbox.Off} {
		box := open(t, mode, sandbox.Limits{})
		ending, said := run(t, box, sandbox.Command{CPUs: []int{last}, GPU: true}, "processors") // children read /proc
		want := fmt.Sprintf("Cpus_allowed_list:\t%d\nCpus_allowed_list:\t%d", last, last)
		if ending.Status != 0 || said != want {
			t.Errorf("%s: %s, %q, want %q", mode, ending, said, want)
		}
		var after unix.CPUSet
		if err := unix.SchedGetaffinity(0, &after); err != nil || after != own {
			t.Errorf("%s: afterwards this process runs on %v, %v", mode, after, err)
		}
	}
	c := sandbox.Command{Path: "/bin/true", Dir: "/", CPUs: []int{1023}}
	if p, err := open(t, sandbox.Off, sandbox.Limits{}).Start(c); err == nil {
		t.Errorf("it runs on a processor that is not there: %s", p.Wait())
	}
}

// TestEveryLayerHasItsLine: an operator reads of each layer whether it is in force, and
// required refuses to start without one that nothing stands in for.
func TestEveryLayerHasItsLine(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{})
	var names []string
	for _, l := range box.Report().Layers() {
		names = append(names, l.Name)
		if l.Found == "" || (l.Found == "not in force" && l.Lacks == "") {
			t.Errorf("%+v does not say how it is", l)
		}
	}
	if want := []string{"namespaces", "landlock", "seccomp", "control group", "limits"}; !slices.Equal(names, want) {
		t.Errorf("layers %q, want %q", names, want)
	}
	for _, lack := range box.Report().Lacking {
		if layer, _, _ := strings.Cut(lack, ":"); !slices.Contains(names, layer) {
			t.Errorf("%q belongs to no layer", lack)
		}
	}
	whole := sandbox.Report{Mode: sandbox.Required, Landlock: 6, Seccomp: true}
	for what, r := range map[string]sandbox.Report{"landlock": {Seccomp: true}, "seccomp": {Landlock: 6}} {
		if err := r.Missing(); err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "--sandbox auto") {
			t.Errorf("without %s: %v", what, err)
		}
	}
	if err := whole.Missing(); err != nil {
		t.Errorf("with both: %v", err)
	}
}
