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

// Memory reads a figure of a process, in bytes: VmRSS is what is resident now,
// VmHWM the most that was.
func Memory(pid int, what string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return MemoryIn(string(status), what)
}

// MemoryIn is Memory of a status that was read before.
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

// SHA256Sum hashes a file as a person does in a shell, and returns the seconds
// it took.
func SHA256Sum(ctx context.Context, path string) (float64, error) {
	began := time.Now()
	if out, err := exec.CommandContext(ctx, "sha256sum", path).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("sha256sum %s: %w: %s", path, err, out)
	}
	return time.Since(began).Seconds(), nil
}
