package benchmark

import (
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
)

// Reason is why a well-formed receipt does not count; "" means that it counts.
type Reason string

// Reasons. A receipt with one is stored and never shown.
const (
	WrongPixels         Reason = "wrong_pixels"
	TooFast             Reason = "too_fast"
	DeviceMismatch      Reason = "device_mismatch"
	VersionMismatch     Reason = "version_mismatch"
	SyntheticNotAllowed Reason = "synthetic_not_allowed"
)

// Bounds of a run that counts.
const (
	// Tolerance is the largest accepted difference between a picture and its
	// reference. Devices add up light in different orders, so equal scenes differ a
	// little.
	Tolerance = 0.02
	// LeastSeconds is the shortest measured time of one scene.
	LeastSeconds = 5
	// MostSamplesPerMinute is far above any device: a higher claim is not a render.
	MostSamplesPerMinute = 300_000
	// ClockSlack is how far a worker's clock may be ahead.
	ClockSlack = 5 * time.Minute
)

// Worker is what the service knows about the sender of a receipt from its
// registration.
type Worker struct {
	Device         string
	DeviceName     string
	BlenderVersion string
	Synthetic      bool
}

// Judge decides whether a receipt counts, and if not, why, in one line. It trusts no
// member that it can compare with something else.
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

func judgePictures(r Receipt) (Reason, string) {
	for _, s := range r.Scenes {
		if !s.MatchesReference || s.Difference > Tolerance {
			return WrongPixels, fmt.Sprintf("scene %s differs from its reference by %.4f", s.Scene, s.Difference)
		}
	}
	return "", ""
}

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
