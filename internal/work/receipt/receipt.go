// Package receipt states what a finished job received, did, charged and
// delivered, signs that statement, and checks it again without a network.
//
// What always holds:
//   - A receipt is an in-toto Statement v1 in a DSSE envelope, signed with one
//     Ed25519 key. Its subjects are the artifact and the input, by SHA-256.
//   - The same receipt and key always give the same bytes.
//   - Reading is strict: a document counts only if it says exactly what Sign
//     would have written. Unknown or repeated members, other encodings of the
//     same bytes and trailing data are refused.
//   - Checking needs the envelope, the public keys and the ZIP, and for the log
//     the proof, nothing else.
//   - A checkpoint of the log is a C2SP signed note by the same kind of key; its
//     text is never one that DSSE signs.
//
// It leaves to others: when a receipt is made and where it is kept (render),
// keeping the log (receiptlog), which key signs when (signing), writing the ZIP
// (render), and how a pixel hash is formed (pixels).
//
// Start reading at [Receipt], then [Sign] and [Verify], then [Inclusion].
package receipt

import "time"

// Receipt is the signed statement about one completed job. Every member but a frame's
// Finding is always present in the JSON; LogIndex may be null.
type Receipt struct {
	ReceiptID      string    `json:"receipt_id"`
	JobID          string    `json:"job_id"`
	WorkspaceID    string    `json:"workspace_id"`
	Input          File      `json:"input"`
	Artifact       File      `json:"artifact"`
	Frames         []Frame   `json:"frames"` // by rising frame number
	FrameStart     int       `json:"frame_start"`
	FrameEnd       int       `json:"frame_end"`
	FrameStep      int       `json:"frame_step"`
	FrameCount     int       `json:"frame_count"`
	Renderer       Renderer  `json:"renderer"`
	RenderDevice   string    `json:"render_device"` // the device that rendered: "GPU" or "CPU"
	DeviceName     string    `json:"device_name"`
	Switched       []string  `json:"switched"`       // settings that differ from the file's, such as "denoise_off"; sorted
	RenderSeconds  float64   `json:"render_seconds"` // sum over the frames
	QuoteID        string    `json:"quote_id"`
	PricingVersion string    `json:"pricing_version"`
	ChargedCents   int64     `json:"charged_cents"`
	Currency       string    `json:"currency"`
	StartedAt      time.Time `json:"started_at"`
	CompletedAt    time.Time `json:"completed_at"`
	LogIndex       *int64    `json:"log_index"` // leaf in the append-only log; null without one
}

// File identifies bytes by their SHA-256 in lower-case hex.
type File struct {
	Filename  string `json:"filename"`
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// Frame is one delivered picture. File is its bare name, "frame_0001.png"; its path
// in the ZIP is [FrameEntry](File).
type Frame struct {
	Frame         int     `json:"frame"`
	File          string  `json:"file"`
	SHA256        string  `json:"sha256"`
	PixelSHA256   string  `json:"pixel_sha256"` // over decoded pixels: equal renders agree here even where file bytes differ
	SizeBytes     int64   `json:"size_bytes"`
	RenderSeconds float64 `json:"render_seconds"`
	// Finding is what the frame check noticed and accepted: "uniform", "blank" or
	// "pink"; absent when there was nothing.
	Finding string `json:"finding,omitempty"`
}

// Renderer is the software that rendered, as it reported itself.
type Renderer struct {
	ID          string `json:"id"`
	Application string `json:"application"`
	Version     string `json:"version"`
	BuildHash   string `json:"build_hash"`
	Engine      string `json:"engine"`
}
