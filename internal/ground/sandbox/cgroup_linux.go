package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// groups makes one control group for each program. It holds no state between them.
type groups struct {
	version int
	memory  string // folder that the group's own folder is made in
	tasks   string // the same folder in version 2
}

// group is the control group of one program. The methods of a nil group do nothing,
// so that callers need not ask whether this machine has any.
type group struct {
	version       int
	memory, tasks string // its folders; one and the same in version 2
}

// groupPrefix begins the names of our groups; this process's id follows, so that a
// later process can tell whose groups are left over.
const groupPrefix = "svc-"

// make makes a group with limits. When it fails half-way it removes what it made.
func (g *groups) make(l Limits) (*group, error) {
	pattern := fmt.Sprintf("%s%d-*", groupPrefix, os.Getpid())
	memory, err := os.MkdirTemp(g.memory, pattern)
	if err != nil {
		return nil, fmt.Errorf("make a control group: %w", err)
	}
	made := &group{version: g.version, memory: memory, tasks: memory}
	if g.tasks != g.memory {
		made.tasks = filepath.Join(g.tasks, filepath.Base(memory))
		if err := os.Mkdir(made.tasks, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make a control group: %w", err), os.Remove(memory))
		}
	}
	if err := made.limit(l); err != nil {
		return nil, errors.Join(err, made.remove())
	}
	return made, nil
}

// limit writes the limits, in bytes and tasks. It must come before any process is
// added: a program that is already larger than memory.max is not made smaller.
func (g *group) limit(l Limits) error {
	memory, tasks := strconv.FormatInt(l.Memory, 10), strconv.Itoa(l.Tasks)
	if err := write(g.tasks, "pids.max", tasks); err != nil {
		return err
	}
	// Swap in addition to the limit would only slow down a doomed frame; not
	// every kernel counts it.
	if g.version == 2 {
		if err := write(g.memory, "memory.max", memory); err != nil {
			return err
		}
		return ifThere(write(g.memory, "memory.swap.max", "0"))
	}
	if err := write(g.memory, "memory.limit_in_bytes", memory); err != nil {
		return err
	}
	return ifThere(write(g.memory, "memory.memsw.limit_in_bytes", memory))
}

// add puts a process into the group, with all that it will start. Processes that it
// started before stay where they are, so it is called while the program is still
// held back.
func (g *group) add(pid int) error {
	for _, folder := range g.folders() {
		if err := write(folder, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

// folders returns each folder of the group once: version 1 has one for each
// controller.
func (g *group) folders() []string {
	if g.tasks == g.memory {
		return []string{g.memory}
	}
	return []string{g.memory, g.tasks}
}

// hits reports which of the group's limits were met since it was made.
func (g *group) hits() (memory, tasks bool) {
	if g == nil {
		return false, false
	}
	events := "memory.events"
	if g.version == 1 {
		events = "memory.oom_control"
	}
	return counted(filepath.Join(g.memory, events), "oom_kill"), counted(filepath.Join(g.tasks, "pids.events"), "max")
}

// counted reports whether a file of "name number" lines has a number above 0 for
// name. A file that cannot be read counts as 0: the ending then names no limit.
func counted(path, name string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return n != "0"
		}
	}
	return false
}

// kill ends every process in the group. cgroup.kill (from Linux 5.14) ends them at
// once; elsewhere a process that forks meanwhile can be missed, and is ended with
// its namespace.
func (g *group) kill() {
	if g == nil {
		return
	}
	if g.version == 2 && write(g.memory, "cgroup.kill", "1") == nil {
		return
	}
	for _, pid := range g.members() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// members returns the ids of the group's processes, as this process sees them.
func (g *group) members() (pids []int) {
	text, err := os.ReadFile(filepath.Join(g.memory, "cgroup.procs"))
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 { // 0 is of another namespace
			pids = append(pids, pid)
		}
	}
	return pids
}

// leaveTime is how long the kernel may take to let go of a killed process. Until
// then the group's folder cannot be removed.
const leaveTime = time.Second

// remove removes the group, whose processes must have been killed.
func (g *group) remove() error {
	if g == nil {
		return nil
	}
	var left error
	for _, folder := range g.folders() {
		left = errors.Join(left, removeFolder(folder))
	}
	return left
}

// removeFolder tries again each millisecond as long as the folder is busy, for
// leaveTime.
func removeFolder(path string) error {
	over := time.Now().Add(leaveTime)
	for {
		err := syscall.Rmdir(path)
		if err == nil || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(over) {
			return fmt.Errorf("remove the control group %s: %w", path, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// write sets one of a group's files.
func write(folder, file, value string) error {
	if err := os.WriteFile(filepath.Join(folder, file), []byte(value), 0); err != nil {
		return fmt.Errorf("set up a control group: %w", err)
	}
	return nil
}

// ifThere ignores that a file does not exist or must not be written: kernels
// without swap accounting do not have the file.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
