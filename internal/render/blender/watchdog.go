package blender

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// Patience bounds how long a command may run without progress. Progress is a reply or a
// new status line of Blender.
type Patience struct {
	// Asleep bounds a process that also uses neither the CPU nor, where that can be
	// read, the GPU: it waits for something that never comes.
	Asleep time.Duration
	// Busy bounds a process that works silently. It looks the same as one that works
	// forever.
	Busy time.Duration
}

// Defaults of Patience.
const (
	// DefaultAsleep is longer than any observed wait for a slow disk.
	DefaultAsleep = 2 * time.Minute
	// DefaultBusy is longer than Blender's known silent steps: building the BVH of a
	// scene that fills the memory, evaluating heavy modifiers, compiling GPU kernels.
	DefaultBusy = 30 * time.Minute
)

// withDefaults replaces what is zero or negative.
func (p Patience) withDefaults() Patience {
	if p.Asleep <= 0 {
		p.Asleep = DefaultAsleep
	}
	if p.Busy <= 0 {
		p.Busy = DefaultBusy
	}
	return p
}

// interval is how often a silent process is sampled: an eighth of the shorter
// bound, but at least 5 ms and at most 5 s.
func (p Patience) interval() time.Duration {
	return min(max(min(p.Asleep, p.Busy)/8, 5*time.Millisecond), 5*time.Second)
}

// verdict returns why a command must end, given how long ago its last progress and
// its last work were; "" while it may continue.
func (p Patience) verdict(progress, work time.Duration) string {
	switch {
	case progress > p.Busy:
		return fmt.Sprintf("it worked for %s and reported nothing", p.Busy)
	case min(progress, work) > p.Asleep:
		return fmt.Sprintf("it neither worked nor reported anything for %s", p.Asleep)
	}
	return ""
}

// watchdog observes one command of a process. It belongs to the goroutine of call.
type watchdog struct {
	patience      Patience
	pid           int
	gpu           bool
	moved, worked time.Time     // the last observed progress and work
	looked        time.Time     // when spent was read
	spent         time.Duration // CPU time
	procfs, sysfs fs.FS
}

// watchdog starts observing: a command begins with its full patience, whatever
// came before it.
func (p *Process) watchdog() *watchdog {
	now := time.Now()
	v := &watchdog{
		patience: p.opts.Patience.withDefaults(), pid: p.PID(), gpu: p.opts.Device == GPU,
		moved: now, worked: now, looked: now, procfs: os.DirFS("/proc"), sysfs: os.DirFS("/sys"),
	}
	v.spent = treeCPU(v.procfs, v.pid)
	return v
}

// idleShare is the share of one core below which a process counts as asleep. Timers
// and housekeeping stay far below it; one working thread is far above.
const idleShare = 0.05

// sample notes whether the process worked since the last sample, and returns
// verdict's reason.
func (v *watchdog) sample(now time.Time) string {
	spent := treeCPU(v.procfs, v.pid)
	if float64(spent-v.spent) > idleShare*float64(now.Sub(v.looked)) || v.gpu && gpuBusy(v.sysfs) {
		v.worked = now
	}
	v.spent, v.looked = spent, now
	return v.patience.verdict(now.Sub(v.moved), now.Sub(v.worked))
}

// clockTick is the unit of /proc/PID/stat, the same on every Linux (USER_HZ).
const clockTick = 10 * time.Millisecond

// treeCPU sums the CPU time of a process, its descendants, and those ended ones
// that their parents waited for. Blender's work may be in a child, such as a
// compiler of kernels. Processes that cannot be read, because they have just ended,
// count as 0.
func treeCPU(procfs fs.FS, pid int) (all time.Duration) {
	name := strconv.Itoa(pid)
	stat, err := fs.ReadFile(procfs, path.Join(name, "stat"))
	if err != nil {
		return 0
	}
	// The second field is the program's name in brackets, which may hold anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, i := range []int{11, 12, 13, 14} { // utime, stime, cutime, cstime
		if i < len(fields) {
			ticks, _ := strconv.ParseInt(fields[i], 10, 64)
			all += time.Duration(ticks) * clockTick
		}
	}
	threads, _ := fs.ReadDir(procfs, path.Join(name, "task"))
	for _, thread := range threads {
		children, _ := fs.ReadFile(procfs, path.Join(name, "task", thread.Name(), "children"))
		for _, child := range strings.Fields(string(children)) {
			if id, err := strconv.Atoi(child); err == nil {
				all += treeCPU(procfs, id)
			}
		}
	}
	return all
}

// gpuBusy reports whether any GPU of the machine works, where the kernel exports
// that (amdgpu does). NVIDIA's need no such file: the CUDA runtime polls while its
// GPU works, so its CPU time shows it.
func gpuBusy(sysfs fs.FS) bool {
	files, _ := fs.Glob(sysfs, "class/drm/card*/device/gpu_busy_percent")
	for _, file := range files {
		text, err := fs.ReadFile(sysfs, file)
		if busy, wrong := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && wrong == nil && busy > 0 {
			return true
		}
	}
	return false
}
