package blender

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Blender compiles its own kernels where it ships none: the compiler must be there in
// the sandbox too, wherever the PATH finds it.
func TestCUDAToolkitOfThePATHIsGiven(t *testing.T) {
	folder := t.TempDir()
	toolkit, other := filepath.Join(folder, "cuda"), filepath.Join(folder, "home")
	for _, place := range []string{toolkit, other} {
		if err := os.MkdirAll(filepath.Join(place, "bin"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(place, "bin", "nvcc"), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	libraries := filepath.Join(toolkit, "nvvm", "libdevice")
	if err := os.MkdirAll(libraries, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(libraries, "libdevice.10.bc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "links")
	if err := os.Mkdir(link, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(toolkit, "bin", "nvcc"), filepath.Join(link, "nvcc")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{filepath.Join(toolkit, "bin"): true, link: true, filepath.Join(other, "bin"): false} {
		t.Setenv("PATH", path)
		for device, wanted := range map[Device]bool{GPU: want, CPU: false} {
			p := &Process{dir: "/work/blender-1", opts: Options{Device: device}}
			read := p.command("/usr/bin/blender", "/work/blender-1/in/driver.py", "{}").Read
			if slices.Contains(read, toolkit) != wanted || slices.Contains(read, other) {
				t.Errorf("with %s on the PATH a %s process reads %v, the toolkit wanted: %t", path, device, read, wanted)
			}
		}
	}
}

func TestOnlyAMakerOfKernelsMayWriteThem(t *testing.T) {
	t.Parallel()
	for _, making := range []bool{true, false} {
		p := &Process{dir: "/work/blender-1", opts: Options{Device: GPU, Kernels: "/work/kernels", MakeKernels: making}}
		c := p.command("/usr/bin/blender", "/work/blender-1/in/driver.py", "{}")
		if slices.Contains(c.Write, "/work/kernels") != making || slices.Contains(c.Read, "/work/kernels") == making {
			t.Errorf("making %t: reads %v, writes %v", making, c.Read, c.Write)
		}
		if !c.GPU || !slices.Contains(c.Env, "XDG_CACHE_HOME=/work/kernels") || !slices.Contains(c.Env, "CUDA_CACHE_PATH=/work/kernels/cuda") {
			t.Errorf("making %t: GPU %t, environment %v", making, c.GPU, c.Env)
		}
		if slices.Contains(c.Write, "/work/blender-1") || slices.Contains(c.Write, "/work/blender-1/in") {
			t.Errorf("the job's file can be written: %v", c.Write)
		}
	}
}
