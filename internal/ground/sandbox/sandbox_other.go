//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"runtime"
)

// errElsewhere is what every start of a program says on a system without Linux's
// namespaces. Programs are not started without a sandbox either, because that is
// untested.
var errElsewhere = fmt.Errorf("%w: Blender is isolated with means of Linux, so a worker renders on Linux only, and this is %s; "+
	"run the worker on a machine with Linux, and svc's other commands here", ErrUnavailable, runtime.GOOS)

// Sandbox starts nothing on this system.
type Sandbox struct{}

// Open always fails with ErrUnavailable.
func Open(context.Context, Config) (*Sandbox, error) { return nil, errElsewhere }

// Start always fails with ErrUnavailable.
func (*Sandbox) Start(Command) (*Process, error) { return nil, errElsewhere }

// Limits are all 0.
func (*Sandbox) Limits() Limits { return Limits{} }

// HasRoot is false.
func (*Sandbox) HasRoot() bool { return false }

// Report says that nothing is in force.
func (*Sandbox) Report() Report {
	return Report{Mode: Off, Lacking: []string{"everything: " + errElsewhere.Error()}}
}

// Process is never made on this system.
type Process struct{}

// PID is 0.
func (*Process) PID() int { return 0 }

// Kill does nothing.
func (*Process) Kill() {}

// Pause does nothing.
func (*Process) Pause() error { return nil }

// Resume does nothing.
func (*Process) Resume() error { return nil }

// Written is 0.
func (*Process) Written(...string) int64 { return 0 }

// Wait returns the zero Ending.
func (*Process) Wait() Ending { return Ending{} }

// Exec always fails: nothing of this system starts it.
func Exec([]string) int { return 1 }

// memory is not known: no program is limited by it.
func memory() int64 { return 0 }
