package fault

import "slices"

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
	FrameRangeTooLarge   Code = "frame_range_too_large"
	UnsupportedRenderer  Code = "unsupported_renderer"
	UnsupportedFile      Code = "unsupported_file"
	FileDamaged          Code = "file_damaged"
	FileTooNew           Code = "file_too_new"
	NoScene              Code = "no_scene"
	NoCamera             Code = "no_camera"
	PictureTooSmall      Code = "picture_too_small"
	EngineNotSupported   Code = "engine_not_supported"
	PriceNotAccepted     Code = "price_not_accepted"
	LegalRequired        Code = "legal_acceptance_required"
	Unauthenticated      Code = "unauthenticated"
	WorkspaceFrozen      Code = "workspace_frozen"
	InsufficientFunds    Code = "insufficient_funds"
	TopUpNotFound        Code = "top_up_not_found"
	TopUpLimitReached    Code = "top_up_limit_reached"
	PaymentsUnavailable  Code = "payments_unavailable"
	InvalidSignature     Code = "invalid_signature"
	CrossOriginRefused   Code = "cross_origin_refused"
	InsufficientScope    Code = "insufficient_scope"
	RouteNotFound        Code = "route_not_found"
	RenderNotFound       Code = "render_not_found"
	FrameNotFound        Code = "frame_not_found"
	UploadNotFound       Code = "upload_not_found"
	QuoteNotFound        Code = "quote_not_found"
	KeyNotFound          Code = "key_not_found"
	ReceiptNotFound      Code = "receipt_not_found"
	ResultNotFound       Code = "result_not_found"
	GPUNotFound          Code = "gpu_not_found"
	WorkspaceNotFound    Code = "workspace_not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	QuoteExpired         Code = "quote_expired"
	QuoteNotQualified    Code = "quote_not_qualified"
	RenderNotCancellable Code = "render_not_cancellable"
	RenderNotSubmittable Code = "render_not_submittable"
	RenderNotCompleted   Code = "render_not_completed"
	ArtifactExpired      Code = "artifact_expired"
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
		{BodyTruncated, 400, true, "Send the whole body: as many bytes as Content-Length announces.", DoorAPI},
		{InvalidFrameRange, 400, false, "Send frame_start and frame_end with 1 <= frame_start <= frame_end and a frame_step of 1 or more.", DoorAPI},
		{FrameRangeTooLarge, 400, false, "Send frame_start and frame_end that hold at most 10000 frames.", DoorAPI},
		{UnsupportedRenderer, 400, false, "Send renderer as blender, or leave it out.", DoorAPI},
		{UnsupportedFile, 400, false, "Upload a .blend file saved by Blender.", DoorAPI},
		{FileDamaged, 400, false, "Open the file in Blender, save it again, and upload the new copy.", DoorAPI},
		{FileTooNew, 400, false, "Save the file with Blender 4.1 and upload it again.", DoorAPI},
		{NoScene, 400, false, "Save a file that holds a scene and upload it again.", DoorAPI},
		{NoCamera, 400, false, "Give the active scene a camera, save, and upload again.", DoorAPI},
		{PictureTooSmall, 400, false, "Raise the scene's resolution or percentage, or widen its render border, save, and upload again.", DoorAPI},
		{EngineNotSupported, 400, false, "Set the render engine of the active scene to Cycles, save, and upload again.", DoorAPI},
		{InvalidProjectPath, 400, false, "Name the files by relative paths with / between folders, without . and .., in composed Unicode, and no two that differ only by case.", DoorAPI},
		{InvalidArchive, 400, false, "Make a plain .zip, stored or deflated, of files and folders, without links and passwords, and send it again.", DoorAPI},
		{MainFileAmbiguous, 400, false, "Send main as a form field, with the path of the .blend to render; detail.candidates lists them.", DoorAPI},
		{PriceNotAccepted, 400, false, "Send the request without price_cents: the locked quote is the price.", DoorAPI},
		{LegalRequired, 400, false, "Send legal_acceptance with the value SVC_LEGAL_V1.", DoorAPI},
		{InvalidKeyName, 400, false, "Send a name of 1 to 80 visible characters.", DoorAPI},
		{InvalidFileURL, 400, false, "Give an https address of a public host, without a user name, on port 443 or above 1023; or upload the file.", DoorAPI},
		{FileNotFetched, 400, true, "Check that the address answers with the file itself, without sign-in or redirect; or upload the file.", DoorAPI},
		{InvalidWebhookURL, 400, false, "Send an https URL of a public host, without user name, on port 443 or above 1023.", DoorAPI},
		{WebhookSecretShort, 400, false, "Send a webhook_secret of 16 characters or more, or none: then one is made.", DoorAPI},
		{LinkInvalid, 400, false, "Ask for a new link and open it within its lifetime, once.", DoorAPI},
		{IdempotencyHeadersIncomplete, 400, false, "Send all nine headers of the group, or none of them.", DoorAPI},
		{FingerprintMismatch, 400, false, "Compute X-Svc-Request-Fingerprint over the values that the other headers carry.", DoorAPI},
		{SizeMismatch, 400, false, "Send X-Svc-Size-Bytes with the file's size.", DoorAPI},
		{ContentHashMismatch, 400, false, "Send the SHA-256 of the bytes that are uploaded.", DoorAPI},
		{HeaderMismatch, 400, false, "Send headers and form fields with the same values.", DoorAPI},
		{InvalidSignature, 400, false, "Sign the event with the endpoint's secret, which SVC_STRIPE_WEBHOOK_SECRETS of the service names.", DoorAPI},
		{SignInFailed, 400, false, "Begin to sign in anew; the issuer must have verified your e-mail address.", DoorAPI},
	}
}

// refused lists the refusals for missing permissions, and for things that do not
// exist. What another workspace owns counts as not existing (decisions 10).
func refused() []Entry {
	return []Entry{
		{Unauthenticated, 401, false, "Send Authorization: Bearer with an active key of the kind this route takes.", DoorAPI},
		{WorkspaceFrozen, 403, false, "Ask the operator of the service to lift the freeze; the message says why it is there.", DoorAPI},
		{InsufficientFunds, 402, false, "Add funds to the workspace's wallet or quote fewer frames, then start again.", DoorAPI},
		{CrossOriginRefused, 403, false, "Call this route from the service's own pages, or use a bearer key.", DoorAPI},
		{InsufficientScope, 403, false, "Use a credential that has the scope which the message names.", DoorAPI},
		{PreviewsOff, 403, false, "Start the quote: this service has no free previews, and a job of one frame shows as much.", DoorAPI},
		{RouteNotFound, 404, false, "Check the path against /openapi.json.", DoorAPI},
		{RenderNotFound, 404, false, "Check the job id and that the key belongs to the job's workspace.", DoorAPI},
		{FrameNotFound, 404, false, "List the frames and use a number from there.", DoorAPI},
		{UploadNotFound, 404, false, "Inspect the file again to get a new upload_id.", DoorAPI},
		{QuoteNotFound, 404, false, "Inspect or quote again to get a new quote_id.", DoorAPI},
		{TopUpNotFound, 404, false, "List the top-ups and use a top_up_id from there.", DoorAPI},
		{KeyNotFound, 404, false, "List the keys and use a key_id from there.", DoorAPI},
		{EndpointNotFound, 404, false, "List the webhook endpoints and use an endpoint_id from there.", DoorAPI},
		{DeliveryNotFound, 404, false, "List the deliveries and use a delivery_id from there.", DoorAPI},
		{ReceiptNotFound, 404, false, "Check the receipt id, and ask its owner whether the workspace shows its proof pages.", DoorAPI},
		{ResultNotFound, 404, false, "Use a result_id from /node/v1/leaderboard/latest or a search.", DoorAPI},
		{GPUNotFound, 404, false, "Use a gpu_slug from /node/v1/leaderboard/gpus or a search.", DoorAPI},
		{PreviewNotFound, 404, false, "Order a preview of the upload first; the picture of one is kept for 24 hours.", DoorAPI},
		{WorkspaceNotFound, 404, false, "Check the workspace id.", DoorAPI},
		{MethodNotAllowed, 405, false, "Use a method that the Allow header names.", DoorAPI},
	}
}

// conflicting lists the refusals of requests that are well-formed but do not fit
// the state of what they name.
func conflicting() []Entry {
	return []Entry{
		{QuoteExpired, 409, false, "Quote the upload again and start the new quote.", DoorAPI},
		{QuoteNotQualified, 409, false, "Lower the resolution or the samples of the scene, or ask the operator for a larger envelope.", DoorAPI},
		{RenderNotCancellable, 409, false, "Follow the job to its end: a worker has already claimed it.", DoorAPI},
		{RenderNotSubmittable, 409, false, "Upload the file again to get a render that can be submitted.", DoorAPI},
		{RenderNotCompleted, 409, true, "Poll the job until its status is completed.", DoorAPI},
		{IdempotencyKeyReused, 409, false, "Use a new Idempotency-Key for another request.", DoorAPI},
		{IdempotencyInProgress, 409, true, "Send the same request again after Retry-After.", DoorAPI},
		{ResultDamaged, 500, false, "Tell the operator the job's id: the stored result is damaged, and its bytes are not sent.", DoorAPI},
		{ArtifactExpired, 410, false, "The artifact is past its retention. Render the scene again.", DoorAPI},
		{UploadInUse, 409, false, "Wait until the jobs of this upload have ended, or cancel them, then delete it.", DoorAPI},
		{StorageLimitReached, 409, false, "Start the uploads that wait, or delete those that are not needed (DELETE /v1/uploads/{upload_id}), then upload again.", DoorAPI},
		{PartsMissing, 409, false, "Send the parts that detail.missing names, then the project again.", DoorAPI},
		{PreviewLimitReached, 409, false, "Decide by the previews that there are, or order again at detail.available_at where that is not null.", DoorAPI},
		{TopUpLimitReached, 409, false, "Pay a top-up that waits, or let it expire, then begin the new one.", DoorAPI},
		{KeyLimitReached, 409, false, "Revoke a key that is not needed, then create the new one.", DoorAPI},
		{EndpointDisabled, 409, false, "Enable the webhook endpoint, then ask again.", DoorAPI},
		{EndpointLimitReached, 409, false, "Delete a webhook endpoint that is not needed, then create the new one.", DoorAPI},
		{SpendLimitReached, 402, false, "Use a key with a higher spend_limit_cents (/console/keys makes one), render fewer frames, or wait for the next calendar month (UTC).", DoorAPI},
		{PriceAboveMax, 409, false, "Quote fewer frames, or start with a higher max_price_cents once whoever pays agrees.", DoorAPI},
		{WrongMode, 409, false, "Use a key of the other mode: svc_agent_test_… and svc_test_… are those of test mode.", DoorAPI},
		{ToolNotFound, 404, false, "Call one of the tools that tools/list names.", DoorAPI},
	}
}

// overloaded lists the refusals of requests that are too large or too many, and the
// faults of the service itself.
func overloaded() []Entry {
	return []Entry{
		{UploadTooSlow, 408, true, "Upload again over a connection that carries 1 KiB a second or more.", DoorAPI},
		{UploadTooLarge, 413, false, "Pack less into the .blend, or compress it on saving, to stay within 104857600 bytes.", DoorAPI},
		{BodyTooLarge, 413, false, "Send a smaller body; the message says how large it may be.", DoorAPI},
		{UnsupportedMedia, 415, false, "Send the content type that this route documents.", DoorAPI},
		{PreconditionFailed, 412, false, "Fetch the file anew, without the condition.", DoorAPI},
		{RangeNotSatisfiable, 416, false, "Ask for bytes that the file has; Content-Range says how many there are.", DoorAPI},
		{EncodingNotSupported, 415, false, "Send the body without Content-Encoding.", DoorAPI},
		{RateLimited, 429, true, "Wait for retry_after_seconds, then send the request again.", DoorAPI},
		{Internal, 500, true, "Try again; if it stays, report the request_id.", DoorAPI},
		{NotAcceptingJobs, 503, true, "Try again later; nothing was spent.", DoorAPI},
		{PaymentsUnavailable, 503, false, "Ask the operator of the service for credit: it takes no payments by itself.", DoorAPI},
		{Unavailable, 503, true, "Try again in a moment.", DoorAPI},
	}
}

// farm lists the refusals of the workers' API.
func farm() []Entry {
	return []Entry{
		{WorkerNotRegistered, 404, true, "Register again and go on.", DoorFarm},
		{LeaseLost, 409, false, "Drop the frame: it belongs to another attempt.", DoorFarm},
		{FrameRejected, 400, false, "Render the frame again: what arrived is not what was described.", DoorFarm},
		{SyntheticRefused, 403, false, "Start svc serve with --allow-synthetic, on a service that nobody buys from.", DoorFarm},
		{BenchmarkRefused, 400, false, "Run svc bench again: the receipt is malformed, or not signed by the key beside it.", DoorFarm},
		{NodeKeyBound, 409, false, "Sign with the key that this node key first came with, or ask the operator for a node key of its own.", DoorFarm},
	}
}

// failures lists why jobs fail. They have no HTTP status: they are read in a job's
// failure member, by a request that itself succeeds.
func failures() []Entry {
	return []Entry{
		{BlenderCrashed, 0, false, "Open the scene in Blender 4.1.1 and render one frame to see whether it crashes there.", DoorJob},
		{OutOfMemory, 0, false, "Lower texture sizes, subdivision or resolution, then upload again.", DoorJob},
		{NoProgress, 0, true, "Start the job again; if it stays, simplify the scene.", DoorJob},
		{FrameCheckFailed, 0, true, "Start the job again; if it stays, render that frame in Blender 4.1.1 and compare.", DoorJob},
		{DenoiserUnavailable, 0, false, "Switch denoising off in the scene and upload again, or ask the operator for workers that can denoise.", DoorJob},
		{MissingExternalFiles, 0, false, "Pack all external files into the .blend (File > External Data > Pack Resources) and upload again.", DoorJob},
		{GPUUnavailable, 0, true, "Start the job again in a while: no GPU was usable.", DoorJob},
		{WorkerLost, 0, true, "Start the job again: the workers that held it vanished.", DoorJob},
		{FrameTimeExceeded, 0, false, "Lower the samples, the resolution or the number of view layers, then upload again.", DoorJob},
		{PackagingFailed, 0, true, "Start the job again; nothing was charged.", DoorJob},
		{InputDamaged, 0, false, "Upload the file again: the service has lost it. Nothing was charged.", DoorJob},
		{EndedByOperator, 0, false, "Read the operator's reason in the message; nothing was charged. Ask the operator before you start it again.", DoorJob},
	}
}

// operating lists what svc admin refuses and no request can ask for.
func operating() []Entry {
	return []Entry{
		{JobEnded, 0, false, "Nothing is left to end; see svc admin job show.", DoorOperator},
		{JobsNotEnded, 0, false, "End the jobs first; see svc admin job list --workspace.", DoorOperator},
		{MoneyReserved, 0, false, "Wait until the jobs have ended, or end them; see svc admin job list --workspace.", DoorOperator},
		{PersonNotFound, 0, false, "Make a link with svc admin sign-in-link, and let the person sign in once.", DoorOperator},
		{WorkerNotFound, 0, false, "Use a worker's id from svc admin worker list.", DoorOperator},
		{WorkerInUse, 0, false, "Drain the worker and wait until it has left. One that has submitted a benchmark stays.", DoorOperator},
		{DeadLetterNotFound, 0, false, "Use an id from svc admin dead-letter list.", DoorOperator},
		{LastSigningKey, 0, false, "Make another key first, with svc admin signing-key rotate: no job could be completed without one.", DoorOperator},
	}
}

// Lookup returns the row of a code. A code that the table does not have, which is a
// programming error, gets the row of internal_error.
func Lookup(code Code) Entry {
	rows := Table()
	for _, row := range rows {
		if row.Code == code {
			return row
		}
	}
	return Lookup(Internal)
}
