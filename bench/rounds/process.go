package rounds

import (
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

// SHA256Sum hashes a file with the sha256sum program and returns the seconds it took,
// the start of the process included. It is the baseline for whatever must read a whole
// file: no reader can be much faster.
func SHA256Sum(ctx context.Context, path string) (float64, error) {
	began := time.Now()
	if out, err := exec.CommandContext(ctx, "sha256sum", path).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("sha256sum %s: %w: %s", path, err, out)
	}
	return time.Since(began).Seconds(), nil
}
