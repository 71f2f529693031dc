// Package farmapi is the workers' door: wire.go is what is spoken there, client.go
// the worker's half of it. The service's half is package door below.
//
// What always holds: a worker is known by a node key and touches only what it
// has leased; every report repeats worker and attempt, and a stale one is
// refused as lease_lost; what a worker receives never names a workspace. Start
// reading at wire.go.
package farmapi

import "encoding/json"

// Version 1 of the workers' door: JSON bodies under /farm/v1, except Part (bytes
// out) and Deliver (multipart: part "meta" is FrameResult as JSON, part
// "file" the image bytes, in that order). Replies carry ok=true; errors wear
// the envelope of spec 7. Durations are seconds.
const (
	PathRegister  = "/farm/v1/register"
	PathLease     = "/farm/v1/lease"
	PathHeartbeat = "/farm/v1/heartbeat"
	PathDeliver   = "/farm/v1/frames"
	PathFail      = "/farm/v1/fail"
	PathRelease   = "/farm/v1/release"
	PathBenchmark = "/farm/v1/benchmarks"
	// PathInput is followed by the job id and answers with the job's Project, or by
	// the job id, a slash and the SHA-256 of a part, and answers with its bytes. Only
	// a worker that holds a lease of that job may read either.
	PathInput = "/farm/v1/inputs/"
)

// RegisterRequest says what a worker is. It is sent at start and again whenever
// the server answers worker_not_registered.
type RegisterRequest struct {
	Name             string `json:"name"`
	Renderer         string `json:"renderer,omitempty"` // "blender", also when empty, or "synthetic"
	BlenderVersion   string `json:"blender_version"`    // "4.1.1"
	BlenderBuildHash string `json:"blender_build_hash"` // as Blender prints it; "unknown" where it prints none
	Device           string `json:"device"`             // "GPU" or "CPU"
	DeviceName       string `json:"device_name"`
	Denoise          string `json:"denoise"` // "keep" or "off"
	Sandbox          string `json:"sandbox"` // what is in force around its Blender, one line for the operator; "none"
}

// RegisterReply names the worker and the pace the server expects of it.
type RegisterReply struct {
	OK               bool    `json:"ok"`
	WorkerID         string  `json:"worker_id"`
	LeaseSeconds     float64 `json:"lease_seconds"`     // a lease without heartbeat lapses after this
	HeartbeatSeconds float64 `json:"heartbeat_seconds"` // send one at least this often while holding leases
}

// LeaseRequest asks for frames. The call is a long poll: it is answered as soon
// as there is work, and with no leases after WaitSeconds.
type LeaseRequest struct {
	WorkerID    string  `json:"worker_id"`
	JobID       string  `json:"job_id,omitempty"` // the job whose file the worker has open: its frames are preferred
	Max         int     `json:"max"`              // frames wanted, 1 or more; of another job than JobID only one comes
	WaitSeconds float64 `json:"wait_seconds"`
}

// LeaseReply hands out frames, all of one job; none when the wait ended.
type LeaseReply struct {
	OK     bool    `json:"ok"`
	Job    *Job    `json:"job,omitempty"`
	Leases []Lease `json:"leases"`
}

// Job is what a worker needs to know of a job. It never names the workspace.
type Job struct {
	JobID         string `json:"job_id"`
	InputSHA256   string `json:"input_sha256"`   // of the main file
	FramesWaiting int    `json:"frames_waiting"` // frames of this job nobody holds yet, after this reply
}

// Project lists the files of a job. It is asked for once a job, since it may be
// long, while leases come often.
type Project struct {
	OK    bool   `json:"ok"`
	Main  string `json:"main"` // path of the .blend to render
	Files []File `json:"files"`
}

// File is one file of a project: its parts in order.
type File struct {
	Path      string `json:"path"` // relative, with "/" between folders
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
	// Parts are the SHA-256 of each; a file that came whole is one part.
	Parts []string `json:"parts"`
}

// Lease is the right to render one frame until it lapses. Attempt is the fence:
// every report must repeat it.
type Lease struct {
	LeaseID string `json:"lease_id"`
	Attempt int    `json:"attempt"` // 1 for the first try
	Frame   int    `json:"frame"`
}

// Held names a lease in a report.
type Held struct {
	LeaseID  string  `json:"lease_id"`
	Attempt  int     `json:"attempt"`
	Progress float64 `json:"progress,omitempty"` // 0 to 1 inside the frame
}

// HeartbeatRequest keeps leases alive.
type HeartbeatRequest struct {
	WorkerID string `json:"worker_id"`
	Leases   []Held `json:"leases"`
}

// HeartbeatReply names the leases that are no longer the worker's: it drops them.
type HeartbeatReply struct {
	OK   bool     `json:"ok"`
	Lost []string `json:"lost"`
}

// FrameResult describes a rendered frame; the image bytes travel beside it.
type FrameResult struct {
	WorkerID         string   `json:"worker_id"`
	LeaseID          string   `json:"lease_id"`
	Attempt          int      `json:"attempt"`
	JobID            string   `json:"job_id"`
	Frame            int      `json:"frame"`
	File             string   `json:"file"` // "frame_0001.png"
	SHA256           string   `json:"sha256"`
	PixelSHA256      string   `json:"pixel_sha256"`
	SizeBytes        int64    `json:"size_bytes"`
	Width            int      `json:"width"`
	Height           int      `json:"height"`
	RenderSeconds    float64  `json:"render_seconds"`
	Device           string   `json:"device"` // what really rendered it: "GPU" or "CPU"
	DeviceName       string   `json:"device_name"`
	BlenderVersion   string   `json:"blender_version"`
	BlenderBuildHash string   `json:"blender_build_hash"`
	Switched         []string `json:"switched"` // what was changed against the file, e.g. "denoise_off", "file_output_muted"; sorted
	Log              string   `json:"log"`      // Blender's lines for this frame, paths of the machine removed, at most 16 KiB
}

// FailRequest reports a frame that could not be rendered. Code is one of the
// failure codes of decisions 10; Final says that no other worker would do better.
type FailRequest struct {
	WorkerID string `json:"worker_id"`
	LeaseID  string `json:"lease_id"`
	Attempt  int    `json:"attempt"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Log      string `json:"log"`
	Final    bool   `json:"final"`
}

// ReleaseRequest gives leases back unrendered (a worker that stops).
// It does not count as an attempt.
type ReleaseRequest struct {
	WorkerID string `json:"worker_id"`
	Leases   []Held `json:"leases"`
	Leaving  bool   `json:"leaving,omitempty"` // the worker's last word: it counts as offline at once
}

// BenchmarkRequest hands in a benchmark receipt (package benchmark: Sign). The
// worker has registered with the device and the Blender that it measured.
// Sending the same receipt again gets the same answer.
type BenchmarkRequest struct {
	WorkerID     string          `json:"worker_id"`
	Envelope     json.RawMessage `json:"envelope"`       // the signed receipt
	PublicKeyPEM string          `json:"public_key_pem"` // of the key that signed; the node key is bound to it from the first receipt on
}

// What can become of a benchmark receipt.
const (
	BenchmarkAccepted = "accepted" // countersigned, logged and shown
	BenchmarkRejected = "rejected" // kept, and shown nowhere
)

// BenchmarkReply says what became of a benchmark receipt.
type BenchmarkReply struct {
	OK              bool    `json:"ok"`
	ResultID        string  `json:"result_id"`
	Status          string  `json:"status"`            // BenchmarkAccepted or BenchmarkRejected
	Reason          *string `json:"reason"`            // why it was rejected; null when accepted
	Detail          *string `json:"detail"`            // the reason in one line; null when accepted
	ReceiptID       *string `json:"receipt_id"`        // null when rejected
	PublicResultURL *string `json:"public_result_url"` // null when rejected
}

// OKReply answers reports that have nothing to say.
type OKReply struct {
	OK bool `json:"ok"`
}
