// Package benchmark defines what a benchmark run states, signs and reads that
// statement, and judges whether it counts.
//
// What always holds: the worker that measured signs a [Receipt]. A [Record] is the
// service's own signed statement about an accepted receipt. Both are in-toto
// Statements v1 in DSSE envelopes, signed with Ed25519 keys of package receipt; equal
// content and keys give equal bytes. Reading is strict: a document counts only if it
// is exactly what was written, and does not contradict itself. A score is a whole
// number of thousandths, so ties and ranks are exact. Nothing here uses a database,
// because workers use this package too.
//
// The package leaves rendering and comparing to measure, and storing and ranking to
// leaderboard. Start reading at [Receipt], then [Judge]; names.go normalizes the
// names of GPUs.
package benchmark

import (
	"math"
	"time"
)

// Devices of a run.
const (
	GPU = "GPU"
	CPU = "CPU"
)

// Unknown replaces a text that the worker could not determine.
const Unknown = "unknown"

// Receipt is what a worker states about one run. Every member is always present in the JSON, except
// a challenge; unknown texts are "unknown", unknown sizes null. Texts have 1 to 200 bytes of plain
// text. Times and sizes are the worker's claims; Judge compares what can be compared.
type Receipt struct {
	BenchmarkVersion string     `json:"benchmark_version"`
	SceneVersion     string     `json:"scene_version"`
	ScoringVersion   string     `json:"scoring_version"`
	RenderDevice     string     `json:"render_device"`    // GPU or CPU: what really rendered
	GPUName          string     `json:"gpu_name"`         // as Cycles names it; "unknown" of a CPU run
	GPUVendor        string     `json:"gpu_vendor"`       // a vendor of Brands, or "unknown"
	GPUMemoryBytes   *int64     `json:"gpu_memory_bytes"` // as the driver reports it
	GPUDriver        string     `json:"gpu_driver"`       // version of the driver
	CPUName          string     `json:"cpu_name"`
	RAMBytes         *int64     `json:"ram_bytes"`
	OS               string     `json:"os"`
	BlenderVersion   string     `json:"blender_version"`
	BlenderBuildHash string     `json:"blender_build_hash"`
	Synthetic        bool       `json:"synthetic"`      // nothing was rendered: a test of the service itself
	Scenes           []SceneRun `json:"scenes"`         // in the order of SceneNames
	RenderSeconds    float64    `json:"render_seconds"` // timed, summed over the scenes
	StartedAt        time.Time  `json:"started_at"`     // by the worker's clock
	CompletedAt      time.Time  `json:"completed_at"`   // by the worker's clock; at least RenderSeconds later
	// Challenge is what the service drew for this run, nil of a run without one.
	Challenge *Answer `json:"challenge,omitempty"`
}

// SceneRun is the measurement of one scene. A sample is one pass over the whole
// picture.
type SceneRun struct {
	Scene            string  `json:"scene"`
	Samples          int64   `json:"samples"`            // rendered while the clock ran, after the warm-up
	RenderSeconds    float64 `json:"render_seconds"`     // on the clock
	SamplesPerMinute float64 `json:"samples_per_minute"` // Rate(Samples, RenderSeconds)
	// PixelSHA256 and ReferenceSHA256 identify the compared picture and its reference
	// by the SHA-256 of their decoded pixels.
	PixelSHA256     string `json:"pixel_sha256"`
	ReferenceSHA256 string `json:"reference_sha256"`
	// Difference of the picture from the reference, both averaged over squares: the
	// root mean square over all channels, each from 0 to 1.
	Difference       float64 `json:"difference"`
	MatchesReference bool    `json:"matches_reference"` // the worker's own verdict
}

// SceneNames returns the scenes of contract.SceneVersion, in order. A receipt lists them
// in this order. Another set of scenes is another scene version.
func SceneNames() []string { return []string{"geometry", "texture", "light"} }

// Reference returns the SHA-256 of the decoded pixels of a scene's reference picture in
// contract.SceneVersion; "" for an unknown scene. The service knows the hash and not the
// picture: the pictures are part of package measure, which only workers need.
func Reference(scene string) string {
	switch scene {
	case "geometry":
		return "2588541c1412f7f08cb153a1ce8d1bdb37dcacbaaed41a313b49d0fa2b51046a"
	case "texture":
		return "4c5dc8cb9898aeeaafd6a765aa42c67f51b3cb1e1a5235c99c937b74efa8a432"
	case "light":
		return "2031449adc7fc22ddd24a7018a4d93bd9ac57234134295d05204e608b9ac330e"
	}
	return ""
}

// Rate is samples per minute, rounded to the thousandth. samples is at least 1 and seconds
// above 0: Sign and Open refuse others.
func Rate(samples int64, seconds float64) float64 {
	return math.Round(float64(samples)*60/seconds*1000) / 1000
}

// Score is score-v1 in thousandths: samples per minute, summed over the scenes. Higher is
// better. Whole thousandths add up without rounding, so the sum does not depend on the
// order.
func (r Receipt) Score() int64 {
	sum := int64(0)
	for _, s := range r.Scenes {
		sum += int64(math.Round(s.SamplesPerMinute * 1000))
	}
	return sum
}

// DeviceName returns the name of the device that rendered.
func (r Receipt) DeviceName() string {
	if r.RenderDevice == CPU {
		return r.CPUName
	}
	return r.GPUName
}

// Record is the service's statement about an accepted receipt. It repeats the receipt as
// the worker signed it. LogIndex is inside what is signed, so a record names the one leaf
// that proves it.
type Record struct {
	ResultID    string    `json:"result_id"`
	ReceiptID   string    `json:"receipt_id"`
	Receipt     Receipt   `json:"receipt"`
	WorkerKeyID string    `json:"worker_key_id"` // of the key that signed the receipt
	GPUSlug     string    `json:"gpu_slug"`      // "unknown" of a CPU run
	Score       float64   `json:"score"`         // samples per minute, to the thousandth
	ReceivedAt  time.Time `json:"received_at"`   // by the service's clock
	LogIndex    int64     `json:"log_index"`     // leaf in the append-only log
	// Standing is what the service held of the result when it came; "" in records from
	// before there were challenges.
	Standing Standing `json:"standing,omitempty"`
}

// Standing is whether a result is among those that are ranked, and why. It is stored and
// published, so a value never changes its meaning.
type Standing string

// Standings. Verified and Synthetic ones are ranked.
const (
	Verified   Standing = "verified"   // it answers a challenge, and a reference render confirmed it where one was asked for
	Waiting    Standing = "waiting"    // a reference render is asked for and not there yet
	Unverified Standing = "unverified" // it answers no challenge
	Outlier    Standing = "outlier"    // it is far above all others of its GPU
	Refuted    Standing = "refuted"    // reference renders show another picture
	Synthetic  Standing = "synthetic"  // nothing was rendered: only services for tests have such results
)

// Ranks reports whether a GPU's result of this standing is ranked.
func (s Standing) Ranks() bool { return s == Verified || s == Synthetic }

// StandingOf is the standing that the record gives its result.
func (r Record) StandingOf() Standing {
	switch {
	case r.Standing != "":
		return r.Standing
	case r.Receipt.Synthetic:
		return Synthetic
	}
	return Unverified
}
