package framecheck

import (
	"time"

	"svc.example/internal/ground/fault"
)

// Failure is an attempt of a frame that came to nothing.
type Failure struct {
	Code    fault.Code
	Message string
	// Log is the last lines of Blender's output, without paths of the machine.
	Log string
	// Final says that no other worker would do better.
	Final bool
	// DoubtedPixels is the pixel hash of a picture that another worker is asked to
	// confirm; "" where the picture was wrong, or there was none.
	DoubtedPixels string
}

// Lacks says that the worker cannot render the job at all, and another may: what
// is missing is the worker's.
func (f Failure) Lacks() bool { return f.Code == fault.DenoiserUnavailable }

// RetryDelay lets what may pass pass; a lost or lacking worker says nothing of the
// frame. LongestRetryDelay bounds it.
func (f Failure) RetryDelay() time.Duration {
	if f.Code == fault.WorkerLost || f.Lacks() {
		return 0
	}
	return time.Second
}

// LongestRetryDelay is the longest that a frame is put off.
const LongestRetryDelay = 2 * time.Second

// ofMachine says that the failure tells of the worker and nothing of the frame.
func (f Failure) ofMachine() bool {
	return f.Code == fault.WorkerLost || f.Code == fault.GPUUnavailable
}

const (
	// mostAttempts is how often a frame is tried before its job fails.
	mostAttempts = 3
	// mostChecks is how often a frame may fail the frame check before its job fails.
	mostChecks = 2
	// alikeAttempts and alikeWorkers are how many attempts of a job's first frames,
	// by how many workers, tell by failing alike that the file is at fault.
	alikeAttempts = 3
	alikeWorkers  = 2
)

// History is what is known of a frame and its job when an attempt of it has failed.
type History struct {
	Attempts int  // of this frame, this one included, that count
	Checks   int  // of them, how many failed the frame check
	Again    bool // this worker has doubted the frame's picture before
	Alike    int  // attempts of the job's frames that failed with this code
	Holders  int  // workers that made those
	Begun    bool // a frame of the job is accepted
	Others   bool // a worker is there that has not tried this frame yet
}

// Add counts the attempts of the frame; number is that of the one which has just
// failed, by holder.
func (h *History) Add(attempts []Attempt, holder string, number int64) {
	for _, a := range attempts {
		if a.Lacks {
			continue
		}
		h.Attempts++
		if a.Code == fault.FrameCheckFailed && a.PixelSHA256 == "" {
			h.Checks++
		}
		h.Again = h.Again || (a.PixelSHA256 != "" && a.Holder == holder && a.Number != number)
	}
}

// EndsJob decides whether a failed attempt ends the job.
func (f Failure) EndsJob(h History) bool {
	switch {
	case f.Lacks():
		return !h.Others
	case f.Final:
		return true
	case f.DoubtedPixels != "" && h.Again && !h.Others:
		return true
	case h.Attempts >= mostAttempts || h.Checks >= mostChecks:
		return true
	}
	return !h.Begun && !f.ofMachine() && h.Alike >= alikeAttempts && h.Holders >= alikeWorkers
}
