package sandbox

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// Hit names a limit that a program ran into.
type Hit string

// The limits that show in how a program ended. A program whose files grow too
// large, or that opens too many, gets the error itself (EFBIG, EMFILE).
const (
	HitNone   Hit = ""
	HitMemory Hit = "memory"
	HitTasks  Hit = "tasks"
	HitCPU    Hit = "cpu"
)

// Ending is how a program ended.
type Ending struct {
	Status int            // exit status, where Signal is 0
	Signal syscall.Signal // that ended it, 0 for none
	Hit    Hit            // the limit that ended it, or that it met before it failed
	Limit  string         // that limit, for people
}

func (e Ending) String() string {
	if e.Signal != 0 {
		return "signal " + e.Signal.String()
	}
	return fmt.Sprintf("status %d", e.Status)
}

// bySignal is what shells, and bubblewrap, add to a signal's number to make it an
// exit status.
const bySignal = 128

func (p *Process) ending(waitErr error) Ending {
	var e Ending
	var exit *exec.ExitError
	if errors.As(waitErr, &exit) {
		status, _ := exit.Sys().(syscall.WaitStatus)
		e.Status = status.ExitStatus()
		switch {
		case status.Signaled():
			e.Status, e.Signal = 0, status.Signal()
		case p.first != nil && e.Status > bySignal && e.Status <= bySignal+64:
			e.Status, e.Signal = 0, syscall.Signal(e.Status-bySignal)
		}
	}
	e.Hit = p.hit(e)
	switch e.Hit {
	case HitMemory:
		e.Limit = Size(p.limits.Memory)
		if !p.walled {
			e.Limit = Size(memory())
		}
	case HitTasks:
		e.Limit = fmt.Sprint(p.limits.Tasks)
	case HitCPU:
		e.Limit = p.limits.CPU.String()
	}
	return e
}

// hit finds the limit behind an ending. A program killed for memory is known from
// one that somebody else killed by the kernel's own counts.
func (p *Process) hit(e Ending) Hit {
	oom, tasks := p.group.hits()
	switch {
	case e.Signal == syscall.SIGKILL && p.group != nil && oom:
		return HitMemory
	case e.Signal == syscall.SIGKILL && p.group == nil && systemOOMKills() > p.before && p.before >= 0:
		return HitMemory
	case e.Signal == syscall.SIGXCPU:
		return HitCPU
	case tasks && e != (Ending{}):
		return HitTasks
	}
	return HitNone
}
