package benchmark_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"svc.example/internal/work/benchmark"
)

// TestAMachineIsHashedByItsDocumentedLines writes the lines by hand, and changes each.
func TestAMachineIsHashedByItsDocumentedLines(t *testing.T) {
	t.Parallel()
	r := run()
	sum := sha256.Sum256([]byte("render_device=GPU\ngpu_name=NVIDIA GeForce RTX 4090\ngpu_vendor=NVIDIA\ngpu_memory_bytes=25769803776\n" +
		"gpu_driver=550.54.14\ncpu_name=unknown\nram_bytes=null\nos=unknown\n"))
	if got := r.HardwareHash(); got != hex.EncodeToString(sum[:]) {
		t.Errorf("the machine's hash is %s", got)
	}
	memory := int64(1)
	for name, change := range map[string]func(*benchmark.Receipt){
		"render_device": func(r *benchmark.Receipt) { r.RenderDevice = benchmark.CPU }, "gpu_name": func(r *benchmark.Receipt) { r.GPUName = "x" },
		"gpu_vendor": func(r *benchmark.Receipt) { r.GPUVendor = "x" }, "gpu_memory_bytes": func(r *benchmark.Receipt) { r.GPUMemoryBytes = nil },
		"gpu_driver": func(r *benchmark.Receipt) { r.GPUDriver = "x" }, "cpu_name": func(r *benchmark.Receipt) { r.CPUName = "x" },
		"ram_bytes": func(r *benchmark.Receipt) { r.RAMBytes = &memory }, "os": func(r *benchmark.Receipt) { r.OS = "x" },
	} {
		other := run()
		if change(&other); other.HardwareHash() == r.HardwareHash() {
			t.Errorf("another %s has the same hash", name)
		}
	}
	faster := run()
	faster.Scenes[0].Samples, faster.Scenes[0].PixelSHA256 = 9, strings.Repeat("c", 64)
	if faster.HardwareHash() != r.HardwareHash() || faster.SceneHash() != r.SceneHash() {
		t.Error("what was measured changes the hash of what was measured with")
	}
	other := run()
	if other.Scenes[1].ReferenceSHA256 = strings.Repeat("c", 64); other.SceneHash() == r.SceneHash() {
		t.Error("another reference has the same hash")
	}
}
