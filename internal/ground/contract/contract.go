// Package contract holds every published constant of the interface, once.
//
// It is for anything a caller may rely on: names, limits, versions, prices.
// It decides nothing and imports nothing of ours. Start reading here.
package contract

import "time"

// What is offered (spec 1.2, 2.3).
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

// What stands in the place of those where a frame was painted for a test and
// not rendered (package synthetic).
const (
	SyntheticRenderer    = "synthetic"
	SyntheticApplication = "synthetic renderer, no Blender"
	SyntheticEngine      = "none"
)

// Contract strings and versions (spec 2.2, 2.3, 9.3; decisions on quotes).
const (
	PricingContract  = "SVC-PUBLIC-API-V2-FIXED-QUOTE"
	APIContract      = "SVC-PUBLIC-API-V1"
	OpenAPIVersion   = "2.0.0" // info.version of the served OpenAPI document (spec 9.2)
	Availability     = "LIVE_PUBLIC_ALPHA"
	Currency         = "USD"
	PricingModel     = "fixed_quote"
	PricingVersion   = "fixed-1c-v1"
	LegalAcceptance  = "SVC_LEGAL_V1"
	ProofKind        = "receipt_backed"
	CentsPerFrame    = 1
	PricingUnit      = "completed_frame"
	QuoteLifetime    = 24 * time.Hour
	DownloadLifetime = time.Hour
)

// Limits (spec 8).
const (
	MinFrames        = 1
	MaxFrames        = 10000
	MaxFrameNumber   = 1048574 // the last frame that Blender knows
	MaxUploadBytes   = 104857600
	MaxJSONBodyBytes = 1 << 20
	MaxWebhookURL    = 2048
	MinWebhookSecret = 16
	MaxKeyName       = 80
	MaxActiveKeys    = 10 // of each kind, a workspace
	RatePerMinute    = 60
	RateBurst        = 20
)

// The workers' door, for each worker's key: far above what a worker needs, low
// enough to stop one that has lost its mind.
const (
	FarmPerMinute = 60000
	FarmBurst     = 5000
)

// Retention.
const (
	UploadRetention   = 7 * 24 * time.Hour  // an upload never started
	ArtifactRetention = 30 * 24 * time.Hour // the ZIP of a completed job
	WebhookRetention  = 30 * 24 * time.Hour // an event and the log of its deliveries
	SubmitWindow      = 24 * time.Hour      // an awaiting_submit job
	SignInLinkLife    = 15 * time.Minute
	UploadLinkLife    = 15 * time.Minute // a link by which an agent has a file sent
	SessionLife       = 14 * 24 * time.Hour
)

// QualifiedPixelSamples is the operator's default envelope for qualified_1c:
// pixels x samples of a frame.
const QualifiedPixelSamples = 3840 * 2160 * 4096

// What is measured and how it is scored now (spec 9.4). Results are compared only
// where all three are equal.
const (
	BenchmarkVersion = "bench-v1"  // how it is run: warm-up, time, check of the pictures
	SceneVersion     = "scenes-v1" // what is rendered
	ScoringVersion   = "score-v1"  // samples per minute, summed over the scenes
)

// Benchmark results (spec 4.6, 8).
const (
	LatestDefault     = 25
	LatestMost        = 100
	SearchMost        = 50
	PercentileSamples = 3 // fewer results than that have no percentiles
)

// Secrets' prefixes by credential kind.
const (
	AccountKeyPrefix = "svc_"
	AgentKeyPrefix   = "svc_agent_"
	NodeKeyPrefix    = "svc_node_"
	SessionCookie    = "svc_session"
)

// How terminal events are sent (spec 2.3).
const (
	EventCompleted       = "render.completed"
	EventFailed          = "render.failed"
	EventCancelled       = "render.cancelled"
	EventTest            = "webhook.test" // of an endpoint; no terminal event
	WebhookTransport     = "HTTPS"
	WebhookDeliveryModel = "durable_queue"
)

// How a delivery is made (decisions on webhooks).
const (
	WebhookTimeout       = 15 * time.Second // of one try, all in all
	WebhookLongestPause  = 24 * time.Hour   // a receiver's Retry-After counts up to this
	WebhookAnswerKept    = 1 << 10          // bytes of an answer that the log shows
	WebhookSecretPrefix  = "whsec_"         // what follows is base64
	WebhookSecretOverlap = 24 * time.Hour   // for which a rotated secret still signs
	WebhookBreaker       = 5 * 24 * time.Hour
	MaxWebhookSecret     = 512 // characters
	MaxWebhookEndpoints  = 10  // a workspace
)

// WebhookPauses are the pauses before each try of a delivery.
func WebhookPauses() []time.Duration {
	return []time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// What discovery says of cancelling and proof (decisions on discovery).
const (
	CancelUntil   = "worker_claim"
	ReceiptForm   = "dsse-ed25519"
	LogForm       = "c2sp-tiles"
	VerifyCommand = "svc verify RECEIPT.json --artifact ZIP"
)

// Workflow is the order of a caller's steps (spec 1.3).
func Workflow() []string {
	return []string{"discover", "upload", "quote", "start", "observe", "download", "receipt", "proof"}
}
