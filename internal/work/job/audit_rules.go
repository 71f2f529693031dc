package job

import (
	"slices"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
)

// auditOrder compares a job with the quote that it accepted, the upload that it renders
// and the key that spent.
func auditOrder(f facts, breach func(rule, subject, format string, args ...any)) {
	j, q, u := f.job, f.quote, f.upload
	wrong := func(format string, args ...any) { breach("a job is what was ordered", j.JobID, format, args...) }
	switch {
	case !id.Valid(id.Job, j.JobID):
		wrong("its id has another form")
	case q.JobID != j.JobID || q.WorkspaceID != j.WorkspaceID || q.UploadID != j.UploadID:
		wrong("quote %q is of job %q, workspace %q and upload %q", j.QuoteID, q.JobID, q.WorkspaceID, q.UploadID)
	case q.FrameStart != j.FrameStart || q.FrameEnd != j.FrameEnd || q.FrameStep != j.FrameStep || q.FrameCount != j.FrameCount || q.Frames != j.Frames:
		wrong("frames %d to %d by %d, %d in all %s, its quote has %d to %d by %d, %d in all %s",
			j.FrameStart, j.FrameEnd, j.FrameStep, j.FrameCount, j.Frames, q.FrameStart, q.FrameEnd, q.FrameStep, q.FrameCount, q.Frames)
	case q.Settings != j.Settings:
		wrong("its settings are %.200q, its quote's %.200q", j.Settings, q.Settings)
	case q.RerenderOf != j.RerenderOf:
		wrong("it renders frames of %q again, its quote those of %q", j.RerenderOf, q.RerenderOf)
	case q.PriceCents-q.ReusedCents != j.PriceCents || q.PricingVersion != j.PricingVersion:
		wrong("%d cents by %q for %d frames, its quote has %d by %q", j.PriceCents, j.PricingVersion, j.FrameCount, q.PriceCents-q.ReusedCents, q.PricingVersion)
	case q.AcceptedAt != j.CreatedAt || q.Qualified != 1:
		wrong("it was created at %d, its quote was accepted at %d and is qualified %d", j.CreatedAt, q.AcceptedAt, q.Qualified)
	case u.UploadID == "" || u.WorkspaceID != j.WorkspaceID || u.Filename != j.Filename || u.Sha256 != j.InputSha256 || u.SizeBytes != j.InputSizeBytes:
		wrong("it renders %q of %d bytes with the hash %s, its upload %q is %q of %d bytes with the hash %s",
			j.Filename, j.InputSizeBytes, j.InputSha256, j.UploadID, u.Filename, u.SizeBytes, u.Sha256)
	case u.RemovedAt != 0 && !Status(j.Status).Terminal():
		wrong("it has not ended, but its upload was removed")
	case j.KeyID != "" && f.key != j.WorkspaceID:
		wrong("its key %q belongs to workspace %q", j.KeyID, f.key)
	}
	if _, err := quote.ListOf(j.FrameStart, j.FrameEnd, j.FrameStep, j.FrameCount, j.Frames); err != nil {
		wrong("%v", err)
	}
	auditTags(f, breach)
}

// auditPrice compares a job's price with the terms of the version that it was ordered
// under.
func auditPrice(book contract.Book) func(facts, func(rule, subject, format string, args ...any)) {
	return func(f facts, breach func(rule, subject, format string, args ...any)) {
		paid, err := quote.Paid(f.quote)
		if err != nil {
			return // a breach of the quote
		}
		if why := quote.UnlikeTerms(book, f.job.PricingVersion, paid, f.job.PriceCents); why != "" {
			breach("a job is what was ordered", f.job.JobID, "%s", why)
		}
	}
}

// auditMoney compares a job with the ledger: what it reserved when it was created, and how
// that was settled when it ended.
func auditMoney(f facts, breach func(rule, subject, format string, args ...any)) {
	j := f.job
	var reserved, captured, released, charged int64
	for _, entry := range f.entries {
		at := f.ended()
		switch wallet.Kind(entry.Kind) {
		case wallet.Reserved:
			reserved, at = reserved+entry.AmountCents, j.CreatedAt
		case wallet.Captured:
			captured += entry.AmountCents
		case wallet.Released:
			released += entry.AmountCents
		default:
			at = entry.CreatedAt // a refund comes when an operator makes it
		}
		if entry.WorkspaceID != j.WorkspaceID || entry.CreatedAt != at {
			breach("a job's money is settled once", j.JobID, "%s %s is of workspace %s and of %d, the job of %s and of %d",
				entry.Kind, entry.TransactionID, entry.WorkspaceID, entry.CreatedAt, j.WorkspaceID, at)
		}
	}
	settled := reserved == j.PriceCents
	switch Status(j.Status) {
	case Completed:
		charged = j.PriceCents
		settled = settled && captured == reserved && released == 0
	case Failed, Cancelled:
		settled = settled && captured == 0 && released == reserved
	default:
		settled = settled && captured == 0 && released == 0
	}
	if !settled || j.ChargedCents != charged {
		breach("a job's money is settled once", j.JobID, "%s at %d cents: reserved %d, captured %d, released %d, charged %d",
			j.Status, j.PriceCents, reserved, captured, released, j.ChargedCents)
	}
}

// auditState checks that a job has what its state implies, and nothing of another state.
func auditState(f facts, breach func(rule, subject, format string, args ...any)) {
	j, status := f.job, Status(f.job.Status)
	want := func(held bool, format string, args ...any) {
		if !held {
			breach("a job has what its state implies", j.JobID, "it is "+j.Status+": "+format, args...)
		}
	}
	completed := status == Completed
	if n := len(f.receipts); completed != (n == 1) || n > 1 {
		breach("completed means one receipt", j.JobID, "%s with %d receipts", j.Status, n)
	}
	claimed := slices.Contains([]Status{Rendering, Packaging, Completed, Failed}, status)
	want(claimed || slices.Contains([]Status{AwaitingSubmit, Queued, Cancelled}, status), "there is no such state")
	// An operator may fail a job before a worker claims it, or before its submit.
	unclaimed := status == Failed && fault.Code(j.FailureCode) == fault.EndedByOperator && j.ClaimedAt == 0
	// A job whose frames were held for too long may be cancelled after a claim.
	want(claimed == (j.ClaimedAt != 0) || unclaimed || status == Cancelled, "claimed_at is %d", j.ClaimedAt)
	want(completed == (j.CompletedAt != 0) && (status == Failed) == (j.FailedAt != 0) && (status == Cancelled) == (j.CancelledAt != 0),
		"completed_at is %d, failed_at %d, cancelled_at %d", j.CompletedAt, j.FailedAt, j.CancelledAt)
	want((status == Failed) == (j.FailureCode != "") && (j.FailureCode == "" || fault.Lookup(fault.Code(j.FailureCode)).Door == fault.DoorJob),
		"failure_code is %q", j.FailureCode)
	want((status == Failed) == (j.FailureMessage != ""), "failure_message is %q", j.FailureMessage)
	want((status == Cancelled) == (j.CancelReason == cancelRequested || j.CancelReason == cancelUnsubmitted) && (status == Cancelled || j.CancelReason == ""),
		"cancel_reason is %q", j.CancelReason)
	want(completed == artifactKeyOf(j.JobID, j.ArtifactKey) && (completed || j.ArtifactKey == ""), "artifact_key is %q", j.ArtifactKey)
	want(completed == digest.Is(j.ArtifactSha256) && completed == (j.ArtifactSize > 0) && completed == (j.ArtifactFilename != "") &&
		(completed || (j.ArtifactSha256 == "" && j.ArtifactSize == 0)),
		"artifact %q has %d bytes with the hash %q", j.ArtifactFilename, j.ArtifactSize, j.ArtifactSha256)
	want(j.ArtifactRemovedAt == 0 || (completed && j.ArtifactRemovedAt >= j.CompletedAt), "artifact_removed_at is %d", j.ArtifactRemovedAt)
	want(!completed || j.ArtifactRemovedAt != 0 || f.expires, "nobody removes its artifact at its time")
	want((status != Cancelled && !unclaimed) || j.FramesCompleted == j.FramesReused, "frames_completed is %d", j.FramesCompleted)
	auditFlow(j, unclaimed, want)
}

// auditFlow checks that a job was submitted as its flow requires. unclaimed marks one that
// an operator failed before a worker claimed it.
func auditFlow(j Record, unclaimed bool, want func(held bool, format string, args ...any)) {
	status := Status(j.Status)
	switch Flow(j.Flow) {
	case FlowJobAPI: // it is submitted when it is created
		want(status != AwaitingSubmit && j.SubmittedAt == j.CreatedAt, "flow %s, submitted_at is %d", j.Flow, j.SubmittedAt)
	case FlowPublicV1:
		want((status != AwaitingSubmit || j.SubmittedAt == 0) && (j.SubmittedAt != 0 || status == AwaitingSubmit || status == Cancelled || unclaimed) && j.SubmittedAt != j.CreatedAt,
			"flow %s, submitted_at is %d", j.Flow, j.SubmittedAt)
	default:
		want(false, "there is no flow %q", j.Flow)
	}
}
