package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A driver without one of its nodes finds no GPU, and does not say which.
func TestEveryNodeOfAGPUIsGiven(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	want := []string{"dev/dri", "dev/dxg", "dev/kfd", "dev/nvidia-caps", "dev/nvidia-modeset", "dev/nvidia-uvm", "dev/nvidia-uvm-tools", "dev/nvidia0", "dev/nvidia1", "dev/nvidiactl"}
	for _, folder := range []string{"dev/dri", "dev/nvidia-caps", "dev/snd"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range append([]string{"dev/sda", "dev/kmsg", "dev/dri/card0"}, want...) {
		file, err := os.OpenFile(filepath.Join(root, node), os.O_CREATE, 0o600)
		if err == nil {
			_ = file.Close()
		} else if info, statErr := os.Stat(filepath.Join(root, node)); statErr != nil || !info.IsDir() {
			t.Fatal(err)
		}
	}
	var got []string
	for _, node := range devices(root) {
		got = append(got, strings.TrimPrefix(node, root+"/"))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("given are %v, want %v", got, want)
	}
}

func TestOnlyWhoIsToUseAGPUSeesWhatItNeeds(t *testing.T) {
	t.Parallel()
	s := &Sandbox{self: []string{"/proc/self/exe"}}
	for _, gpu := range []bool{true, false} {
		args := s.bubblewrap(Command{Dir: "/", GPU: gpu}, &handshake{})
		for _, path := range gpuSystem {
			if slices.Contains(args, path) != gpu {
				t.Errorf("to use a GPU is %t, and %s is given: %t", gpu, path, !gpu)
			}
		}
	}
}
