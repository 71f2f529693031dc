package blender

import (
	"slices"
	"testing"
)

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
