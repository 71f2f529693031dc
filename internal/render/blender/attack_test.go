package blender_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
)

// deeds is an attacker's Python that has come to run in the driver. It tries what needs more
// Python, or another program, when the first frame is rendered.
const deeds = `
done = {}
def attempt(name, deed):
    try:
        done[name] = "done: %s" % (deed(),)
    except BaseException as error:
        done[name] = "refused: %r" % (error,)

def brought():
    with open(os.path.join(os.environ["HOME"], "brought.py"), "w") as file:
        file.write("x = 1")
    sys.path.insert(0, os.environ["HOME"])
    import brought

def faked():
    compile("x = 1", os.__file__, "exec")

def as_text():
    text = bpy.data.texts.new("../" * 12 + os.__file__)
    text.from_string("x = 1")
    text.as_module()

def child():
    if os.fork() == 0:
        os._exit(0)

def attack(self, command, render=Driver.render):
    attempt("run text", lambda: exec("x = 1"))
    attempt("compile", lambda: compile("x = 1", "x", "exec"))
    attempt("compile in the name of another", faked)
    attempt("evaluate", lambda: eval("1 + 1"))
    attempt("bring a module", brought)
    attempt("a text of the scene", as_text)
    attempt("fork", child)
    attempt("a program", lambda: os.system("true"))
    attempt("a program by a module", lambda: __import__("subprocess").run(["/bin/true"]))
    attempt("become a program", lambda: os.execv("/bin/true", ["true"]))
    print("hostile: " + json.dumps(done), flush=True)
    render(self, command)

Driver.render = attack
`

// TestPythonThatRunsGetsNoMorePythonToRun begins where an attacker already runs code.
func TestPythonThatRunsGetsNoMorePythonToRun(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "plain", blender.Options{}.Attacked(deeds))
	_, line, ran := strings.Cut(render(t, p, 1).Log, "hostile: ")
	line, _, _ = strings.Cut(line, "\n")
	var did map[string]string
	if err := json.Unmarshal([]byte(line), &did); err != nil || !ran || len(did) != 10 {
		t.Fatalf("%d deeds, %v: %s", len(did), err, line)
	}
	for deed, how := range did {
		if !strings.HasPrefix(how, "refused: PermissionError") {
			t.Errorf("%s: %s", deed, how)
		}
	}
}

// searches reads what it can of /proc, of its environment and of Blender, and prints what has one
// of the words in it, which the command line may not hold in plain.
const searches = `
WORDS = [bytes.fromhex(word) for word in %q.split()]
names, read = [], 0
def search(where, text):
    for word in WORDS:
        if word in text:
            names.append("%%s: %%r" %% (where, word))
def look(path):
    global read
    try:
        search(path, os.fsencode(os.readlink(path)))
    except OSError:
        pass
    try:
        with open(path, "rb", 0) as file:
            os.set_blocking(file.fileno(), False)
            text = file.read(1 << 20)
    except OSError:
        return
    read += 1
    search(path, text or b"")

def attack(self, command, render=Driver.render):
    search("environment", repr(os.environ).encode())
    search("settings", json.dumps(self.settings).encode())
    search("here", os.getcwd().encode())
    search("program", bpy.app.binary_path.encode())
    search("file", bpy.data.filepath.encode())
    for process in ("", "/self", "/1", "/thread-self"):
        for name in ("mountinfo", "mounts", "mountstats", "cmdline", "environ", "maps", "smaps", "cgroup", "status", "stat", "limits", "exe", "cwd", "root"):
            look("/proc" + process + "/" + name)
    for folder, _, files in os.walk("/proc"):
        if folder.count("/") < 6:
            for name in files:
                if name not in ("kmsg", "kcore", "kpagecount", "kpageflags", "pagemap", "mem"):
                    look(folder + "/" + name)
    print("hostile: " + json.dumps({"names": names, "read": read}), flush=True)
    render(self, command)

Driver.render = attack
`

// TestBlenderIsToldNoFolderOfTheMachine, in anything that code in it can read.
func TestBlenderIsToldNoFolderOfTheMachine(t *testing.T) {
	t.Setenv("PATH", t.TempDir()+":"+os.Getenv("PATH"))
	program, err := os.Executable() // the one that puts on the sandbox
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, word := range []string{t.Name(), filepath.Dir(program)} {
		words = append(words, hex.EncodeToString([]byte(word)))
	}
	p, _ := open(t, "plain", blender.Options{}.Attacked(fmt.Sprintf(searches, strings.Join(words, " ")))) // its folders have the test's name
	f := render(t, p, 1)
	_, line, _ := strings.Cut(f.Log, "hostile: ")
	var said struct {
		Names []string `json:"names"`
		Read  int      `json:"read"`
	}
	if err := json.NewDecoder(strings.NewReader(line)).Decode(&said); err != nil || said.Read < 5 || len(said.Names) > 0 {
		t.Errorf("%d files read, %v; %v", said.Read, said.Names, err)
	}
	picture, err := os.ReadFile(f.Path)
	if err != nil || bytes.Contains(picture, []byte(t.Name())) {
		t.Errorf("the picture names the folder, or %v", err)
	}
}

// lingers leaves a child that burns the processor in a session of its own, by the system's own
// call, and a thread that writes a line over and over.
const lingers = `
import threading

def attack(self, command, render=Driver.render):
    libc = ctypes.CDLL(None)
    if libc.fork() == 0:
        libc.setsid()
        libc.fork()
        while True:
            pass
    threading.Thread(target=lambda: [time.sleep(0.01) for _ in iter(int, 1)], daemon=True).start()
    render(self, command)

Driver.render = attack
`

// TestNothingRunsBetweenFrames: what code has started ends with its frame, and what it left in
// Blender is paused until the next one, which renders.
func TestNothingRunsBetweenFrames(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "plain", blender.Options{}.Attacked(lingers))
	for frame := 1; frame <= 2; frame++ {
		render(t, p, frame)
		stat := processStat(t, p.PID())
		if stat[0] != "T" {
			t.Errorf("after frame %d Blender is in state %s", frame, stat[0])
		}
		// All that a namespace has lost its parents are children of the first process.
		children, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%[1]s/children", stat[1]))
		if err != nil {
			t.Fatal(err)
		}
		for child := range strings.FieldsSeq(string(children)) {
			pid, _ := strconv.Atoi(child)
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); pid != p.PID() && err == nil && !strings.Contains(string(text), ") Z ") {
				t.Errorf("after frame %d there is more than Blender: %s", frame, text)
			}
		}
	}
}

// processStat is what the kernel says of a process, from its state on.
func processStat(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// writes fills the disk where Blender may write: by files with names, by one that it has
// removed and keeps open, or by very many empty ones.
const writes = `
def attack(self, command, render=Driver.render):
    block = bytes(1 << 20)
    for folder in (os.environ["HOME"], self.settings["out"]):
        %s
    render(self, command)

Driver.render = attack
`

func TestADiskIsNotFilledByAFrame(t *testing.T) {
	t.Parallel()
	s, err := limited(sandbox.Limits{Disk: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for what, how := range map[string]string{
		"files with names":   `[open(os.path.join(folder, "junk%d" % i), "wb").write(block) for i in range(40)]`,
		"a file without one": `kept = open(os.path.join(folder, "junk"), "wb"); os.remove(kept.name); [kept.write(block) for _ in range(80)]; self.kept = kept`,
		"empty files":        `[open(os.path.join(folder, "empty%d" % i), "wb").close() for i in range(5000)]`,
	} {
		p, _ := open(t, "plain", blender.Options{Sandbox: s}.Attacked(fmt.Sprintf(writes, how)))
		_, err := p.Render(t.Context(), 1, nil)
		failed, ok := errors.AsType[*blender.Error](err)
		if !ok || failed.Code != blender.Crashed || !strings.Contains(failed.Message, "more than 64 MiB to disk") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
