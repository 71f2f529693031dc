package blender

import "fmt"

// The failure codes that a process ends in.
const (
	Crashed             = "blender_crashed"
	OutOfMemory         = "out_of_memory"
	DenoiserUnavailable = "denoiser_unavailable"
	GPUUnavailable      = "gpu_unavailable"
	FrameCheckFailed    = "frame_check_failed"
	NoProgress          = "no_progress"
)

// Error is why a process could not do what it was told.
type Error struct {
	Code    string // one of the failure codes above
	Message string // one line for people, without paths of the machine
	Log     string // the last lines of Blender's output, without paths, at most FrameLogBytes
	// Final is set where a process of the same Blender version would fail the
	// same way: a file that cannot be opened, a denoiser that is not built in.
	Final bool
	cause error // the context's error when the caller ended the call
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap gives the context's error when the caller's context ended the call.
func (e *Error) Unwrap() error { return e.cause }
