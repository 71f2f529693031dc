package sandbox

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// memory returns what this machine has for us, in bytes.
func memory() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 1 << 40 // no limit is a lie less than a wrong one
	}
	all := int64(info.Totalram) * int64(info.Unit)
	if own := ownMemoryLimit(); own > 0 {
		return min(all, own)
	}
	return all
}

// grace is how long after SIGXCPU a program that catches the signal is killed.
const grace = 5 * time.Second

// apply puts the limits on this process; what it becomes and starts inherits them.
// byGroup reports that a control group limits memory and tasks already. The hard
// limits are lowered too, so that the program cannot raise them again. Core dumps
// are off: they would hold a customer's scene.
func (l Limits) apply(byGroup bool) error {
	set := func(resource int, limit, most int64) error {
		return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: uint64(limit), Max: uint64(most)})
	}
	// The kernel counts whole seconds; 0 would leave no time at all.
	seconds := max(int64(l.CPU/time.Second), 1)
	limits := map[int][2]int64{
		unix.RLIMIT_CORE:   {0, 0},
		unix.RLIMIT_FSIZE:  {l.FileSize, l.FileSize},
		unix.RLIMIT_NOFILE: {int64(l.OpenFiles), int64(l.OpenFiles)},
		unix.RLIMIT_CPU:    {seconds, seconds + int64(grace/time.Second)},
	}
	if !byGroup {
		// Of writable private memory: GPU drivers reserve far more address space
		// than they use, so that space itself cannot be what is limited.
		limits[unix.RLIMIT_DATA] = [2]int64{l.Memory, l.Memory}
		limits[unix.RLIMIT_NPROC] = [2]int64{int64(l.Tasks), int64(l.Tasks)}
	}
	for resource, limit := range limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return os.NewSyscallError("getrlimit", err)
		}
		// Only root may raise a limit that is lower already.
		most := int64(min(uint64(limit[1]), now.Max))
		if err := set(resource, min(limit[0], most), most); err != nil {
			return os.NewSyscallError("setrlimit", err)
		}
	}
	return nil
}

// systemOOMKills returns how often this kernel has killed a process for memory
// since it started; -1 if unknown.
func systemOOMKills() int64 {
	file, err := os.Open("/proc/vmstat")
	if err != nil {
		return -1
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok {
			count, err := strconv.ParseInt(n, 10, 64)
			if err != nil {
				return -1
			}
			return count
		}
	}
	return -1
}
