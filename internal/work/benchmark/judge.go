package benchmark

import (
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
)

// Reason is why a well-formed receipt does not count; "" means that it counts.
// It is stored and published, so a value never changes its meaning.
type Reason string

// Reasons. A receipt with one is stored and never shown.
const (
	WrongPixels         Reason = "wrong_pixels"          // a picture is not that of its reference
	TooFast             Reason = "too_fast"              // no device can, or it was timed too short
	DeviceMismatch      Reason = "device_mismatch"       // not what the worker registered with
	VersionMismatch     Reason = "version_mismatch"      // not comparable with other results
	SyntheticNotAllowed Reason = "synthetic_not_allowed" // nothing was rendered
	ChallengeMismatch   Reason = "challenge_mismatch"    // not what the service drew for this run
)

// Bounds of a run that counts.
const (
	// Tolerance is the largest accepted difference between a picture and its
	// reference. Devices add up light in different orders, so equal scenes differ a
	// little.
	Tolerance = 0.02
	// LeastSeconds is the shortest measured time of one scene. In a shorter time the start of
	// a frame weighs too much. bench-v1 times each scene for at least 20 seconds.
	LeastSeconds = 5
	// MostSamplesPerMinute is far above any device: a higher claim is not a render.
	MostSamplesPerMinute = 300_000
	// ClockSlack is how far a worker's clock may be ahead.
	ClockSlack = 5 * time.Minute
)

// Worker is what the service knows about the sender of a receipt from its registration. A
// receipt must agree with it: a worker cannot register one device and measure another.
type Worker struct {
	Device         string // GPU or CPU
	DeviceName     string // as Cycles names it
	BlenderVersion string
	Synthetic      bool // it renders nothing
}

// Judge decides whether a receipt counts, and if not, why, in one line. It trusts no
// member that it can compare with something else. It is pure: equal arguments give equal
// answers. r must have passed Open, which checks that it does not contradict itself. The
// first reason found is returned.
func Judge(r Receipt, from Worker, now time.Time, allowSynthetic bool) (Reason, string) {
	for _, judge := range []func() (Reason, string){
		func() (Reason, string) {
			if r.Synthetic && !allowSynthetic {
				return SyntheticNotAllowed, "the service takes no synthetic results"
			}
			return "", ""
		},
		func() (Reason, string) { return judgeVersions(r, from) },
		func() (Reason, string) { return judgeDevice(r, from) },
		func() (Reason, string) { return judgePictures(r) },
		func() (Reason, string) { return judgeSpeed(r, now) },
	} {
		if reason, why := judge(); reason != "" {
			return reason, why
		}
	}
	return "", ""
}

// judgeVersions requires the contract's Blender for a GPU. A CPU enters no ranking,
// so any Blender that the worker registered with is accepted.
func judgeVersions(r Receipt, from Worker) (Reason, string) {
	for _, v := range [][3]string{
		{"benchmark_version", r.BenchmarkVersion, contract.BenchmarkVersion},
		{"scene_version", r.SceneVersion, contract.SceneVersion},
		{"scoring_version", r.ScoringVersion, contract.ScoringVersion},
		{"blender_version", r.BlenderVersion, from.BlenderVersion},
	} {
		if v[1] != v[2] {
			return VersionMismatch, fmt.Sprintf("%s is %s, wanted %s", v[0], v[1], v[2])
		}
	}
	if r.RenderDevice == GPU && r.BlenderVersion != contract.BlenderVersion {
		return VersionMismatch, fmt.Sprintf("a GPU is measured with Blender %s, not %s", contract.BlenderVersion, r.BlenderVersion)
	}
	names := SceneNames()
	for i, s := range r.Scenes {
		if len(r.Scenes) != len(names) || s.Scene != names[i] {
			return VersionMismatch, fmt.Sprintf("the scenes are not those of %s", contract.SceneVersion)
		}
		if s.ReferenceSHA256 != Reference(s.Scene) {
			return VersionMismatch, fmt.Sprintf("scene %s was compared with another picture than that of %s", s.Scene, contract.SceneVersion)
		}
	}
	return "", ""
}

// judgeDevice compares the receipt with the registration. A GPU without a name cannot
// be ranked by name.
func judgeDevice(r Receipt, from Worker) (Reason, string) {
	switch {
	case r.Synthetic != from.Synthetic:
		return DeviceMismatch, "the receipt and its worker do not agree on whether anything is rendered"
	case r.RenderDevice != from.Device:
		return DeviceMismatch, fmt.Sprintf("rendered on %s by a worker that registered as %s", r.RenderDevice, from.Device)
	case r.RenderDevice == GPU && nameless(r):
		return DeviceMismatch, "the GPU has no name"
	case r.RenderDevice == GPU && r.GPUName != from.DeviceName:
		return DeviceMismatch, fmt.Sprintf("rendered on %s by a worker that registered with %s", r.GPUName, from.DeviceName)
	}
	return "", ""
}

// nameless reports that a GPU's name is empty or a placeholder, in any spelling.
func nameless(r Receipt) bool {
	slug := NameOf(r.GPUName, r.GPUMemoryBytes).Slug
	return slug == "" || slug == Unknown
}

// judgePictures relies on the difference that the worker states: the service does not get
// these pictures, only that of a challenge. The hash of the reference shows what it was
// compared with.
func judgePictures(r Receipt) (Reason, string) {
	for _, s := range r.Scenes {
		if !s.MatchesReference || s.Difference > Tolerance {
			return WrongPixels, fmt.Sprintf("scene %s differs from its reference by %.4f", s.Scene, s.Difference)
		}
	}
	return "", ""
}

// judgeSpeed refuses times and rates that no device reaches. Slow results always count.
func judgeSpeed(r Receipt, now time.Time) (Reason, string) {
	if r.CompletedAt.After(now.Add(ClockSlack)) {
		return TooFast, "it ends in the future"
	}
	for _, s := range r.Scenes {
		if s.RenderSeconds < LeastSeconds {
			return TooFast, fmt.Sprintf("scene %s was timed for %.1f s, less than %d", s.Scene, s.RenderSeconds, LeastSeconds)
		}
		if s.SamplesPerMinute > MostSamplesPerMinute {
			return TooFast, fmt.Sprintf("scene %s at %.0f samples per minute", s.Scene, s.SamplesPerMinute)
		}
	}
	return "", ""
}

// Drawn is a challenge as the service has it.
type Drawn struct {
	Challenge
	NodeKeyID, WorkerID string    // for whom it was drawn
	At, Until           time.Time // by the service's clock
	Ended               bool      // it is answered, or its key has drawn another one
}

// JudgeAnswer decides whether a receipt that Judge accepts answers its challenge, and if
// not, why. unread says what is wrong with the picture, nil when it is that of the receipt.
// The clock is the service's: a run cannot have been longer than the time between drawing
// and receipt. r.Challenge is not nil.
func JudgeAnswer(r Receipt, drawn Drawn, nodeKeyID, workerID string, unread error, now time.Time) (Reason, string) {
	switch between := now.Sub(drawn.At).Seconds(); {
	case drawn.NodeKeyID != nodeKeyID || drawn.WorkerID != workerID:
		return ChallengeMismatch, "it is not a challenge of this node key and worker"
	case drawn.Ended:
		return ChallengeMismatch, "its challenge is answered already, or its node key has drawn another one since"
	case now.After(drawn.Until):
		return ChallengeMismatch, "its challenge has expired"
	case r.Challenge.Challenge != drawn.Challenge:
		return ChallengeMismatch, "it answers another challenge than was drawn"
	case unread != nil:
		return WrongPixels, unread.Error()
	case r.RenderSeconds > between:
		return TooFast, fmt.Sprintf("%.1f s on the clock within the %.1f s since its challenge was drawn", r.RenderSeconds, between)
	}
	return "", ""
}

// Rules of standings.
const (
	// OutlierTimes is how many times the median of its GPU a score may be.
	OutlierTimes = 2
	// OutlierVoices is from how many voices a GPU's median says what is far.
	OutlierVoices = 5
	// TopReferences is how many of the best places are taken only after a reference render.
	TopReferences = 10
)
