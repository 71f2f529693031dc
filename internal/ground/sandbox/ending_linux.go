package sandbox

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// bySignal is what shells, and bubblewrap, add to a signal's number to make an exit
// status.
const bySignal = 128

// ending translates what the kernel and bubblewrap report. It must run before the
// group is removed, whose counts show which limit was reached.
func (p *Process) ending(waitErr error) Ending {
	var e Ending
	var exit *exec.ExitError
	if errors.As(waitErr, &exit) {
		status, _ := exit.Sys().(syscall.WaitStatus)
		e.Status = status.ExitStatus()
		switch {
		case status.Signaled():
			e.Status, e.Signal = 0, status.Signal()
		// Bubblewrap passes a signal on as a status; without it the kernel's own
		// word is above.
		case p.init != nil && e.Status > bySignal && e.Status <= bySignal+64:
			e.Status, e.Signal = 0, syscall.Signal(e.Status-bySignal)
		}
	}
	e.Hit = p.hit(e)
	switch e.Hit {
	case HitMemory:
		e.Limit = Size(p.limits.Memory)
		if !p.sandboxed {
			e.Limit = Size(memory())
		}
	case HitTasks:
		e.Limit = fmt.Sprint(p.limits.Tasks)
	case HitCPU:
		e.Limit = p.limits.CPU.String()
	case HitFileSize:
		e.Limit = Size(p.limits.FileSize)
	}
	return e
}

// hit finds the limit behind an ending. The kernel's own counts distinguish a
// program killed for memory from one killed otherwise. Without a group of its own
// only the machine's count is available, so another program's end may be taken for
// this one's.
func (p *Process) hit(e Ending) Hit {
	oom, tasks := p.group.hits()
	switch {
	case e.Signal == syscall.SIGKILL && p.group != nil && oom:
		return HitMemory
	case e.Signal == syscall.SIGKILL && p.group == nil && systemOOMKills() > p.before && p.before >= 0:
		return HitMemory
	case e.Signal == syscall.SIGXCPU:
		return HitCPU
	case e.Signal == syscall.SIGXFSZ:
		return HitFileSize
	case tasks && e != (Ending{}):
		return HitTasks
	}
	return HitNone
}
