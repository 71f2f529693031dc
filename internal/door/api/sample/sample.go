// Package sample has the values that all examples of the OpenAPI document
// share: one upload, its quote and its job, with the same identifiers, hashes
// and times everywhere, so that the examples can be read as one session.
//
// It describes nothing: each route's package builds its own examples from these
// values. Start reading at Job.
package sample

import (
	"net/url"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
)

// Identifiers and figures of the session.
const (
	RequestID   = "req_0198c0de0000700080000000000000f1"
	RetryAfter  = 1500 * time.Millisecond
	UploadID    = "UPL-0198c0de000070008000000000000001"
	QuoteID     = "QTE-0198c0de000070008000000000000002"
	JobID       = "JOB-0198c0de000070008000000000000003"
	ReceiptID   = "RCT-0198c0de000070008000000000000004"
	WorkspaceID = "WSP-0198c0de000070008000000000000005"
	PreviewID   = "PRV-0198c0de000070008000000000000007"
	CommentID   = "CMT-0198c0de00007000800000000000000c"
	ShareToken  = "Zx81kQ0aVtq4mW7bNcRs2Yd9LpXe5uGhJf3oTiB6CwK"
	KeyID       = "key_0198c0de000070008000000000000006"
	Filename    = "scene.blend"
	Frames      = 250
	Device      = "NVIDIA GeForce RTX 4090"
)

// Hashes, in hex.
const (
	InputSHA256    = "1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"
	ArtifactSHA256 = "2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e"
	FrameSHA256    = "3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d"
)

// Time returns a moment of the session: the upload, plus after.
func Time(after time.Duration) time.Time {
	return time.Date(2026, time.January, 15, 12, 0, 0, 0, time.UTC).Add(after)
}

// Tags are those of the job.
func Tags() []string { return []string{"client a", "shot-010"} }

// Job returns the job in a state, as the given flow shows it. Its URLs are
// built by at.
func Job(at links.Links, flow job.Flow, status job.Status) job.Object {
	o := job.Object{
		OK: true, JobID: JobID, WorkspaceID: WorkspaceID, Flow: flow, Status: status, State: status, Renderer: contract.RendererID,
		Application: contract.Application, Version: contract.BlenderVersion, Engine: contract.Engine, Filename: Filename, InputSHA256: InputSHA256,
		InputSizeBytes: 734003, FrameStart: 1, FrameEnd: Frames, FrameStep: 1, FrameCount: Frames, FrameList: "1-250", Tags: Tags(), StartedBy: Person(), QuoteID: QuoteID, UploadID: UploadID,
		PriceCents: Frames, ReservedCents: Frames, Currency: contract.Currency, Cancellable: status.Cancellable(),
		CreatedAt: Time(time.Minute), UpdatedAt: Time(time.Minute), Findings: framecheck.Findings{},
	}
	if status != job.AwaitingSubmit {
		o.SubmittedAt = new(Time(time.Minute))
	}
	switch status {
	case job.Queued:
		o.QueuePosition, o.WaitingReason = new(1), new(job.WorkersBusy)
	case job.Cancelled:
		o.ReservedCents, o.CancelledAt, o.UpdatedAt = 0, new(Time(2*time.Minute)), Time(2*time.Minute)
	case job.Failed:
		row := fault.Lookup(fault.BlenderCrashed)
		o.ReservedCents, o.ClaimedAt, o.FailedAt, o.UpdatedAt = 0, new(Time(90*time.Second)), new(Time(2*time.Minute)), Time(2*time.Minute)
		o.Failure = &job.JobFailure{Code: row.Code, Message: "Blender ended unexpectedly at frame 1.", Retryable: row.Retryable, SuggestedAction: row.Action}
	case job.Completed:
		done := Time(30 * time.Minute)
		o.RenderDevice, o.DeviceName, o.ClaimedAt = new(contract.RenderDevice), new(Device), new(Time(90*time.Second))
		o.FramesCompleted, o.ProgressPercent, o.RenderSeconds, o.ReservedCents, o.ChargedCents = Frames, 100, 1612.5, 0, Frames
		o.Findings = o.Findings.With(framecheck.FindingBlack, 1).With(framecheck.FindingBlack, 2)
		o.CompletedAt, o.UpdatedAt, o.ArtifactExpiresAt = &done, done, new(done.Add(contract.ArtifactRetention))
		o.ContactSheetURL, o.LoopURL = new(at.JobContactSheet(flow.JobsPath(), JobID)), new(at.JobLoop(flow.JobsPath(), JobID))
		o.DownloadURL, o.ReceiptURL, o.ProofURL = new(DownloadURL(at)), new(at.JobReceipt(flow.JobsPath(), JobID)), new(at.JobProof(flow.JobsPath(), JobID))
	}
	return o
}

// DownloadURL returns a signed link to the ZIP, built by at. Its signature is
// not a real one.
func DownloadURL(at links.Links) string {
	return at.Page(links.DownloadPath+JobID, url.Values{"expires": {"1768485600"}, "signature": {strings.Repeat("4c", 32)}})
}

// Person is who does what in the examples.
func Person() *identity.Actor {
	return identity.ActorOf("PER-0198c0de000070008000000000000008", "ada@example.com", "", "")
}
