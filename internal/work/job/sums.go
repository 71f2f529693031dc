package job

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// A job's checksum covers what was ordered, which never changes. The audit holds the rest
// against the job's frames, its money, its event and its receipt.
var jobRows = rowsum.Table[query.Job]{
	Name: "job", Key: 1,
	Except: []string{
		"Status", "Seq", "FramesCompleted", "FramesReused", "BytesReused", "RenderUs", "ChargedCents", "RenderDevice", "DeviceName", "BlenderVersion", "Renderer",
		"FailureCode", "FailureMessage", "CancelReason", "ArtifactKey", "ArtifactFilename", "ArtifactSha256", "ArtifactSize", "ArtifactRemovedAt",
		"Movie", "SubmittedAt", "ClaimedAt", "CompletedAt", "FailedAt", "CancelledAt", "UpdatedAt",
		"Findings", "Frames", "RerenderOf", "Settings", // compared with frames and quote
		"Tags", "Search", // compared with each other and the name; the audit wants none of an erased workspace
	},
	Later: []string{"RequestID", "StartedBy", "Pauses"},
}

// erasedJobRows is for jobs of erased workspaces: they never change again, and without
// receipt and event nothing else confirms them, so the sum covers the whole row except
// what frames and quote confirm.
var erasedJobRows = rowsum.Table[query.Job]{Name: jobRows.Name, Key: jobRows.Key, Except: []string{"Findings", "Frames", "RerenderOf", "Settings", "Tags", "Search"}, Later: []string{"RequestID", "FramesReused", "BytesReused", "StartedBy", "Pauses", "Movie"}}

// erasedReceiptRows are what stays of receipts. The sum covers the whole row.
var erasedReceiptRows = rowsum.Table[query.ErasedReceipt]{Name: "erased_receipt", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{jobRows, erasedReceiptRows}
