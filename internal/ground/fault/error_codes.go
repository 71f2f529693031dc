package fault

import (
	"slices"
	"sync"
)

// Code is a wire error code (error.code) or a job's failure code. Callers compare codes, so
// one that was published is never renamed or given another meaning.
//
// To add one: add the constant and its row in Table, name the operations that
// answer with it in internal/door/api/document/operation_errors.go, and run `make generate`,
// which prints docs/errors.md.
type Code string

// Codes of API errors (decisions 1, 5, 6, 10).
const (
	InvalidRequest       Code = "invalid_request"
	FieldRepeated        Code = "field_repeated"
	RangeNotSatisfiable  Code = "range_not_satisfiable"
	PreconditionFailed   Code = "precondition_failed"
	BodyTruncated        Code = "body_truncated"
	InvalidFrameRange    Code = "invalid_frame_range"
	InvalidSettings      Code = "invalid_settings"
	FrameRangeTooLarge   Code = "frame_range_too_large"
	UnsupportedRenderer  Code = "unsupported_renderer"
	UnsupportedFile      Code = "unsupported_file"
	FileDamaged          Code = "file_damaged"
	FileTooNew           Code = "file_too_new"
	NoScene              Code = "no_scene"
	NoCamera             Code = "no_camera"
	PictureTooSmall      Code = "picture_too_small"
	ViewPathUnsafe       Code = "view_path_unsafe"
	EngineNotSupported   Code = "engine_not_supported"
	PriceNotAccepted     Code = "price_not_accepted"
	LegalRequired        Code = "legal_acceptance_required"
	Unauthenticated      Code = "unauthenticated"
	WorkspaceFrozen      Code = "workspace_frozen"
	InsufficientFunds    Code = "insufficient_funds"
	TopUpNotFound        Code = "top_up_not_found"
	InvoiceNotFound      Code = "invoice_not_found"
	TopUpLimitReached    Code = "top_up_limit_reached"
	PaymentsUnavailable  Code = "payments_unavailable"
	InvalidSignature     Code = "invalid_signature"
	CrossOriginRefused   Code = "cross_origin_refused"
	InsufficientScope    Code = "insufficient_scope"
	InsufficientRole     Code = "insufficient_role"
	InvitationInvalid    Code = "invitation_invalid"
	MemberNotFound       Code = "member_not_found"
	LastOwner            Code = "last_owner"
	RouteNotFound        Code = "route_not_found"
	RenderNotFound       Code = "render_not_found"
	FrameNotFound        Code = "frame_not_found"
	UploadNotFound       Code = "upload_not_found"
	QuoteNotFound        Code = "quote_not_found"
	KeyNotFound          Code = "key_not_found"
	ReceiptNotFound      Code = "receipt_not_found"
	ShareNotFound        Code = "share_not_found"
	ShareLimitReached    Code = "share_limit_reached"
	FilterNotFound       Code = "filter_not_found"
	FilterLimitReached   Code = "filter_limit_reached"
	ResultNotFound       Code = "result_not_found"
	GPUNotFound          Code = "gpu_not_found"
	WorkspaceNotFound    Code = "workspace_not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	QuoteExpired         Code = "quote_expired"
	QuoteNotQualified    Code = "quote_not_qualified"
	RenderNotCancellable Code = "render_not_cancellable"
	RenderNotSubmittable Code = "render_not_submittable"
	RenderNotPausable    Code = "render_not_pausable"
	PausedByOperator     Code = "paused_by_operator"
	RenderNotCompleted   Code = "render_not_completed"
	ArtifactExpired      Code = "artifact_expired"
	MovieNotReady        Code = "movie_not_ready"
	MovieUnavailable     Code = "movie_unavailable"
	ResultDamaged        Code = "result_damaged"
	KeyLimitReached      Code = "key_limit_reached"
	SpendLimitReached    Code = "spend_limit_reached"
	PriceAboveMax        Code = "price_above_max"
	ToolNotFound         Code = "tool_not_found"
	InvalidFileURL       Code = "invalid_file_url"
	FileNotFetched       Code = "file_not_fetched"
	InvalidKeyName       Code = "invalid_key_name"
	InvalidWebhookURL    Code = "invalid_webhook_url"
	WebhookSecretShort   Code = "webhook_secret_too_short"
	EndpointNotFound     Code = "webhook_endpoint_not_found"
	DeliveryNotFound     Code = "webhook_delivery_not_found"
	EndpointDisabled     Code = "webhook_endpoint_disabled"
	EndpointLimitReached Code = "webhook_endpoint_limit_reached"
	LinkInvalid          Code = "link_invalid"
	SignInFailed         Code = "sign_in_failed"
	UploadTooLarge       Code = "upload_too_large"
	InvalidProjectPath   Code = "invalid_project_path"
	InvalidArchive       Code = "invalid_archive"
	MainFileAmbiguous    Code = "main_file_ambiguous"
	PartsMissing         Code = "parts_missing"
	UploadTooSlow        Code = "upload_too_slow"
	WrongMode            Code = "wrong_mode"
	UploadInUse          Code = "upload_in_use"
	StorageLimitReached  Code = "storage_limit_reached"
	PreviewsOff          Code = "previews_off"
	PreviewNotFound      Code = "preview_not_found"
	PreviewLimitReached  Code = "free_preview_limit_reached"
	BodyTooLarge         Code = "body_too_large"
	UnsupportedMedia     Code = "unsupported_media_type"
	EncodingNotSupported Code = "content_encoding_not_supported"
	RateLimited          Code = "rate_limited"
	Internal             Code = "internal_error"
	NotAcceptingJobs     Code = "not_accepting_jobs"
	Unavailable          Code = "unavailable"
)

// Codes of idempotent requests (decisions on idempotency).
const (
	IdempotencyHeadersIncomplete Code = "idempotency_headers_incomplete"
	FingerprintMismatch          Code = "fingerprint_mismatch"
	SizeMismatch                 Code = "size_mismatch"
	ContentHashMismatch          Code = "content_hash_mismatch"
	HeaderMismatch               Code = "header_mismatch"
	IdempotencyKeyReused         Code = "idempotency_key_reused"
	IdempotencyInProgress        Code = "idempotency_in_progress"
)

// Codes of the workers' API.
const (
	WorkerNotRegistered Code = "worker_not_registered"
	LeaseLost           Code = "lease_lost"
	FrameRejected       Code = "frame_rejected"
	SyntheticRefused    Code = "synthetic_refused"
	BenchmarkRefused    Code = "benchmark_refused"
	NodeKeyBound        Code = "node_key_bound"
)

// Codes for refusals of svc admin that the API does not have.
const (
	JobEnded           Code = "job_ended"
	JobsNotEnded       Code = "jobs_not_ended"
	MoneyReserved      Code = "money_reserved"
	PersonNotFound     Code = "person_not_found"
	WorkerNotFound     Code = "worker_not_found"
	DomainNotFound     Code = "domain_not_found"
	ReuseClassNotFound Code = "reuse_class_not_found"
	WorkerInUse        Code = "worker_in_use"
	DeadLetterNotFound Code = "dead_letter_not_found"
	LastSigningKey     Code = "last_signing_key"
)

// Failure codes of a job (decisions 10).
const (
	BlenderCrashed       Code = "blender_crashed"
	OutOfMemory          Code = "out_of_memory"
	NoProgress           Code = "no_progress"
	FrameCheckFailed     Code = "frame_check_failed"
	DenoiserUnavailable  Code = "denoiser_unavailable"
	MissingExternalFiles Code = "missing_external_files"
	GPUUnavailable       Code = "gpu_unavailable"
	WorkerLost           Code = "worker_lost"
	FrameTimeExceeded    Code = "frame_time_exceeded"
	TooManyOutputs       Code = "too_many_outputs"
	OCIOUnusable         Code = "ocio_unusable"
	PackagingFailed      Code = "packaging_failed"
	InputDamaged         Code = "input_damaged"
	EndedByOperator      Code = "ended_by_operator"
)

// Entry is one row of the table. Retryable is what the envelope carries unless the
// error is Final; Action is what it carries unless the error has an action of its
// own.
type Entry struct {
	Code      Code
	Status    int // HTTP status; 0 for a job's failure code and for those of svc admin
	Retryable bool
	Action    string // the standard suggested_action
	Door      Door
}

// Door is the interface that a code belongs to. It only decides under which
// heading docs/errors.md lists the code.
type Door string

// The doors of the table.
const (
	DoorAPI      Door = "api"
	DoorFarm     Door = "farm"
	DoorJob      Door = "job"
	DoorOperator Door = "operator"
)

// Table returns the whole vocabulary, in the order in which docs/errors.md lists
// it. Each call makes a new slice, which the caller may change.
func Table() []Entry {
	return slices.Concat(malformed(), refused(), conflicting(), overloaded(), farm(), failures(), operating())
}

// malformed lists the refusals of requests that must be changed before they are
// sent again.
func malformed() []Entry {
	return []Entry{
		{InvalidRequest, 400, false, "Correct the members that detail names and send the request again.", DoorAPI},
		{FieldRepeated, 400, false, "Send each form field once.", DoorAPI},
		{BodyTruncated, 400, true, "Send the whole body, with as many bytes as Content-Length announces.", DoorAPI},
		{InvalidFrameRange, 400, false, "Send frame_start and frame_end with 1 <= frame_start <= frame_end and a frame_step of 1 or more.", DoorAPI},
		{InvalidSettings, 400, false, "Change or leave out the setting that detail names. detail.offers lists what the file has.", DoorAPI},
		{FrameRangeTooLarge, 400, false, "Send a frame_start and frame_end that span at most 10000 frames.", DoorAPI},
		{UnsupportedRenderer, 400, false, "Set renderer to blender, or leave it out.", DoorAPI},
		{UnsupportedFile, 400, false, "Upload a .blend file saved by Blender.", DoorAPI},
		{FileDamaged, 400, false, "Open the file in Blender, save it again, and upload the new copy.", DoorAPI},
		{FileTooNew, 400, false, "Save the file with the service's version of Blender, which the message names, and upload it again.", DoorAPI},
		{NoScene, 400, false, "Save a file that contains a scene and upload it again.", DoorAPI},
		{NoCamera, 400, false, "Add a camera to that scene, save, and upload again; or choose a camera or another scene of the file.", DoorAPI},
		{PictureTooSmall, 400, false, "Raise the scene's resolution or percentage, or widen its render border, save, and upload again; or choose a resolution.", DoorAPI},
		{ViewPathUnsafe, 400, false, "In Output Properties > Stereoscopy, take .. out of the view's file suffix, save, and upload again; or choose another scene of the file.", DoorAPI},
		{EngineNotSupported, 400, false, "Set the render engine of the active scene to Cycles, save, and upload again; or choose another scene of the file.", DoorAPI},
		{InvalidProjectPath, 400, false, "Name the files by relative paths with / between folders, without . and .., in composed Unicode, and no two that differ only by case.", DoorAPI},
		{InvalidArchive, 400, false, "Make a plain .zip (stored or deflated) without links or a password, and upload it again.", DoorAPI},
		{MainFileAmbiguous, 400, false, "Send the form field main with the path of the .blend to render. detail.candidates lists them.", DoorAPI},
		{PriceNotAccepted, 400, false, "Send the request without price_cents: the locked quote is the price.", DoorAPI},
		{LegalRequired, 400, false, "Set legal_acceptance to SVC_LEGAL_V1.", DoorAPI},
		{InvalidKeyName, 400, false, "Send a name of 1 to 80 visible characters.", DoorAPI},
		{InvalidFileURL, 400, false, "Use an https URL of a public host, without a user name, on port 443 or above 1023; or upload the file.", DoorAPI},
		{FileNotFetched, 400, true, "Check that the URL returns the file itself, without a sign-in or redirect; or upload the file.", DoorAPI},
		{InvalidWebhookURL, 400, false, "Use an https URL of a public host, without a user name, on port 443 or above 1023.", DoorAPI},
		{WebhookSecretShort, 400, false, "Send a webhook_secret of 16 characters or more, or leave it out to have one generated.", DoorAPI},
		{InvitationInvalid, 400, false, "Ask an owner of the workspace for a new invitation.", DoorAPI},
		{LinkInvalid, 400, false, "Request a new link and open it before it expires. Each link works once.", DoorAPI},
		{IdempotencyHeadersIncomplete, 400, false, "Send all nine headers of the group, or none of them.", DoorAPI},
		{FingerprintMismatch, 400, false, "Compute X-Svc-Request-Fingerprint from the values of the other headers.", DoorAPI},
		{SizeMismatch, 400, false, "Set X-Svc-Size-Bytes to the file's size.", DoorAPI},
		{ContentHashMismatch, 400, false, "Send the SHA-256 of the bytes that you upload.", DoorAPI},
		{HeaderMismatch, 400, false, "Send the same values in the headers and the form fields.", DoorAPI},
		{InvalidSignature, 400, false, "Sign the event with the endpoint's secret, and set the same secret in the service's SVC_STRIPE_WEBHOOK_SECRETS.", DoorAPI},
		{SignInFailed, 400, false, "Sign in again. The issuer must have verified your e-mail address.", DoorAPI},
	}
}

// refused lists the refusals for missing permissions, and for things that do not
// exist. What another workspace owns counts as not existing (decisions 10).
func refused() []Entry {
	return []Entry{
		{Unauthenticated, 401, false, "Send Authorization: Bearer with an active key of the kind that this route accepts.", DoorAPI},
		{WorkspaceFrozen, 403, false, "Ask the operator of the service to lift the freeze. The message gives the reason.", DoorAPI},
		{InsufficientFunds, 402, false, "Add credit to the wallet or quote fewer frames, then start again.", DoorAPI},
		{CrossOriginRefused, 403, false, "Call this route from the service's own pages, or send a bearer key.", DoorAPI},
		{InsufficientScope, 403, false, "Use a credential that has the scope named in the message.", DoorAPI},
		{InsufficientRole, 403, false, "Ask an owner of the workspace to do this, or to change your role.", DoorAPI},
		{PreviewsOff, 403, false, "Start a job of one frame instead: this service has no free previews.", DoorAPI},
		{RouteNotFound, 404, false, "Check the path against /openapi.json.", DoorAPI},
		{RenderNotFound, 404, false, "Check the job id, and check that your key belongs to the job's workspace.", DoorAPI},
		{FrameNotFound, 404, false, "Use the number of a frame that the job's list of frames has.", DoorAPI},
		{UploadNotFound, 404, false, "Inspect the file again to get a new upload_id.", DoorAPI},
		{QuoteNotFound, 404, false, "Inspect or quote again to get a new quote_id.", DoorAPI},
		{TopUpNotFound, 404, false, "Use a top_up_id from the list of top-ups.", DoorAPI},
		{InvoiceNotFound, 404, false, "Use a number from the list of invoices.", DoorAPI},
		{MemberNotFound, 404, false, "Reload the list of members.", DoorAPI},
		{KeyNotFound, 404, false, "Use a key_id from the list of keys.", DoorAPI},
		{EndpointNotFound, 404, false, "Use an endpoint_id from the list of webhook endpoints.", DoorAPI},
		{DeliveryNotFound, 404, false, "Use a delivery_id from the list of deliveries.", DoorAPI},
		{ReceiptNotFound, 404, false, "Check the receipt id. If it is right, ask its owner whether the workspace publishes its proof pages.", DoorAPI},
		{FilterNotFound, 404, false, "List your saved filters, and use one of their ids.", DoorAPI},
		{ShareNotFound, 404, false, "Ask the person who sent you the link for a new one.", DoorAPI},
		{ResultNotFound, 404, false, "Use a result_id from /node/v1/leaderboard/latest or a search.", DoorAPI},
		{GPUNotFound, 404, false, "Use a gpu_slug from /node/v1/leaderboard/gpus or a search.", DoorAPI},
		{PreviewNotFound, 404, false, "Order a preview of the upload. Its picture is kept for 24 hours.", DoorAPI},
		{WorkspaceNotFound, 404, false, "Check the workspace id.", DoorAPI},
		{MethodNotAllowed, 405, false, "Use a method listed in the Allow header.", DoorAPI},
	}
}

// conflicting lists the refusals of requests that are well-formed but do not fit
// the state of what they name.
func conflicting() []Entry {
	return []Entry{
		{QuoteExpired, 409, false, "Quote the upload again and start the new quote.", DoorAPI},
		{QuoteNotQualified, 409, false, "Lower the scene's resolution or samples, or ask the operator for a larger envelope.", DoorAPI},
		{RenderNotCancellable, 409, false, "Wait until the job ends, or pause it: a worker has already taken a frame.", DoorAPI},
		{RenderNotSubmittable, 409, false, "Upload the file again and submit the new render.", DoorAPI},
		{RenderNotPausable, 409, false, "Only a job that is queued or rendering can be paused, resumed or given a priority.", DoorAPI},
		{PausedByOperator, 409, false, "Ask the operator of the service why the job is paused, and to resume it.", DoorAPI},
		{MovieNotReady, 409, true, "Ask again after the seconds in Retry-After.", DoorAPI},
		{MovieUnavailable, 409, false, "Download the frames, and encode them with a program of your own.", DoorAPI},
		{RenderNotCompleted, 409, true, "Poll the job until its status is completed.", DoorAPI},
		{IdempotencyKeyReused, 409, false, "Use a new Idempotency-Key for another request.", DoorAPI},
		{IdempotencyInProgress, 409, true, "Send the same request again after Retry-After.", DoorAPI},
		{ResultDamaged, 500, false, "The stored result is damaged and is not sent. Report the job id to the operator.", DoorAPI},
		{ArtifactExpired, 410, false, "The artifact is no longer kept. Render the scene again.", DoorAPI},
		{UploadInUse, 409, false, "Wait until this upload's jobs have ended, or cancel them. Then delete the upload.", DoorAPI},
		{StorageLimitReached, 409, false, "Start or delete uploads that no job uses (DELETE /v1/uploads/{upload_id}), then upload again.", DoorAPI},
		{PartsMissing, 409, false, "Send the parts listed in detail.missing, then send the project again.", DoorAPI},
		{PreviewLimitReached, 409, false, "Use the previews you have. If detail.available_at is not null, you can order another one then.", DoorAPI},
		{TopUpLimitReached, 409, false, "Pay an open top-up or let it expire, then start a new one.", DoorAPI},
		{KeyLimitReached, 409, false, "Revoke a key that you no longer need, then create the new one.", DoorAPI},
		{LastOwner, 409, false, "Make another member an owner first.", DoorAPI},
		{FilterLimitReached, 409, false, "Delete a saved filter that you no longer need, then save this one.", DoorAPI},
		{ShareLimitReached, 409, false, "End a share link that you no longer need, then share the job again.", DoorAPI},
		{EndpointDisabled, 409, false, "Enable the webhook endpoint, then try again.", DoorAPI},
		{EndpointLimitReached, 409, false, "Delete a webhook endpoint that you no longer need, then create the new one.", DoorAPI},
		{SpendLimitReached, 402, false, "Use a key with a higher spend_limit_cents (create one at /console/keys), render fewer frames, or wait for the next calendar month (UTC).", DoorAPI},
		{PriceAboveMax, 409, false, "Quote fewer frames. Or, if the person who pays agrees, start with a higher max_price_cents.", DoorAPI},
		{WrongMode, 409, false, "Use a key of the other mode. Test keys begin with svc_agent_test_ or svc_test_.", DoorAPI},
		{ToolNotFound, 404, false, "Call a tool listed by tools/list.", DoorAPI},
	}
}

// overloaded lists the refusals of requests that are too large or too many, and the
// faults of the service itself.
func overloaded() []Entry {
	return []Entry{
		{UploadTooSlow, 408, true, "Upload again over a connection that sustains at least 1 KiB per second.", DoorAPI},
		{UploadTooLarge, 413, false, "Pack less into the .blend, or save it with compression, to stay within 104857600 bytes.", DoorAPI},
		{BodyTooLarge, 413, false, "Send a smaller body. The message gives the limit.", DoorAPI},
		{UnsupportedMedia, 415, false, "Send the content type that this route documents.", DoorAPI},
		{PreconditionFailed, 412, false, "The file has changed. Download it again from the start, without If-Match or If-Unmodified-Since.", DoorAPI},
		{RangeNotSatisfiable, 416, false, "Request a range within the file. Content-Range gives its size.", DoorAPI},
		{EncodingNotSupported, 415, false, "Send the body without Content-Encoding.", DoorAPI},
		{RateLimited, 429, true, "Wait for retry_after_seconds, then send the request again.", DoorAPI},
		{Internal, 500, true, "Try again. If the error persists, report the request_id.", DoorAPI},
		{NotAcceptingJobs, 503, true, "Try again later. Nothing was charged.", DoorAPI},
		{PaymentsUnavailable, 503, false, "Ask the operator of the service for credit. Online payments are switched off.", DoorAPI},
		{Unavailable, 503, true, "Try again in a moment.", DoorAPI},
	}
}

// farm lists the refusals of the workers' API.
func farm() []Entry {
	return []Entry{
		{WorkerNotRegistered, 404, true, "Register again and continue.", DoorFarm},
		{LeaseLost, 409, false, "Drop the frame. It now belongs to another attempt.", DoorFarm},
		{FrameRejected, 400, false, "Render the frame again. The bytes that arrived do not match their description.", DoorFarm},
		{SyntheticRefused, 403, false, "Start svc serve with --allow-synthetic, but only on a service without customers.", DoorFarm},
		{BenchmarkRefused, 400, false, "Run svc bench again. The receipt is malformed or is not signed by its key.", DoorFarm},
		{NodeKeyBound, 409, false, "Sign with the key that this node key was first used with, or ask the operator for another node key.", DoorFarm},
	}
}

// failures lists why jobs fail. They have no HTTP status: they are read in a job's
// failure member, by a request that itself succeeds.
func failures() []Entry {
	return []Entry{
		{BlenderCrashed, 0, false, "Render one frame in the service's version of Blender to see whether it crashes there. If the message names a limit, lower what the scene needs of it.", DoorJob},
		{OutOfMemory, 0, false, "Lower texture sizes, subdivision or resolution, then upload again.", DoorJob},
		{NoProgress, 0, true, "Start the job again. If it fails again, simplify the scene.", DoorJob},
		{FrameCheckFailed, 0, true, "Start the job again. If it fails again, render that frame in the service's version of Blender and compare.", DoorJob},
		{DenoiserUnavailable, 0, false, "Switch denoising off in the scene and upload again, or ask the operator for workers that can denoise.", DoorJob},
		{MissingExternalFiles, 0, false, "Pack all external files into the .blend (File > External Data > Pack Resources), or upload the scene with its folder.", DoorJob},
		{GPUUnavailable, 0, true, "No GPU was usable. Start the job again later.", DoorJob},
		{WorkerLost, 0, true, "The workers that rendered it stopped responding. Start the job again.", DoorJob},
		{FrameTimeExceeded, 0, false, "Lower the samples, the resolution or the number of view layers, or bake the simulation if its earlier frames took too long, then upload again.", DoorJob},
		{TooManyOutputs, 0, false, "Unlink slots of File Output nodes that you do not need, write several passes into one multilayer OpenEXR, or compress large files, then upload again. If the job has too many, order fewer frames at once.", DoorJob},
		{OCIOUnusable, 0, false, "Open the scene with this OpenColorIO configuration in the service's version of Blender, and correct what it reports. Or upload again with another configuration, or without one.", DoorJob},
		{PackagingFailed, 0, true, "Start the job again. Nothing was charged.", DoorJob},
		{InputDamaged, 0, false, "The service has lost the file. Upload it again. Nothing was charged.", DoorJob},
		{EndedByOperator, 0, false, "Nothing was charged. The message has the operator's reason; ask them before you start the job again.", DoorJob},
	}
}

// operating lists what only operators are refused: by svc admin, its pages and its API.
func operating() []Entry {
	return []Entry{
		{JobEnded, 409, false, "The job has already ended. See svc admin job show.", DoorOperator},
		{JobsNotEnded, 409, false, "End the jobs first. See svc admin job list --workspace.", DoorOperator},
		{MoneyReserved, 409, false, "Wait until the jobs have ended, or end them. See svc admin job list --workspace.", DoorOperator},
		{PersonNotFound, 404, false, "Create a link with svc admin sign-in-link and have the person sign in once.", DoorOperator},
		{DomainNotFound, 404, false, "Use a domain from svc admin domain list.", DoorOperator},
		{ReuseClassNotFound, 404, false, "Use a class id from svc admin reuse list.", DoorOperator},
		{WorkerNotFound, 404, false, "Use a worker id from svc admin worker list.", DoorOperator},
		{WorkerInUse, 409, false, "Drain the worker and wait until it is offline. A worker that has submitted a benchmark cannot be removed.", DoorOperator},
		{DeadLetterNotFound, 404, false, "Use an id from svc admin dead-letter list.", DoorOperator},
		{LastSigningKey, 409, false, "Create another key first with svc admin signing-key rotate. Jobs cannot complete without one.", DoorOperator},
	}
}

// Lookup returns the row of a code. A code that the table does not have, which is a
// programming error, gets the row of internal_error.
func Lookup(code Code) Entry {
	if row, ok := rows()[code]; ok {
		return row
	}
	return rows()[Internal]
}

// rows are those of the table by their codes.
var rows = sync.OnceValue(func() map[Code]Entry {
	all := map[Code]Entry{}
	for _, row := range Table() {
		all[row.Code] = row
	}
	return all
})
