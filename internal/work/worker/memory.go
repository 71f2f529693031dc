package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/blender"
)

// Free is the memory that a machine has left, in bytes.
type Free struct {
	Host   int64
	Device int64 // of the GPU that has least; NoMemory where the device renders from the host's
}

// NoMemory is what a device without memory of its own has.
const NoMemory = -1

// freeOn measures what is free on this machine for a device: Linux tells of the host and of
// AMD's GPUs, nvidia-smi of NVIDIA's. Errors: another system, or a GPU that nothing tells of.
func freeOn(device blender.Device) func(context.Context) (Free, error) {
	return func(ctx context.Context) (free Free, err error) {
		if free.Host, err = freeHost("/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup"); err != nil {
			return Free{}, err
		}
		free.Device = NoMemory
		if device == blender.GPU {
			free.Device, err = freeDevice(ctx)
		}
		return free, err
	}
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

// smiTimeout bounds nvidia-smi, which can hang with a driver that does.
const smiTimeout = 10 * time.Second

// freeDevice is the free memory of the GPU that has least, since Cycles puts the scene on each.
func freeDevice(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, smiTimeout)
	defer cancel()
	args := []string{"--query-gpu=memory.free", "--format=csv,noheader,nounits"}
	if shown := os.Getenv("CUDA_VISIBLE_DEVICES"); shown != "" {
		args = append(args, "--id="+shown)
	}
	out, err := exec.CommandContext(ctx, "nvidia-smi", args...).Output()
	if err == nil {
		return leastFree(string(out))
	}
	cards, _ := filepath.Glob("/sys/class/drm/card*/device/mem_info_vram_total") // the pattern is well-formed
	if len(cards) == 0 {
		return 0, fmt.Errorf("measure the free memory of the GPU: %w", err)
	}
	least := int64(-1)
	for _, card := range cards {
		most, err1 := number(card)
		used, err2 := number(filepath.Join(filepath.Dir(card), "mem_info_vram_used"))
		if err := errors.Join(err1, err2); err != nil {
			return 0, fmt.Errorf("measure the free memory of the GPU: %w", err)
		}
		if free := most - used; least < 0 || free < least {
			least = free
		}
	}
	return least, nil
}

// leastFree reads nvidia-smi's list: a line with MiB for each GPU.
func leastFree(list string) (int64, error) {
	least := int64(-1)
	for line := range strings.Lines(strings.TrimSpace(list)) {
		mib, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read what nvidia-smi says: %w", err)
		}
		if least < 0 || mib<<20 < least {
			least = mib << 20
		}
	}
	if least < 0 {
		return 0, errors.New("nvidia-smi names no GPU")
	}
	return least, nil
}
