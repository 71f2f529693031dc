// Package contract contains every published constant of the interface, once: the
// names, limits, versions and prices that callers may rely on.
//
// What always holds: all code takes such a value from here, so a change here changes what callers
// were promised. Data stored with a version is judged by that version (terms.go). The package
// imports no other package of svc. Start reading at the first group. (spec N) names the section
// that publishes a group.
package contract

import "time"

// The service and its renderer (spec 1.2, 2.3).
const (
	Service         = "svc"
	RendererID      = "blender"
	Application     = "Blender"
	BlenderVersion  = "4.1.1"
	Engine          = "CYCLES"
	InputExtension  = ".blend"
	OutputExtension = ".zip"
	RenderDevice    = "GPU"
)

// The renderer of frames that package synthetic painted for a test. Such frames are
// described with these names instead of those above.
const (
	SyntheticRenderer    = "synthetic"
	SyntheticApplication = "synthetic renderer, no Blender"
	SyntheticEngine      = "none"
)

// Erased replaces names and messages in what remains of an erased workspace.
const Erased = "erased"

// Contract strings and versions (spec 2.2, 2.3, 9.3; decisions on quotes).
const (
	PricingContract = "SVC-PUBLIC-API-V2-FIXED-QUOTE"
	APIContract     = "SVC-PUBLIC-API-V1"
	OpenAPIVersion  = "2.0.0" // info.version of the served OpenAPI document (spec 9.2)
	Availability    = "LIVE_PUBLIC_ALPHA"
	Currency        = "USD"
	PricingModel    = "fixed_quote"
	LegalAcceptance = "SVC_LEGAL_V1"
	ProofKind       = "receipt_backed"
	PricingUnit     = "completed_frame"
	// MinTopUpCents and MaxTopUpCents bound one payment into a wallet (decisions 19).
	MinTopUpCents = 500
	MaxTopUpCents = 100_000
	// MaxOpenTopUps is how many top-ups of a workspace may wait to be paid.
	MaxOpenTopUps = 10
	// DownloadLifetime is how long a signed download address works. It is short
	// because the address authorises itself; reading the job gives a new one.
	DownloadLifetime = time.Hour
)

// Limits (spec 8).
const (
	MinFrames = 1
	// MaxFrames bounds the frames of one job, and with it a receipt's size.
	MaxFrames      = 10000
	MaxFrameNumber = 1048574 // the last frame that Blender knows
	// A job's priority is between these, and begins with the middle one.
	LowestPriority  = 1
	DefaultPriority = 50
	HighestPriority = 100
	// MaxUploadBytes is 100 MiB. The bytes are counted while they arrive;
	// nothing of a larger upload is stored.
	MaxUploadBytes = 104857600
	// UnstartedStorage is the default bound on the bytes of a workspace's uploads that
	// no job uses, 5 GiB (decisions 15).
	UnstartedStorage = 5 << 30
	// MaxPartBytes bounds a part of a project that is sent alone, 32 MiB. MaxLooseParts is
	// how many parts a workspace may have that no project uses; each goes LoosePartLife
	// after it was sent (decisions 16).
	MaxPartBytes  = 32 << 20
	MaxLooseParts = 20_000
	LoosePartLife = 24 * time.Hour
	// RepeatedBytes is how much of a project's files may be parts that repeat, or as much as
	// the parts themselves where that is more.
	RepeatedBytes = 256 << 20
	// ProjectSize is the default bound on the bytes of all files of a project, 8 GiB.
	ProjectSize = 8 << 30
	// MaxProjectBytes bounds the JSON of a project's listing, 8 MiB.
	MaxProjectBytes = 8 << 20
	// PartRate is how many times the rate limit of other requests sends parts: a part can
	// be a file of a few bytes.
	PartRate = 500
	// ConsoleRate is the same for the pages of a workspace and the pictures on them: a page
	// shows a hundred frames, and a flipbook hundreds.
	ConsoleRate = 50
	// PageRate is the same for pages that anyone may read, their files and the log of
	// receipts.
	PageRate = 50
	// FrameTime is the default bound on the rendering of a frame, far more than a frame
	// that its price covers takes. /limits and each quote show the operator's.
	FrameTime = 2 * time.Hour
	// TransferTime is how much longer than that a worker may hold a frame, to transfer files
	// and pictures.
	TransferTime = 30 * time.Minute
	// PlayTime is the default bound on computing the frames before a frame whose
	// simulations run from frame to frame.
	PlayTime = 2 * time.Hour
	// FrameOutputs and FrameOutputBytes are the default bounds on what File Output nodes write
	// for a frame: the files, and their bytes together.
	FrameOutputs     = 64
	FrameOutputBytes = 1 << 30
	// JobOutputs bounds them for a job: its receipt and its manifest list each of them.
	JobOutputs = 20_000
	// MaxJSONBodyBytes bounds every JSON request (decisions 1).
	MaxJSONBodyBytes = 1 << 20
	MaxWebhookURL    = 2048
	MinWebhookSecret = 16
	MaxKeyName       = 80
	MaxActiveKeys    = 10 // of each kind, a workspace
	// RatePerMinute and RateBurst are the published defaults; an operator may set
	// others (decisions 13).
	RatePerMinute = 60
	RateBurst     = 20
	// WorkspaceRate is how many times the limit of a key all credentials of a
	// workspace have together (decisions 15).
	WorkspaceRate = 5
)

// A free preview (docs/previews.md).
const (
	PreviewSide    = 640              // pixels of the longer side at most
	PreviewSamples = 32               // of a pixel at most
	PreviewTime    = time.Minute      // that a worker opens the file and renders it
	PreviewWait    = 15 * time.Minute // for an idle worker
	// PreviewsOfUpload and PreviewsOfDay are how many an upload, and a workspace within
	// 24 hours, have by default; an operator may set others.
	PreviewsOfUpload = 3
	PreviewsOfDay    = 20
)

// The overviews of a job's frames (docs/overviews.md).
const (
	// ContactSheetFrames and LoopFrames are how many frames each shows at most by default;
	// an operator may set others.
	ContactSheetFrames = 100
	LoopFrames         = 48
	ContactSheetSide   = 240 // pixels of the longer side of a frame in a contact sheet, at most
	LoopSide           = 320 // pixels of the longer side of a loop, at most
	OverviewPixels     = 4 << 20
	OverviewBytes      = 4 << 20
)

// Limits of the workers' API, for each node key: far above what a worker needs, low
// enough to stop a worker that repeats requests in a loop.
const (
	FarmPerMinute = 60000
	FarmBurst     = 5000
)

// Retention.
const (
	UploadRetention   = 7 * 24 * time.Hour  // an upload never started
	ArtifactRetention = 30 * 24 * time.Hour // the ZIP of a completed job
	WebhookRetention  = 30 * 24 * time.Hour // an event and the log of its deliveries
	SubmitWindow      = 24 * time.Hour      // a job that waits for its submit
	SignInLinkLife    = 15 * time.Minute
	PreviewRetention  = 24 * time.Hour // the picture of a free preview
	SessionLife       = 14 * 24 * time.Hour
)

// QualifiedPixelSamples is the default bound for qualified_1c, in pixels times
// samples of one frame: UHD at Cycles' default of 4096 samples. An operator may set
// another. A heavier scene gets a quote that cannot be started.
const QualifiedPixelSamples = 3840 * 2160 * 4096

// The current benchmark and its scoring (spec 9.4). Results are compared only if all
// three are equal.
const (
	BenchmarkVersion = "bench-v1"  // how it is run: warm-up, time, check of the pictures
	SceneVersion     = "scenes-v1" // what is rendered
	ScoringVersion   = "score-v1"  // samples per minute, summed over the scenes
)

// Benchmark results (spec 4.6, 8).
const (
	LatestDefault = 25
	LatestMost    = 100
	SearchMost    = 50
	// PercentileSamples is the smallest number of results with percentiles: of fewer
	// they would mean nothing.
	PercentileSamples = 3
)

// Prefixes of secrets, by kind of credential, and how many characters of base62 follow:
// 43 of them carry 256 bits, since 62^43 > 2^256.
const (
	// AccountKeyPrefix begins the others as well, so it alone does not identify an
	// account key.
	AccountKeyPrefix  = "svc_"
	AgentKeyPrefix    = "svc_agent_"
	NodeKeyPrefix     = "svc_node_"
	OperatorKeyPrefix = "svc_operator_"
	// Keys of test mode. No secret has an underscore in its random part, so such a key has
	// no other prefix of its length.
	TestAccountKeyPrefix = "svc_test_"
	TestAgentKeyPrefix   = "svc_agent_test_"
	KeySecretLength      = 43
	SessionCookie        = "svc_session"
	// HostCookiePrefix precedes SessionCookie over https. Browsers take such a cookie only
	// from this very host, never from a subdomain or over plain HTTP.
	HostCookiePrefix = "__Host-"
	// ModeCookie is ModeTest while a person looks at the workspace's test world.
	ModeCookie = "svc_mode"
	ModeTest   = "test"
)

// How events are sent (spec 2.3).
const (
	WebhookTransport     = "HTTPS"
	WebhookDeliveryModel = "durable_queue"
)

// How a delivery is made (decisions on webhooks).
const (
	// WebhookTimeout bounds one attempt, from resolving the host to the last byte of
	// the response.
	WebhookTimeout = 15 * time.Second
	// WebhookLongestPause is the longest Retry-After of a receiver that is honoured.
	WebhookLongestPause = 24 * time.Hour
	// WebhookAnswerKept is the number of bytes of a response that the log of
	// deliveries shows.
	WebhookAnswerKept   = 1 << 10
	WebhookSecretPrefix = "whsec_" // what follows is base64
	// WebhookSecretOverlap is how long the previous secret still signs in addition to
	// the new one after a rotation, so a receiver can switch without losing a call.
	WebhookSecretOverlap = 24 * time.Hour
	// WebhookBreaker is the time without a success after which an endpoint is disabled.
	WebhookBreaker      = 5 * 24 * time.Hour
	MaxWebhookSecret    = 512 // characters
	MaxWebhookEndpoints = 10  // a workspace
)

// WebhookPauses returns the pause before each attempt of a delivery: ten attempts over
// a little more than three days (decisions 9). The scheduler adds jitter.
func WebhookPauses() []time.Duration {
	return []time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// What discovery publishes about cancelling and proof (decisions on discovery).
const (
	CancelUntil   = "worker_claim"
	ReceiptForm   = "dsse-ed25519"
	LogForm       = "c2sp-tiles"
	VerifyCommand = "svc verify RECEIPT.json --artifact ZIP"
)

// Workflow returns the order of a caller's steps (spec 1.3), as discovery publishes
// them.
func Workflow() []string {
	return []string{"discover", "upload", "quote", "start", "observe", "download", "receipt", "proof"}
}
