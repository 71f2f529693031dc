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

// MissingCapability reports that the worker does not have a capability that the job needs.
// Another worker may have it, so the failure does not count as an attempt of the frame.
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

// notAboutFrame reports that the failure is not about the frame: it is the worker's fault, or
// the store's, which can lose all frames of a job at once.
func (f Failure) notAboutFrame() bool {
	return f.Code == fault.WorkerLost || f.Code == fault.GPUUnavailable || f.Code == fault.PackagingFailed
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
	// agreeingKeys is the number of node keys whose workers must fail before a job does:
	// the holder of one key could otherwise fail every job of every workspace.
	agreeingKeys = 2
)

// History contains the facts of a frame and its job after a failed attempt.
type History struct {
	Attempts        int  // of this frame that count, with the latest one
	Checks          int  // how many of them failed the frame check
	SuspectBefore   bool // this worker delivered a suspect picture before
	SameCode        int  // attempts of the job's frames that failed with this code
	SameCodeWorkers int  // workers of those attempts
	SameCodeKeys    int  // node keys of those workers
	AnyAccepted     bool // a frame of the job is accepted
	OtherWorkers    bool // a worker is online that has not tried this frame
	Keys            int  // node keys of the attempts that count
	OtherKey        bool // a worker of another key than the latest attempt's was online within the last hour
	Void            bool // the latest attempt does not count
}

// Add counts the attempts of the frame. holder and number are those of the latest one,
// which attempts contains too.
func (h *History) Add(attempts []Attempt, holder string, number int64) {
	keys := map[string]bool{}
	for _, a := range attempts {
		h.Void = h.Void || (a.Void && a.Number == number)
		if a.MissingCapability || a.Void {
			continue
		}
		h.Attempts++
		if a.Code != fault.PackagingFailed {
			keys[a.KeyID] = true
		}
		if a.Code == fault.FrameCheckFailed && a.PixelSHA256 == "" {
			h.Checks++
		}
		h.SuspectBefore = h.SuspectBefore || (a.PixelSHA256 != "" && a.Holder == holder && a.Number != number)
	}
	h.Keys = len(keys)
}

// EndsJob decides whether a failed attempt ends the job. Each case is a reason why no
// further attempt can help; otherwise the frame goes to the next worker. In every case
// workers of two keys must have failed, unless no other key is there.
func (f Failure) EndsJob(h History) bool {
	switch {
	case h.Void:
		return false
	case f.MissingCapability():
		return !h.OtherWorkers && h.agreed(h.SameCodeKeys)
	case f.exhausts(h):
		return f.Code == fault.PackagingFailed || h.agreed(h.Keys) // what the store lost is no worker's word
	}
	firstFramesAlike := !h.AnyAccepted && !f.notAboutFrame() && h.SameCode >= sameCodeAttempts && h.SameCodeWorkers >= sameCodeWorkers
	return firstFramesAlike && h.agreed(h.SameCodeKeys)
}

// AwaitsOtherKey reports that the attempt would end the job if a worker of another key
// agreed. Until one does, further attempts by the same key are of no use.
func (f Failure) AwaitsOtherKey(h History) bool {
	alone := h
	alone.OtherKey = false
	return !f.EndsJob(h) && f.EndsJob(alone)
}

// exhausts reports that no further attempt of this frame can help.
func (f Failure) exhausts(h History) bool {
	unconfirmed := f.SuspectPixels != "" && h.SuspectBefore && !h.OtherWorkers
	return f.Final || unconfirmed || h.Attempts >= maxAttempts || h.Checks >= maxCheckFailures
}

// agreed reports whether so many keys are enough to end a job.
func (h History) agreed(keys int) bool { return keys >= agreeingKeys || !h.OtherKey }
