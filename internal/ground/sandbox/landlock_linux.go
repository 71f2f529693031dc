package sandbox

import (
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// landlock allows the order's folders and files, and no network or signals to
// anything outside. BestEffort uses what older kernels support.
func (o order) landlock() error {
	rules := []landlock.Rule{
		landlock.RODirs(present(o.Read, true)...), landlock.ROFiles(present(o.Read, false)...),
		landlock.RWDirs(append(present(o.Write, true), "/dev")...).WithIoctlDev(),
	}
	kept := append(processFiles(), o.Proc...)
	rules = append(rules, landlock.RODirs(present(kept, true)...), landlock.ROFiles(present(kept, false)...))
	if len(o.Proc) > 0 {
		kept = append(kept, threads)
		rules = append(rules, landlock.PathAccess(ll.AccessFSWriteFile|ll.AccessFSTruncate, threads))
	}
	if err := keep(kept); err != nil {
		return err
	}
	return landlock.V9.BestEffort().Restrict(rules...)
}

// threads holds the names of a program's own threads. NVIDIA's driver, from version 570 on,
// writes them when it starts, and finds no GPU if it cannot. The rest of /proc stays
// read-only: without bubblewrap all processes share it.
const threads = "/proc/self/task"

// gpuFiles are what a driver of the machine's GPUs may read of /proc besides processFiles. NVIDIA's
// was traced; what those of other makers read is not known, so they may read all. Tests pass
// another root than "/".
func gpuFiles(root string) []string {
	for _, other := range []string{"/dev/kfd", "/dev/dxg", "/sys/module/i915", "/sys/module/xe"} {
		if _, err := os.Stat(filepath.Join(root, other)); err == nil {
			return []string{"/proc"}
		}
	}
	if _, err := os.Stat(filepath.Join(root, "/dev/nvidiactl")); err != nil {
		return []string{"/proc"}
	}
	return []string{"/proc/devices", "/proc/driver/nvidia", "/proc/modules"}
}

// processFiles are what a program may read of /proc: what libraries ask about processors, memory
// and their own process. The others name folders of the machine (mountinfo and its kin: bubblewrap
// cannot rename what is mounted) or other processes.
func processFiles() []string {
	return []string{
		"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/loadavg", "/proc/version", "/proc/filesystems",
		"/proc/sys/kernel", "/proc/sys/vm",
		"/proc/self/auxv", "/proc/self/cmdline", "/proc/self/comm", "/proc/self/environ", "/proc/self/fd", "/proc/self/limits",
		"/proc/self/maps", "/proc/self/net", "/proc/self/stat", "/proc/self/statm", "/proc/self/status",
	}
}

// keep leaves the program descriptors of files of /proc, by which it can read nothing. A landlock
// rule lasts as long as the kernel keeps its inode, and the kernel may drop an inode of /proc at
// any time unless it is open.
func keep(paths []string) error {
	for _, path := range paths {
		if _, err := unix.Open(path, unix.O_PATH, 0); err != nil && !os.IsNotExist(err) {
			return os.NewSyscallError("open "+path, err)
		}
	}
	return nil
}

// present keeps the folders, or the other files, of those paths that exist. A path
// that does not exist would make landlock fail.
func present(paths []string, folders bool) (there []string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() == folders {
			there = append(there, path)
		}
	}
	return there
}

// landlockABI returns the kernel's version of landlock, 0 where it has none.
func landlockABI() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}
