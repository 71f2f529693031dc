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

// groups makes a control group for each program.
type groups struct {
	version int
	memory  string // folder that the group's own folder is made in
	tasks   string // the same folder in version 2
}

// group is one program's. The methods of a nil group do nothing.
type group struct {
	version       int
	memory, tasks string // its folders; one and the same in version 2
}

// groupPrefix begins our groups' names; this process's id follows.
const groupPrefix = "svc-"

// make makes a group with limits.
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

func (g *group) limit(l Limits) error {
	memory, tasks := strconv.FormatInt(l.Memory, 10), strconv.Itoa(l.Tasks)
	if err := write(g.tasks, "pids.max", tasks); err != nil {
		return err
	}
	// Swap beside the limit would only make a doomed frame slow; not every kernel
	// counts it.
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

// add puts a process, and all it will start, into the group.
func (g *group) add(pid int) error {
	for _, folder := range g.folders() {
		if err := write(folder, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

func (g *group) folders() []string {
	if g.tasks == g.memory {
		return []string{g.memory}
	}
	return []string{g.memory, g.tasks}
}

// hits says which of the group's limits were met.
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

// counted says that a file of "name number" lines has a number above 0 for name.
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

// kill ends every process in the group.
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

// leaveTime is how long the kernel may take to see that a killed process has left.
const leaveTime = time.Second

// remove removes the group, which must be empty or about to be.
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

func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
