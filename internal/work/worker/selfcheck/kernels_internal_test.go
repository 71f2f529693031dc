package selfcheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
	"svc.example/internal/test/script"
)

// A Blender that compiles its kernels itself cannot do so for a card that is newer than
// their source, with any compiler.
func TestKernelsThatAreOlderThanTheCardAreTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join(dir, "9.8", "scripts", "addons", "cycles", "source", "kernel", "device", "cuda")
	if err := os.MkdirAll(source, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "config.h"), []byte("#elif __CUDA_ARCH__ <= 699\n#elif __CUDA_ARCH__ <= 9899\n#else\n#  error\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	info := blender.Info{Devices: []blender.DeviceInfo{{Type: "CUDA", Name: "NVIDIA X"}}}
	for capability, older := range map[string]bool{"99.0": true, "98.9": false, "none": false} {
		smi := script.Write(t, filepath.Join(dir, "smi-"+capability), `[ "$1" = --query-gpu=compute_cap ] && echo "`+capability+"\"\n")
		e := Examination{Blender: script.Write(t, filepath.Join(dir, "blender-"+capability), "true\n"), Device: blender.GPU, GPUs: gpu.Machine{SMI: smi}}
		f, needed := e.compiler(t.Context(), info)
		told := f.Verdict == Fail && strings.Contains(f.Found, "98.9 at most; the GPU has 99.0")
		if !needed || told != older {
			t.Errorf("a card of %s: %+v, needed %t; want it told: %t", capability, f, needed, older)
		}
	}
}
