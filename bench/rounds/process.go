package rounds

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Memory reads a figure of a process from /proc, in bytes: VmRSS is the memory that is
// resident at this moment, VmHWM the most that ever was.
func Memory(pid int, what string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return MemoryIn(string(status), what)
}

// ResetMemory makes VmHWM of a process what is resident at this moment, and returns that, in
// bytes.
func ResetMemory(pid int) (float64, error) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return 0, err
	}
	return Memory(pid, "VmRSS")
}

// MemoryIn is Memory for the text of a status file that was read before, as inside of
// Blender.
func MemoryIn(status, what string) (float64, error) {
	for line := range strings.Lines(status) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == what+":" {
			kib, err := strconv.ParseFloat(words[1], 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("the system does not report %s", what)
}

// ProcessorTime is how many seconds of processors a process has used so far, its own and
// those of the kernel for it. A process that has ended is os.ErrNotExist.
func ProcessorTime(pid int) (seconds float64, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second member is the name in brackets, which may have spaces.
	behind := stat[bytes.LastIndexByte(stat, ')')+1:]
	words := strings.Fields(string(behind))
	const user, system, perSecond = 11, 12, 100 // proc(5); USER_HZ is 100 on Linux
	if len(words) <= system {
		return 0, fmt.Errorf("the system does not report the time of process %d", pid)
	}
	for _, word := range words[user : system+1] {
		ticks, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return 0, err
		}
		seconds += ticks / perSecond
	}
	return seconds, nil
}

// SHA256Sum hashes a file with the sha256sum program and returns the seconds it took,
// the start of the process included. It is the baseline for anything that must read a
// whole file: no reader can be much faster.
func SHA256Sum(ctx context.Context, path string) (float64, error) {
	began := time.Now()
	if out, err := exec.CommandContext(ctx, "sha256sum", path).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("sha256sum %s: %w: %s", path, err, out)
	}
	return time.Since(began).Seconds(), nil
}
