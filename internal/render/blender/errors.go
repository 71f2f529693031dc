package blender

import "fmt"

// Failure codes of a process. They are those of package fault (decisions 10),
// repeated here because a worker's machine does not need the service's vocabulary.
const (
	Crashed             = "blender_crashed"
	OutOfMemory         = "out_of_memory"
	DenoiserUnavailable = "denoiser_unavailable"
	GPUUnavailable      = "gpu_unavailable"
	FrameCheckFailed    = "frame_check_failed"
	NoProgress          = "no_progress"
	FrameTimeExceeded   = "frame_time_exceeded"
	TooManyOutputs      = "too_many_outputs"
	OCIOUnusable        = "ocio_unusable"

	// EncoderUnavailable is of Movie alone, and no failure of a frame: another Blender may
	// encode it.
	EncoderUnavailable = "encoder_unavailable"
)

// Error is why a process could not execute a command.
type Error struct {
	Code    string // one of the failure codes above
	Message string // one line for people, without paths of the machine
	Log     string // the last lines of Blender's output, without paths, at most FrameLogBytes
	// Final reports that any process of the same Blender version would fail in the
	// same way: a file that does not open, a denoiser that is not built in.
	Final bool
	cause error // the context's error when the caller ended the call
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap returns the context's error when the caller's context ended the call.
func (e *Error) Unwrap() error { return e.cause }
