// Package receipt states what a finished job received, did, charged and
// delivered, signs that statement, and checks it again without a network.
//
// What always holds:
//   - A receipt is an in-toto Statement v1 in a DSSE envelope, signed with one Ed25519
//     key. Its subjects are the artifact and the input, by SHA-256; for a project, all
//     its files.
//   - The same receipt and key always give the same bytes.
//   - Reading is strict: a document counts only if it says exactly what Sign
//     would have written. Unknown or repeated members, other encodings of the
//     same bytes and trailing data are refused.
//   - Checking needs the envelope, the public keys and the ZIP, and for the log
//     the proof, nothing else.
//   - A checkpoint of the log is a C2SP signed note by the same kind of key; its
//     text is never one that DSSE signs.
//
// It leaves to others: when a receipt is made and where it is stored (job), keeping
// the log (receiptlog), which key signs when (signing), writing the ZIP (artifact),
// and how a pixel hash is formed (pixels).
//
// Start reading at [Receipt], then [Sign] and [Verify], then [Inclusion]; project.go has
// what concerns the files of a project.
package receipt

import (
	"encoding/json"
	"time"

	"svc.example/internal/render/settings"
)

// Receipt is the signed statement about one completed job. Every member but FrameSet and
// a frame's Finding and Version is always present in the JSON; LogIndex may be null.
type Receipt struct {
	// ReceiptID begins with "RCT-", JobID with "JOB-", WorkspaceID with "WSP-".
	ReceiptID   string `json:"receipt_id"`
	JobID       string `json:"job_id"`
	WorkspaceID string `json:"workspace_id"`
	// Input is what was uploaded, Artifact the ZIP that the caller downloads.
	Input    Input `json:"input"`
	Artifact File  `json:"artifact"`
	// Frames are in rising order: FrameStart, then each FrameStep further, up to
	// FrameEnd. FrameCount is their number, 1 to contract.MaxFrames. If they are not
	// such a range, FrameList has them, such as "3,7-9", and FrameStep is 1.
	Frames     []Frame `json:"frames"`
	FrameStart int     `json:"frame_start"`
	FrameEnd   int     `json:"frame_end"`
	FrameStep  int     `json:"frame_step"`
	FrameCount int     `json:"frame_count"`
	FrameList  string  `json:"frame_list,omitempty"`
	// Settings are what the order chose of the file: the pictures are those of a file that was
	// saved with them. Absent where nothing was chosen.
	Settings settings.Settings `json:"settings,omitzero"`
	// OCIO is the OpenColorIO configuration of the project with which Blender ran, one of the
	// input's files; absent where it ran with its own.
	OCIO     *InputConfig `json:"ocio,omitempty"`
	Renderer Renderer     `json:"renderer"`
	// RenderDevice is what really rendered: "GPU" or "CPU". One CPU frame makes it
	// "CPU". DeviceName is the device's own name, or
	// the names of all devices.
	RenderDevice string `json:"render_device"`
	DeviceName   string `json:"device_name"`
	// Switched lists the settings that differ from the file's, such as
	// "denoise_off"; sorted, empty when nothing was changed (decisions 8).
	Switched []string `json:"switched"`
	// RenderSeconds is the sum over the frames, not the time that the job took.
	RenderSeconds  float64 `json:"render_seconds"`
	QuoteID        string  `json:"quote_id"`
	PricingVersion string  `json:"pricing_version"`
	// ChargedCents is what was captured from the wallet, in Currency's hundredths.
	ChargedCents int64  `json:"charged_cents"`
	Currency     string `json:"currency"`
	// StartedAt is the first claim of a frame, CompletedAt the time of the
	// transaction that completed the job; both in UTC, to the microsecond.
	StartedAt   time.Time `json:"started_at"`
	CompletedAt time.Time `json:"completed_at"`
	// LogIndex is the receipt's leaf in the append-only log, from 0; null if the
	// service has no log.
	LogIndex *int64 `json:"log_index"`
	// Test says that it is a receipt of test mode: nothing was rendered or paid. Its
	// type says so too ([TestPredicateType]); absent in every other receipt.
	Test bool `json:"test,omitempty"`
	// FrameSet is a signed statement about the tree over Frames, with which one of them can
	// be shown without the others ([ProveFrame]); absent in receipts of earlier versions.
	FrameSet json.RawMessage `json:"frame_set,omitempty"`
}

// File identifies bytes by their SHA-256 in lower-case hex. Filename is what the caller
// or the service calls them; it takes no part in any check of the bytes.
type File struct {
	Filename  string `json:"filename"`
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// Frame is one delivered picture. File is its bare name, "frame_0001.png"; its path in
// the ZIP is [FrameEntry](File). RenderSeconds is the time of the accepted attempt
// only.
type Frame struct {
	Frame         int     `json:"frame"`
	File          string  `json:"file"`
	SHA256        string  `json:"sha256"`
	PixelSHA256   string  `json:"pixel_sha256"` // over decoded pixels: equal renders agree here even where file bytes differ
	SizeBytes     int64   `json:"size_bytes"`
	RenderSeconds float64 `json:"render_seconds"`
	// Finding is what the frame check noticed and accepted: "black", "pink", "uniform"
	// or "blank"; absent when there was nothing.
	Finding string `json:"finding,omitempty"`
	// Checked is what the service looked at itself: "pixels" where it decoded them,
	// "structure" where it only walked through the file; absent in older receipts.
	Checked string `json:"checked,omitempty"`
	// Version is that of the Blender that rendered the frame, where an operator let several
	// versions render the job; absent where all frames have the renderer's.
	Version string `json:"version,omitempty"`
	// Times are where the time of the accepted attempt went; absent if its worker did not
	// report them.
	Times Times `json:"times,omitempty,omitzero"`
	// Reused says from where the frame was taken over, of a job that did not render or pay
	// it; absent in all others.
	Reused Origin `json:"reused,omitempty,omitzero"`
	// Strips are the parts of the frame that several workers rendered, from the top; absent
	// where one worker rendered it.
	Strips []Strip `json:"strips,omitempty"`
	// Outputs are the files that File Output nodes wrote for the frame; absent without any.
	Outputs []Output `json:"outputs,omitempty"`
}

// InputConfig is an OpenColorIO configuration among the files of the input, which also has the
// files that it needs.
type InputConfig struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Output is a file that a frame has besides its picture. Its path in the ZIP is
// [OutputEntry](Name).
type Output struct {
	Name      string `json:"name"` // with folders, such as "depth/Image0001.exr"
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// Strip is a part of a frame that one of several workers rendered.
type Strip struct {
	From   int    `json:"from"`   // its first row, counted from the top
	To     int    `json:"to"`     // the row after its last
	SHA256 string `json:"sha256"` // of the raw passes that the worker delivered
	// Above and Below are hashes of the two rows at each cut, as this strip shows them; absent
	// at the edges of the picture. Those of neighbours are equal, unless Alike is set.
	Above string `json:"above,omitempty"`
	Below string `json:"below,omitempty"`
	// Alike says that a GPU rendered the rows above, which differ from the neighbour's by the noise
	// of GPUs alone, as the service found; absent where they are equal to the bit.
	Alike bool `json:"alike,omitempty"`
}

// Origin is the earlier receipt of the same workspace that states a frame of the same number.
type Origin struct {
	ReceiptID string `json:"receipt_id"`
	LogIndex  int64  `json:"log_index"` // its leaf in the log
}

// Renderer is the software that rendered, as it reported itself. ID is
// contract.RendererID, or contract.SyntheticRenderer when a test's renderer painted the
// frames. Version and BuildHash are Blender's own texts.
type Renderer struct {
	ID          string `json:"id"`
	Application string `json:"application"`
	Version     string `json:"version"`
	BuildHash   string `json:"build_hash"`
	Engine      string `json:"engine"`
}
