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

// machine is what this machine reports about itself.
type machine struct {
	cpu, system string
	ram         *int64 // bytes; nil when unknown
	gpus        []gpu  // NVIDIA's only
}

// gpu is what the driver reports about one card.
type gpu struct {
	name, driver string
	memory       *int64 // bytes
}

// inspectMachine reads Linux's own files under root. On other systems everything is
// unknown. It never fails: a receipt without the name of a processor is still a receipt.
func inspectMachine(ctx context.Context, root fs.FS) machine {
	m := machine{
		cpu:    orUnknown(member(root, "proc/cpuinfo", "model name", ":")),
		system: orUnknown(strings.Trim(member(root, "etc/os-release", "PRETTY_NAME", "="), `"`)),
		gpus:   nvidia(ctx),
	}
	kib, _, _ := strings.Cut(member(root, "proc/meminfo", "MemTotal", ":"), " ")
	m.ram = bytesOf(kib, 1<<10)
	return m
}

// member returns the value of the first line of a file whose key is name, "" without
// one.
func member(root fs.FS, path, name, sign string) string {
	text, err := fs.ReadFile(root, path)
	if err != nil {
		return "" // another system or a missing file: the value is unknown
	}
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(line, sign)
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// smiTime bounds NVIDIA's tool; it wakes the driver first.
const smiTime = 20 * time.Second

// nvidia calls NVIDIA's own tool, the one public way to driver and memory that needs
// no library. Other vendors' drivers and memory stay unknown.
func nvidia(ctx context.Context) []gpu {
	ctx, cancel := context.WithTimeout(ctx, smiTime)
	defer cancel()
	output, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return nil // not installed, or no NVIDIA GPU
	}
	return readSMI(string(output))
}

// readSMI reads one GPU a line: name, driver version, memory in MiB. Lines of another form
// are left out.
func readSMI(output string) (found []gpu) {
	for line := range strings.Lines(output) {
		parts := strings.Split(strings.TrimSpace(line), ", ")
		if len(parts) == 3 {
			found = append(found, gpu{name: parts[0], driver: orUnknown(parts[1]), memory: bytesOf(parts[2], 1<<20)})
		}
	}
	return found
}

// bytesOf parses a number of units; nil when it is not one. The bound keeps the product
// within 64 bits.
func bytesOf(number string, unit int64) *int64 {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > 1<<62/unit {
		return nil
	}
	n *= unit
	return &n
}

// orUnknown keeps what a receipt may hold: up to 100 printable characters.
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
