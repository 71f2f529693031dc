package sandbox

import (
	"fmt"
	"syscall"
)

// Hit names a limit that a program met.
type Hit string

// The limits that show in how a program ended. A program that handles the error about
// too large a file (EFBIG) or too many open ones (EMFILE) reports that itself.
const (
	HitNone     Hit = ""
	HitMemory   Hit = "memory"
	HitTasks    Hit = "tasks"
	HitCPU      Hit = "cpu"
	HitFileSize Hit = "file size"
)

// Ending is how a program ended. The zero Ending is success.
type Ending struct {
	Status int            // exit status, where Signal is 0
	Signal syscall.Signal // that ended it, 0 for none
	Hit    Hit            // the limit that ended it, or that it met before it failed
	Limit  string         // that limit, for people
}

// String is for logs and messages: "status 1" or "signal killed".
func (e Ending) String() string {
	if e.Signal != 0 {
		return "signal " + e.Signal.String()
	}
	return fmt.Sprintf("status %d", e.Status)
}
