package measure

import (
	"context"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/work/benchmark"
)

// machine is what this machine says of itself.
type machine struct {
	cpu, system string
	ram         *int64
	gpus        []gpu
}

type gpu struct {
	name, driver string
	memory       *int64 // bytes
}

// look reads Linux's own files under root; elsewhere all is unknown.
func look(ctx context.Context, root fs.FS) machine {
	m := machine{
		cpu:    orUnknown(member(root, "proc/cpuinfo", "model name", ":")),
		system: orUnknown(strings.Trim(member(root, "etc/os-release", "PRETTY_NAME", "="), `"`)),
		gpus:   nvidia(ctx),
	}
	kib, _, _ := strings.Cut(member(root, "proc/meminfo", "MemTotal", ":"), " ")
	m.ram = bytesOf(kib, 1<<10)
	return m
}

// member returns the value behind the first line of a file that begins with name,
// "" where there is none.
func member(root fs.FS, path, name, sign string) string {
	text, err := fs.ReadFile(root, path)
	if err != nil {
		return "" // another system, or no such file: it is not known
	}
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(line, sign)
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// smiTime is how long NVIDIA's own tool may take; it wakes the driver first.
const smiTime = 20 * time.Second

// nvidia asks NVIDIA's own tool, the one public way to driver and memory that
// needs no library. Other vendors' drivers and memory stay unknown.
func nvidia(ctx context.Context) []gpu {
	ctx, cancel := context.WithTimeout(ctx, smiTime)
	defer cancel()
	said, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return nil // not installed, or no such GPU
	}
	return readSMI(string(said))
}

func readSMI(said string) (found []gpu) {
	for line := range strings.Lines(said) {
		parts := strings.Split(strings.TrimSpace(line), ", ")
		if len(parts) == 3 {
			found = append(found, gpu{name: parts[0], driver: orUnknown(parts[1]), memory: bytesOf(parts[2], 1<<20)})
		}
	}
	return found
}

// bytesOf reads a number of units; nil where it is none.
func bytesOf(number string, unit int64) *int64 {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > 1<<62/unit {
		return nil
	}
	n *= unit
	return &n
}

// orUnknown keeps what a receipt may carry: up to 100 printable characters.
func orUnknown(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	if clean = strings.Join(strings.Fields(clean), " "); len(clean) > 100 {
		clean = clean[:100]
	}
	if clean == "" {
		return benchmark.Unknown
	}
	return clean
}
