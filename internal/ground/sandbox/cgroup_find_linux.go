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

// place is where this process is in one hierarchy of control groups.
type place struct {
	version int
	own     string // this process's group
	top     string // the highest group in sight
}

// findGroups finds where groups with a memory limit and a task limit can be made;
// nil where they cannot. It prefers version 2: one folder holds both, and
// cgroup.kill exists.
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

// findPlaces reads where this process's groups are, by controller, from the texts
// of /proc/self/mountinfo and /proc/self/cgroup; "memory/2" is version 2's one
// hierarchy. Malformed lines are skipped.
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

// mounted returns where a group's path lies in a file system, when a mount shows
// the groups below root at top. Inside a container the two often do not fit
// together: the path is the host's and the mount is the container's own.
func mounted(path, root, top string) string {
	within, err := filepath.Rel(root, path)
	if err != nil || within == ".." || strings.HasPrefix(within, "../") {
		within = "." // of a namespace of its own: what is mounted is ours
	}
	return filepath.Join(top, within)
}

// ownGroup is the group into which this process moves when it is alone in its
// group. Version 2 allows processes in leaves only, so the group can be divided
// only when it is empty.
const ownGroup = "svc"

// base returns the folder of version 2 in which limited groups can be made, ""
// if there is none: our own group if it can be divided, possibly by moving into
// ownGroup, otherwise the one above.
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

// offers reports whether memory and tasks can be limited below a group.
func offers(folder string) bool {
	text, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	have := strings.Fields(string(text))
	return err == nil && slices.Contains(have, "memory") && slices.Contains(have, "pids")
}

// divide lets groups be made below a group. It fails while the group has processes.
func divide(folder string) error {
	return write(folder, "cgroup.subtree_control", "+memory +pids")
}

// usable tries g by making and removing a group: folders that look writable may
// refuse. It also removes groups whose makers died without doing so.
func usable(g *groups) *groups {
	trial, err := g.make(Limits{Memory: 1 << 30, Tasks: 64})
	if err != nil {
		return nil
	}
	// A group that can be created but not removed would be left over by every job.
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

// ownMemoryLimit returns the limit of the group that this process is in, in bytes;
// 0 where it has none. The least limit on the way to the top counts, since a group
// cannot use more than the ones above it.
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
			// Groups nest: go up to the mount's top, beyond which nothing is
			// visible.
			at.own = filepath.Dir(at.own)
		}
	}
	return least
}
