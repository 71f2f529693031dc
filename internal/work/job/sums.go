package job

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// A job's checksum covers what was ordered, which never changes. The audit holds the rest
// against the job's frames, its money, its event and its receipt.
var jobRows = rowsum.Table[query.Job]{
	Name: "job", Key: 1,
	Except: []string{
		"Status", "Seq", "FramesCompleted", "RenderUs", "ChargedCents", "RenderDevice", "DeviceName", "BlenderVersion", "Renderer",
		"FailureCode", "FailureMessage", "CancelReason", "ArtifactKey", "ArtifactFilename", "ArtifactSha256", "ArtifactSize", "ArtifactRemovedAt",
		"SubmittedAt", "ClaimedAt", "CompletedAt", "FailedAt", "CancelledAt", "UpdatedAt",
	},
	After: func(ctx context.Context, tx *db.Tx, last query.Job) ([]query.Job, error) {
		return tx.AuditJobs(ctx, last.JobID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.Job, sum string) error {
		return tx.JobSum(ctx, query.JobSumParams{RowSum: sum, JobID: r.JobID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{jobRows}
