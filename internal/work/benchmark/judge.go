package benchmark

import (
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
)

// Reason is why a well-formed receipt does not count; "" = it counts.
type Reason string

// The reasons. A receipt with one is kept and shown nowhere.
const (
	WrongPixels         Reason = "wrong_pixels"
	TooFast             Reason = "too_fast"
	DeviceMismatch      Reason = "device_mismatch"
	VersionMismatch     Reason = "version_mismatch"
	SyntheticNotAllowed Reason = "synthetic_not_allowed"
)

// Bounds of a run that counts.
const (
	// Tolerance is the largest difference of a picture from its reference.
	// Devices add up light in another order, so equal scenes differ a little.
	Tolerance = 0.02
	// LeastSeconds is the shortest time on the clock for one scene.
	LeastSeconds = 5
	// MostSamplesPerMinute is far above any device: who claims more did not render.
	MostSamplesPerMinute = 300_000
	// ClockSlack is how far a worker's clock may be ahead.
	ClockSlack = 5 * time.Minute
)

// Worker is what the service knows of who sends a receipt, from its registration.
type Worker struct {
	Device         string
	DeviceName     string
	BlenderVersion string
	Synthetic      bool
}

// Judge tells whether a receipt counts, and if not, why in one line. It trusts
// nothing that it can hold against something else.
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

// judgeVersions: a GPU is measured with the contract's Blender. A CPU enters no
// table, so any Blender will do that the worker registered with.
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

// nameless says that nothing is left of a GPU's name but what stands for none,
// however it is written.
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
