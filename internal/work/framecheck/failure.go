package framecheck

import (
	"time"

	"svc.example/internal/ground/fault"
)

// Failure describes a failed attempt of a frame.
type Failure struct {
	Code    fault.Code
	Message string
	// Log is the last lines of Blender's output, without paths of the machine.
	Log string
	// Final means that the same failure is certain on every worker.
	Final bool
	// SuspectPixels is the pixel hash of a picture that another worker must confirm; ""
	// if the picture was wrong, or if there was none.
	SuspectPixels string
}

// MissingCapability reports that the worker lacks a capability that the job needs. Another
// worker may have it, so the failure does not count as an attempt of the frame.
func (f Failure) MissingCapability() bool { return f.Code == fault.DenoiserUnavailable }

// RetryDelay is the pause before the next attempt, at most LongestRetryDelay: a temporary
// cause may pass. After a lost worker or a missing capability there is none.
func (f Failure) RetryDelay() time.Duration {
	if f.Code == fault.WorkerLost || f.MissingCapability() {
		return 0
	}
	return time.Second
}

// LongestRetryDelay bounds RetryDelay. The frame queue declares it to the lease engine.
const LongestRetryDelay = 2 * time.Second

// aboutWorkerOnly reports that the failure says nothing about the frame.
func (f Failure) aboutWorkerOnly() bool {
	return f.Code == fault.WorkerLost || f.Code == fault.GPUUnavailable
}

const (
	// maxAttempts is the number of failed attempts of a frame that fails its job.
	maxAttempts = 3
	// maxCheckFailures is the number of failed frame checks that fails the job: after a
	// second wrong picture the scene is the likely cause.
	maxCheckFailures = 2
	// sameCodeAttempts failures of a job's first frames with one code, on at least
	// sameCodeWorkers workers, show that the file is at fault.
	sameCodeAttempts = 3
	sameCodeWorkers  = 2
)

// History contains the facts of a frame and its job after a failed attempt.
type History struct {
	Attempts        int  // of this frame that count, with the latest one
	Checks          int  // how many of them failed the frame check
	SuspectBefore   bool // this worker delivered a suspect picture before
	SameCode        int  // attempts of the job's frames that failed with this code
	SameCodeWorkers int  // workers of those attempts
	AnyAccepted     bool // a frame of the job is accepted
	OtherWorkers    bool // a worker is online that has not tried this frame
}

// Add counts the attempts of the frame. holder and number are those of the latest one,
// which attempts contains too.
func (h *History) Add(attempts []Attempt, holder string, number int64) {
	for _, a := range attempts {
		if a.MissingCapability {
			continue
		}
		h.Attempts++
		if a.Code == fault.FrameCheckFailed && a.PixelSHA256 == "" {
			h.Checks++
		}
		h.SuspectBefore = h.SuspectBefore || (a.PixelSHA256 != "" && a.Holder == holder && a.Number != number)
	}
}

// EndsJob decides whether a failed attempt ends the job. Each case is a reason why no
// further attempt can help; otherwise the frame goes to the next worker.
func (f Failure) EndsJob(h History) bool {
	switch {
	case f.MissingCapability():
		return !h.OtherWorkers
	case f.Final:
		return true
	case f.SuspectPixels != "" && h.SuspectBefore && !h.OtherWorkers:
		return true
	case h.Attempts >= maxAttempts || h.Checks >= maxCheckFailures:
		return true
	}
	return !h.AnyAccepted && !f.aboutWorkerOnly() && h.SameCode >= sameCodeAttempts && h.SameCodeWorkers >= sameCodeWorkers
}
