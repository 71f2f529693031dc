package client

import (
	"encoding/json"
	"time"
)

// LegalV1 accepts the service's terms at start (spec 4.3). Set it only if the
// person who pays has read them.
const LegalV1 = "SVC_LEGAL_V1"

// States of a job (spec 3). The last three are terminal: the job never changes
// again.
const (
	StatusAwaitingSubmit = "awaiting_submit"
	StatusQueued         = "queued"
	StatusRendering      = "rendering"
	StatusPackaging      = "packaging"
	StatusCompleted      = "completed"
	StatusFailed         = "failed"
	StatusCancelled      = "cancelled"
)

// Reasons why no worker renders a frame of a job or a preview.
const (
	WaitingNoWorker   = "no_worker_online"
	WaitingUnable     = "workers_unable"
	WaitingNoCapable  = "no_capable_worker"
	WaitingNoMatching = "no_matching_blender"
	WaitingNoTagged   = "no_tagged_worker"
	WaitingBusy       = "workers_busy"
	WaitingLimit      = "workspace_limit"
	WaitingPaused     = "paused"
)

// Statuses of a quote.
const (
	QuoteOpen     = "open"
	QuoteAccepted = "accepted"
	QuoteExpired  = "expired"
)

// Findings of the frame check that let a frame pass.
const (
	FindingNotFinite = "not_finite"
	FindingBlack     = "black"
	FindingPink      = "pink"
	FindingUniform   = "uniform"
	FindingBlank     = "blank"
	FindingRepeated  = "repeated"
)

// Quote is a locked price for an uploaded file and a range of its frames. It costs
// nothing until it is started, which must be before ExpiresAt.
type Quote struct {
	// UploadID is the inspected upload: quoting other frames and starting need it.
	UploadID string `json:"upload_id"`
	QuoteID  string `json:"quote_id"`
	Status   string `json:"status"` // one of the Quote constants
	// The frames that were priced: those that the request named, otherwise the
	// scene's own.
	FrameStart int `json:"frame_start"`
	FrameEnd   int `json:"frame_end"`
	FrameStep  int `json:"frame_step"`
	FrameCount int `json:"frame_count"`
	// FrameList has the frames, such as 1-20 or 3,7-9; empty from an older service.
	// RerenderOf is the job whose frames these are once more, or empty.
	FrameList  string   `json:"frame_list"`
	Settings   Settings `json:"settings"` // what was chosen of the file
	RerenderOf string   `json:"rerender_of"`
	// Of a quote with reuse: the frames that are taken over from earlier jobs at no cost, how
	// many they are, and those that are rendered and paid. All are nil or empty without it.
	ReusedFrameCount *int   `json:"reused_frame_count"`
	ReusedFrames     string `json:"reused_frames"`
	FramesToRender   string `json:"frames_to_render"`
	// Changes says why the others are rendered; nil where no earlier job was compared.
	Changes        *Changes `json:"changes"`
	PriceCents     int64    `json:"price_cents"` // of the whole job
	Currency       string   `json:"currency"`
	PricingVersion string   `json:"pricing_version"`
	// Qualified1C is false when the scene is too heavy for this price; start is
	// then refused with quote_not_qualified.
	Qualified1C bool      `json:"qualified_1c"` // false: too heavy to start at this price
	CreatedAt   time.Time `json:"created_at"`
	// ExpiresAt is until when the price is locked and the quote can be started.
	ExpiresAt time.Time `json:"expires_at"`
	TermsURL  string    `json:"terms_url"` // what StartRequest.LegalAcceptance accepts
	// InputSHA256 is of the bytes that arrived. Compare it with your file's own.
	InputSHA256    string    `json:"input_sha256"`
	InputSizeBytes int64     `json:"input_size_bytes"`
	Filename       string    `json:"filename"`
	Warnings       []Warning `json:"warnings"`
	Scene          Scene     `json:"scene"`
	// MaximumFrameSeconds is how long a worker may render a frame. One that takes
	// longer fails with frame_time_exceeded; a job that fails costs nothing.
	MaximumFrameSeconds int `json:"maximum_frame_seconds"`
}

// Changes says why frames are rendered although an earlier job rendered the scene.
type Changes struct {
	JobID         string   `json:"job_id"` // the job that the frames are compared with
	Filename      string   `json:"filename"`
	Causes        []Change `json:"causes"`          // at most 20
	CausesLeftOut int      `json:"causes_left_out"` // how many more there are
	// Inseparable says why a change of any key counts for all frames; empty where it does not.
	Inseparable string `json:"inseparable"`
}

// Change is something that differs between two revisions of a scene.
type Change struct {
	Frames    string `json:"frames"` // that it can change
	AllFrames bool   `json:"all_frames"`
	What      string `json:"what"` // such as "material Floor"
	How       string `json:"how"`  // "changed", "added", "removed", "perhaps changed", "new" or "unusable"
	Keys      int    `json:"keys"` // of an action: how many differ; 0 for others
}

// Warning describes something in the file from which the picture may suffer. They
// come sorted, the worst first.
type Warning struct {
	Code            string          `json:"code"`
	Severity        string          `json:"severity"`         // "picture", "result" or "time"
	Message         string          `json:"message"`          // what was found, and what is rendered instead
	SuggestedAction string          `json:"suggested_action"` // what the artist can do
	Detail          json.RawMessage `json:"detail,omitempty"`
}

// Scene is what the service read in the file's active scene, with the percentage
// not yet applied to the resolution.
type Scene struct {
	Name string `json:"name"`
	// What Settings can choose: scenes and cameras of the file, view layers of the scene.
	Scenes               []string        `json:"scenes"`
	Cameras              []string        `json:"cameras"`
	ViewLayers           []string        `json:"view_layers"`
	Camera               string          `json:"camera"`
	OutputName           string          `json:"output_name"` // how the scene names its frames, such as shot_010_####
	Engine               string          `json:"engine"`
	ResolutionX          int             `json:"resolution_x"`
	ResolutionY          int             `json:"resolution_y"`
	ResolutionPercentage int             `json:"resolution_percentage"`
	Samples              int             `json:"samples"`
	FPS                  float64         `json:"fps"`
	FrameStart           int             `json:"frame_start"`
	FrameEnd             int             `json:"frame_end"`
	FrameStep            int             `json:"frame_step"`
	FileVersion          json.RawMessage `json:"file_version"`
	MissingFiles         json.RawMessage `json:"missing_files"`
	LinkedLibraries      json.RawMessage `json:"linked_libraries"`
	// Files are those that the scene of a project names, libraries and theirs included.
	Files []SceneFile `json:"files"`
}

// SceneFile is one file that a scene of a project names.
type SceneFile struct {
	Path   string `json:"path"`   // in the project; for a missing file, where Blender looks for it
	Kind   string `json:"kind"`   // "image", "library", "sequence", "udim", "movie", "volume", "font", "sound", "cache", "simulation"
	From   string `json:"from"`   // the .blend that names it
	Status string `json:"status"` // "found", "remapped", "missing", "packed", "unused"
}

// Job is a render as the service sees it at one moment. Pointers are nil while the
// wire says null. Amounts are US cents, durations seconds, sizes bytes.
type Job struct {
	JobID       string `json:"job_id"`
	WorkspaceID string `json:"workspace_id"`
	Status      string `json:"status"`
	// WaitingReason is why no frame is being rendered: "no_worker_online", "workers_unable",
	// "no_capable_worker", "no_matching_blender", "no_tagged_worker", "workers_busy",
	// "workspace_limit", "paused", or empty while one is or is about to be.
	WaitingReason string `json:"waiting_reason"`
	// QueuePosition is the place among the queued jobs in the order in which they
	// start, 1 for the next one; nil unless the job is queued, and while it is paused.
	QueuePosition *int `json:"queue_position"`
	// PausedBy is "workspace" or "operator" while the job is paused, otherwise empty.
	PausedBy string `json:"paused_by"`
	// Priority, 1 to 100, orders the job among those of its workspace; 0 unless it is queued or
	// rendering.
	Priority int `json:"priority"`
	// StartedBy is who started the job; nil from an older service and in an event of a webhook.
	StartedBy *Actor `json:"started_by"`
	// Tags are what the workspace calls the job, in alphabetical order.
	Tags        []string `json:"tags"`
	Renderer    string   `json:"renderer"`
	Application string   `json:"application"`
	Version     string   `json:"version"`
	Engine      string   `json:"engine"`
	// RenderDevice and DeviceName are what really rendered the frames: "GPU" or
	// "CPU", empty before.
	RenderDevice   string `json:"render_device"` // what was really used: "GPU", "CPU", or empty before
	DeviceName     string `json:"device_name"`
	Filename       string `json:"filename"`
	InputSHA256    string `json:"input_sha256"`
	InputSizeBytes int64  `json:"input_size_bytes"`
	FrameStart     int    `json:"frame_start"`
	FrameEnd       int    `json:"frame_end"`
	FrameStep      int    `json:"frame_step"`
	FrameCount     int    `json:"frame_count"`
	// FrameList has the frames, such as 1-20 or 3,7-9; empty from an older service.
	// RerenderOf is the job whose frames these are once more, or empty.
	FrameList  string   `json:"frame_list"`
	Settings   Settings `json:"settings"` // what was chosen of the file
	RerenderOf string   `json:"rerender_of"`
	// FramesCompleted counts accepted frames. ProgressPercent, 0 to 100, also
	// counts the finished part of frames that are being rendered.
	FramesCompleted int     `json:"frames_completed"`
	ProgressPercent float64 `json:"progress_percent"` // 0 to 100
	// ETASeconds is the estimate of the remaining time, nil while there is none and
	// never 0. ETABasis is what it rests on: "job_frames", "similar_scenes",
	// "first_frames", or empty.
	ETASeconds *float64  `json:"eta_seconds"`
	ETARange   *ETARange `json:"eta_range"`
	ETABasis   string    `json:"eta_basis"`
	// SecondsPerFrameLow and SecondsPerFrameHigh are the shortest and the longest
	// render time among the frames that are known; nil while none is.
	SecondsPerFrameLow  *float64 `json:"seconds_per_frame_low"`
	SecondsPerFrameHigh *float64 `json:"seconds_per_frame_high"`
	// RenderSeconds is the sum over all accepted frames, so it can exceed the time
	// that passed.
	RenderSeconds float64 `json:"render_seconds"`
	QuoteID       string  `json:"quote_id"`
	UploadID      string  `json:"upload_id"`
	// Of PriceCents, ReservedCents are set aside in the wallet now, and
	// ChargedCents were captured when the job completed.
	PriceCents    int64  `json:"price_cents"`
	ReservedCents int64  `json:"reserved_cents"`
	ChargedCents  int64  `json:"charged_cents"`
	Currency      string `json:"currency"`
	// Cancellable is whether Cancel would succeed now: until a worker claims a
	// frame.
	Cancellable       bool `json:"cancellable"`
	WebhookConfigured bool `json:"webhook_configured"`
	// WebhookSecret is set only in the answer that creates the job, if the service
	// made the secret.
	WebhookSecret string `json:"webhook_secret,omitempty"` // once, in the answer that creates the job
	// LowBalance is set only in the answer that creates the job, if what is left does not cover
	// another job like it.
	LowBalance  *Shortage  `json:"low_balance,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	SubmittedAt *time.Time `json:"submitted_at"`
	ClaimedAt   *time.Time `json:"claimed_at"`
	CompletedAt *time.Time `json:"completed_at"`
	FailedAt    *time.Time `json:"failed_at"`
	CancelledAt *time.Time `json:"cancelled_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	// Failure is set exactly when Status is failed.
	Failure *Failure `json:"failure"`
	// Findings are what a person should check in the accepted frames, the worst
	// first. They never fail a job.
	Findings []Finding `json:"findings"`
	// The addresses are empty until the job is completed.
	DownloadURL string `json:"download_url"`
	ReceiptURL  string `json:"receipt_url"`
	ProofURL    string `json:"proof_url"`
	// These are there once the job has a frame to show, and until its ZIP is removed.
	ContactSheetURL string `json:"contact_sheet_url"`
	LoopURL         string `json:"loop_url"`
	// MovieURL is there if the scene's output is a movie, once the job is completed and until its
	// ZIP is removed. [Client.Movie] and [Client.SaveMovie] wait for the movie.
	MovieURL string `json:"movie_url"`
}

// Actor is who did something in a workspace: a member, or a key with the member who made it.
// What is not known is empty.
type Actor struct {
	Kind     string `json:"kind"` // "member", "key", "operator", "service" or "unknown"
	PersonID string `json:"person_id"`
	Email    string `json:"email"` // shortened, such as a…@example.com
	KeyID    string `json:"key_id"`
	KeyName  string `json:"key_name"`
}

// ETARange contains the true value of Job.ETASeconds in eight cases of ten.
type ETARange struct {
	LowSeconds  float64 `json:"low_seconds"`
	HighSeconds float64 `json:"high_seconds"`
}

// Terminal reports whether the job will never change again. A status of a later
// version of the service counts as not terminal.
func (j *Job) Terminal() bool {
	switch j.Status {
	case StatusCompleted, StatusFailed, StatusCancelled:
		return true
	}
	return false
}

// Failure is why a job failed. Code is stable and meant for programs, Message for
// people. A failed job costs nothing: its whole reserve is released.
type Failure struct {
	Code            string `json:"code"`
	Message         string `json:"message"`
	Retryable       bool   `json:"retryable"`
	SuggestedAction string `json:"suggested_action"`
}

// Finding says which frames of a job look unusual: black, magenta where a texture is
// missing, equal to the one before. It may be intended.
type Finding struct {
	Code            string `json:"code"`
	Message         string `json:"message"`
	SuggestedAction string `json:"suggested_action"`
	Frames          string `json:"frames"` // such as 3,7-9
	FrameCount      int    `json:"frame_count"`
}

// Event is one thing that happened to a job: exactly one of Job and Frame is
// set.
type Event struct {
	ID    string // as the stream numbers it; empty when the job was read instead
	Job   *Job
	Frame *FrameEvent
}

// FrameEvent describes a frame that was accepted. The frame itself comes in the
// ZIP.
type FrameEvent struct {
	JobID           string  `json:"job_id"`
	Frame           int     `json:"frame"`
	File            string  `json:"file"`
	SHA256          string  `json:"sha256"`
	SizeBytes       int64   `json:"size_bytes"`
	RenderSeconds   float64 `json:"render_seconds"`
	FramesCompleted int     `json:"frames_completed"`
	// Outputs are the files of the frame besides its picture.
	Outputs []Output `json:"outputs,omitempty"`
}

// Output is a file of a frame besides its picture: of a File Output node, of another view, or
// a preview.
type Output struct {
	Name      string `json:"name"` // below outputs/, with folders
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// Artifact is where a completed job's ZIP can be fetched until ExpiresAt, by anyone
// who holds the URL. So do not log it.
type Artifact struct {
	URL         string    `json:"url"`
	Filename    string    `json:"filename"`
	ContentType string    `json:"content_type"`
	SizeBytes   int64     `json:"size_bytes"`
	SHA256      string    `json:"sha256"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// Receipt is a completed job's receipt: the plain members as JSON, and the signed
// DSSE envelope that proves them. Believe the members only after [Verify].
type Receipt struct {
	Members  json.RawMessage `json:"receipt"`
	Envelope json.RawMessage `json:"envelope"`
	// Origins are the jobs from which frames were taken over. They are not signed: their
	// receipts are, and name these frames.
	Origins []ReceiptOrigin `json:"origins,omitempty"`
}

// ReceiptOrigin is an earlier job whose receipt proves frames that a job has taken over.
type ReceiptOrigin struct {
	ReceiptID  string `json:"receipt_id"`
	JobID      string `json:"job_id"`
	ReceiptURL string `json:"receipt_url"`
}

// Proof proves that a completed job's receipt is a leaf of the service's log (RFC
// 6962).
type Proof struct {
	JobID          string   `json:"job_id"`
	Proof          string   `json:"proof"` // "receipt_backed"
	ReceiptURL     string   `json:"receipt_url"`
	ReceiptID      string   `json:"receipt_id"`
	ArtifactSHA256 string   `json:"artifact_sha256"`
	LogIndex       int64    `json:"log_index"`
	InclusionProof []string `json:"inclusion_proof"` // base64, from the leaf's neighbour to the root
	Checkpoint     string   `json:"checkpoint"`      // a signed note
	ProofPageURL   string   `json:"proof_page_url"`
}

// SigningKey is a public key with which receipts are or were signed. Old keys stay
// listed, because old receipts stay valid.
type SigningKey struct {
	KeyID        string     `json:"key_id"` // lower-case hex SHA-256 of the raw public key
	Algorithm    string     `json:"algorithm"`
	PublicKeyPEM string     `json:"public_key_pem"`
	ValidFrom    time.Time  `json:"valid_from"`
	ValidTo      *time.Time `json:"valid_to"` // nil: still valid
	Current      bool       `json:"current"`
	// EndReason is "superseded" or "compromised"; nil: no end is set. EndLogSize is the
	// number of leaves that the log had at the end, and EndCheckpoint its checkpoint; nil:
	// the key has not ended, or less than a minute ago.
	EndReason     *string `json:"end_reason"`
	EndLogSize    *int64  `json:"end_log_size"`
	EndCheckpoint *string `json:"end_checkpoint"`
}
