package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// place is a folder of the control groups' file system that this process is in.
type place struct {
	version int
	own     string // this process's group
	top     string // the highest group in sight
}

// findGroups finds where groups with a memory and a task limit can be made; nil
// where they cannot.
func findGroups() *groups {
	mounts, err1 := os.ReadFile("/proc/self/mountinfo")
	member, err2 := os.ReadFile("/proc/self/cgroup")
	if err := errors.Join(err1, err2); err != nil {
		return nil
	}
	places := findPlaces(string(mounts), string(member))
	if two, ok := places["memory/2"]; ok {
		if base := two.base(); base != "" {
			return usable(&groups{version: 2, memory: base, tasks: base})
		}
	}
	memory, ok1 := places["memory"]
	tasks, ok2 := places["pids"]
	if !ok1 || !ok2 {
		return nil
	}
	return usable(&groups{version: 1, memory: memory.own, tasks: tasks.own})
}

// findPlaces reads where this process's groups are, by controller; "memory/2" is
// the unified hierarchy of version 2.
func findPlaces(mountinfo, cgroup string) map[string]place {
	member := memberships(cgroup)
	places := map[string]place{}
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(line, " - ")
		where, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(where) < 5 || len(kind) < 3 {
			continue
		}
		root, top := where[3], where[4]
		switch kind[0] {
		case "cgroup2":
			if path, ok := member[""]; ok {
				places["memory/2"] = place{version: 2, own: mounted(path, root, top), top: top}
			}
		case "cgroup":
			for option := range strings.SplitSeq(kind[2], ",") {
				if path, ok := member[option]; ok && option != "" {
					places[option] = place{version: 1, own: mounted(path, root, top), top: top}
				}
			}
		}
	}
	return places
}

// memberships reads which group this process is in, by controller; "" is version 2.
func memberships(cgroup string) map[string]string {
	member := map[string]string{}
	for line := range strings.Lines(cgroup) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			member[controller] = parts[2]
		}
	}
	return member
}

// mounted is where a group's path is in a mount of the groups below root at top.
func mounted(path, root, top string) string {
	within, err := filepath.Rel(root, path)
	if err != nil || within == ".." || strings.HasPrefix(within, "../") {
		within = "." // of a namespace of its own: what is mounted is ours
	}
	return filepath.Join(top, within)
}

// ownGroup is where this process moves in a group that is its alone, so that
// groups for others can be made beside it: version 2 has processes in leaves only.
const ownGroup = "svc"

// base is the folder of version 2 in which limited groups can be made, "" where
// there is none: our own when it can be divided, else the one above.
func (p place) base() string {
	if offers(p.own) && divide(p.own) == nil {
		return p.own
	}
	pids, err := os.ReadFile(filepath.Join(p.own, "cgroup.procs"))
	if err == nil && offers(p.own) && strings.TrimSpace(string(pids)) == strconv.Itoa(os.Getpid()) {
		inner := filepath.Join(p.own, ownGroup)
		if err := os.Mkdir(inner, 0o755); err == nil || errors.Is(err, os.ErrExist) {
			if write(inner, "cgroup.procs", strconv.Itoa(os.Getpid())) == nil && divide(p.own) == nil {
				return p.own
			}
		}
	}
	if above := filepath.Dir(p.own); p.own != p.top && offers(above) && divide(above) == nil {
		return above
	}
	return ""
}

// offers says that memory and tasks can be limited below a group.
func offers(folder string) bool {
	text, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	have := strings.Fields(string(text))
	return err == nil && slices.Contains(have, "memory") && slices.Contains(have, "pids")
}

func divide(folder string) error {
	return write(folder, "cgroup.subtree_control", "+memory +pids")
}

// usable tries g by making a group, and clears away those whose makers are gone.
func usable(g *groups) *groups {
	trial, err := g.make(Limits{Memory: 1 << 30, Tasks: 64})
	if err != nil {
		return nil
	}
	if trial.remove() != nil {
		return nil
	}
	for _, folder := range []string{g.memory, g.tasks} {
		old, _ := filepath.Glob(filepath.Join(folder, groupPrefix+"*-*")) // the pattern is well-formed
		for _, path := range old {
			maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), groupPrefix), "-")
			if pid, err := strconv.Atoi(maker); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				_ = syscall.Rmdir(path) // one with processes in it stays
			}
		}
	}
	return g
}

// ownMemoryLimit is the limit of the group that this process is in, bytes; 0
// where it has none.
func ownMemoryLimit() int64 {
	mounts, err1 := os.ReadFile("/proc/self/mountinfo")
	member, err2 := os.ReadFile("/proc/self/cgroup")
	if errors.Join(err1, err2) != nil {
		return 0
	}
	places := findPlaces(string(mounts), string(member))
	var least int64
	for name, file := range map[string]string{"memory/2": "memory.max", "memory": "memory.limit_in_bytes"} {
		at, ok := places[name]
		for ok && strings.HasPrefix(at.own, at.top) {
			text, err := os.ReadFile(filepath.Join(at.own, file))
			limit, err2 := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is none
			if err == nil && err2 == nil && (least == 0 || limit < least) {
				least = limit
			}
			at.own = filepath.Dir(at.own)
		}
	}
	return least
}
