package blenders

import (
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
)

func TestFreeMemoryIsTheLeastOfMachineAndGroups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	machine := write("meminfo", "MemTotal:  32000000 kB\nMemFree:  100 kB\nMemAvailable:  16000000 kB\n")
	member := write("cgroup", "0::/slurm/job_7\n")
	groups := filepath.Join(dir, "groups")
	for _, step := range []struct {
		name, content string
		want          int64
	}{
		{"", "", 16000000 << 10},
		{"slurm/job_7/memory.max", "max\n", 16000000 << 10},
		{"slurm/job_7/memory.current", "500\n", 16000000 << 10},
		{"slurm/memory.max", "9000000000\n", 16000000 << 10},
		{"slurm/memory.current", "1000000000\n", 8000000000},
		{"slurm/job_7/memory.max", "4000\n", 3500},
		{"slurm/job_7/memory.current", "5000\n", 0},
	} {
		if step.name != "" {
			write(filepath.Join("groups", step.name), step.content)
		}
		if got, err := freeHost(machine, member, groups); err != nil || got != step.want {
			t.Errorf("with %s: %d free, %v, want %d", step.name, got, err, step.want)
		}
	}
	if _, err := freeHost(filepath.Join(dir, "none"), member, groups); err == nil {
		t.Error("a machine that reports nothing has free memory")
	}
	if _, err := freeHost(write("empty", ""), member, groups); err == nil {
		t.Error("a machine that does not report what is available has free memory")
	}
}

// TestThisMachineHasFreeMemory asks the real one.
func TestThisMachineHasFreeMemory(t *testing.T) {
	t.Parallel()
	free, err := FreeOf(blender.CPU, gpu.Machine{}, "", 1)(t.Context())
	if err != nil || free.Host < 1<<20 || free.Device != NoMemory {
		t.Errorf("%+v, %v", free, err)
	}
}
