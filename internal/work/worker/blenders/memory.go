package blenders

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
)

// Free is the memory that a machine has left, in bytes.
type Free struct {
	Host   int64
	Device int64 // of the GPU that has least; NoMemory where the device renders from the host's
}

// NoMemory is what a device without memory of its own has.
const NoMemory = -1

// FreeOf measures what is free on this machine for one of n workers: an nth of the host's
// memory, and all of the cards that are shown to it. Errors: the host is not Linux, or nothing
// reports its GPUs.
func FreeOf(device blender.Device, m gpu.Machine, shown string, n int) func(context.Context) (Free, error) {
	return func(ctx context.Context) (free Free, err error) {
		if free.Host, err = freeHost("/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup"); err != nil {
			return Free{}, err
		}
		free.Host /= int64(n)
		free.Device = NoMemory
		if device == blender.GPU {
			free.Device, err = m.Free(ctx, shown)
		}
		return free, err
	}
}

// BusyOf measures how busy the cards are that are shown to a worker.
func BusyOf(m gpu.Machine, shown string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) { return m.Busy(ctx, shown) }
}

// freeHost is what the machine has free, or less where a control group (version 2) gives less.
func freeHost(meminfo, member, groups string) (int64, error) {
	file, err := os.Open(meminfo)
	if err != nil {
		return 0, fmt.Errorf("measure the free memory: %w", err)
	}
	defer file.Close()
	free := int64(-1)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && fields[0] == "MemAvailable:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("measure the free memory: %w", err)
			}
			free = kib << 10
		}
	}
	if free < 0 {
		return 0, fmt.Errorf("%s does not say how much memory is available", meminfo)
	}
	text, _ := os.ReadFile(member) // a machine without control groups limits nothing
	_, own, _ := strings.Cut(strings.TrimSpace(string(text)), "0::")
	for group := filepath.Join(groups, own); strings.HasPrefix(group, groups); group = filepath.Dir(group) {
		most, err1 := number(filepath.Join(group, "memory.max"))
		used, err2 := number(filepath.Join(group, "memory.current"))
		if err1 == nil && err2 == nil { // "max" is no number, and no limit
			free = min(free, max(0, most-used))
		}
	}
	return free, nil
}

// number reads a file that holds one.
func number(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
