package blender

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"
)

func TestWorkGoesOnInSilenceUpToABoundAndSleepUpToAShorterOne(t *testing.T) {
	t.Parallel()
	p := Patience{}.withDefaults()
	rapid.Check(t, func(t *rapid.T) {
		progress := time.Duration(rapid.Int64Range(0, int64(2*DefaultBusy)).Draw(t, "since progress"))
		work := time.Duration(rapid.Int64Range(0, int64(2*DefaultBusy)).Draw(t, "since work"))
		ended := p.verdict(progress, work) != ""
		asleep, busy := progress > DefaultAsleep && work > DefaultAsleep, progress > DefaultBusy
		if ended != (asleep || busy) {
			t.Fatalf("%s after the last progress and %s after the last work: ended %v", progress, work, ended)
		}
	})
}

// The program is the shell: what is tried is reading the kernel's account of a tree.
func TestCPUTimeOfATreeIsCounted(t *testing.T) {
	t.Parallel()
	proc := os.DirFS("/proc")
	run := func(script string) int {
		c := exec.Command("sh", "-c", script)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL); _ = c.Wait() }) // the child too
		return c.Process.Pid
	}
	busy := run("sh -c 'while :; do :; done; :' & wait")
	asleep := run("exec sleep 600")
	for began := time.Now(); treeCPU(proc, busy) < 200*time.Millisecond; {
		if time.Since(began) > time.Minute {
			t.Fatalf("a busy child used %s in a minute", treeCPU(proc, busy))
		}
	}
	if used := treeCPU(proc, asleep); used > 50*time.Millisecond {
		t.Errorf("a sleeping program used %s", used)
	}
	if used := treeCPU(proc, 1<<30); used != 0 {
		t.Errorf("a program that is not there used %s", used)
	}
}

func TestGPUIsBusyWhereTheKernelSaysSo(t *testing.T) {
	t.Parallel()
	card := func(busy string) fstest.MapFS {
		return fstest.MapFS{"class/drm/card0/device/gpu_busy_percent": {Data: []byte(busy)}}
	}
	if !gpuBusy(card("37\n")) || gpuBusy(card("0\n")) || gpuBusy(card("?")) || gpuBusy(fstest.MapFS{}) {
		t.Error("the kernel's word on the GPU is not read as it is written")
	}
}
