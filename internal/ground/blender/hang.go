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

// Patience is how long a command may go on without progress: a reply, or a status
// line of Blender's that says something new. Time alone ends no frame.
type Patience struct {
	// Asleep bounds a process that also uses neither CPU nor, where that can be
	// read, the GPU: it waits for something that never comes.
	Asleep time.Duration
	// Busy bounds one that works in silence. It cannot be told from one that
	// works forever.
	Busy time.Duration
}

// What holds where Patience says nothing.
const (
	// DefaultAsleep is longer than any wait for a slow disk that was seen.
	DefaultAsleep = 2 * time.Minute
	// DefaultBusy is longer than the steps that Blender is known to be silent in:
	// building the BVH of a scene that fills the memory, evaluating heavy modifiers,
	// compiling GPU kernels.
	DefaultBusy = 30 * time.Minute
)

func (p Patience) withDefaults() Patience {
	if p.Asleep <= 0 {
		p.Asleep = DefaultAsleep
	}
	if p.Busy <= 0 {
		p.Busy = DefaultBusy
	}
	return p
}

// look is how often a silent process is looked at.
func (p Patience) look() time.Duration {
	return min(max(min(p.Asleep, p.Busy)/8, 5*time.Millisecond), 5*time.Second)
}

// verdict says why a command is given up that made its last progress and did its
// last work so long ago; "" while it may go on.
func (p Patience) verdict(progress, work time.Duration) string {
	switch {
	case progress > p.Busy:
		return fmt.Sprintf("it worked for %s and reported nothing", p.Busy)
	case min(progress, work) > p.Asleep:
		return fmt.Sprintf("it neither worked nor reported anything for %s", p.Asleep)
	}
	return ""
}

// vigil watches one command of a process.
type vigil struct {
	patience      Patience
	pid           int
	gpu           bool
	moved, worked time.Time     // the last progress, the last work seen
	looked        time.Time     // when spent was read
	spent         time.Duration // CPU time
	procfs, sysfs fs.FS
}

func (p *Process) vigil() *vigil {
	now := time.Now()
	v := &vigil{
		patience: p.opts.Patience.withDefaults(), pid: p.PID(), gpu: p.opts.Device == GPU,
		moved: now, worked: now, looked: now, procfs: os.DirFS("/proc"), sysfs: os.DirFS("/sys"),
	}
	v.spent = treeCPU(v.procfs, v.pid)
	return v
}

// idleShare is the share of one core below which a process counts as asleep:
// timers and housekeeping stay far under it, one working thread far above.
const idleShare = 0.05

// look notes work done since the last look and returns verdict's reason.
func (v *vigil) look(now time.Time) string {
	spent := treeCPU(v.procfs, v.pid)
	if float64(spent-v.spent) > idleShare*float64(now.Sub(v.looked)) || v.gpu && gpuBusy(v.sysfs) {
		v.worked = now
	}
	v.spent, v.looked = spent, now
	return v.patience.verdict(now.Sub(v.moved), now.Sub(v.worked))
}

// clockTick is the unit of /proc/PID/stat, the same on every Linux.
const clockTick = 10 * time.Millisecond

// treeCPU is the CPU time of a process, its descendants and those of them that
// have ended and were waited for. What cannot be read counts nothing.
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

// gpuBusy tells whether any GPU works, where the kernel says so (amdgpu does). The
// CUDA runtime polls while its GPU works, so that CPU time tells of that.
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
