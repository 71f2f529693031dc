package frames

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Accepted frames and pictures that await another carry checksums. A frame's leaves out
// Blender's output, which is forgotten before the frame.
var (
	frameRows = rowsum.Table[query.Frame]{
		Name: "frame", Key: 2, Except: []string{"Log"}, Later: []string{"Times", "Checked"},
		After: func(ctx context.Context, tx *db.Tx, last query.Frame) ([]query.Frame, error) {
			return tx.FrameAfter(ctx, query.FrameAfterParams{JobID: last.JobID, Frame: last.Frame})
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.Frame, sum string) error {
			return tx.FrameSum(ctx, query.FrameSumParams{RowSum: sum, JobID: r.JobID, Frame: r.Frame})
		},
	}
	candidateRows = rowsum.Table[query.Candidate]{
		Name: "candidate", Key: 3,
		After: func(ctx context.Context, tx *db.Tx, last query.Candidate) ([]query.Candidate, error) {
			return tx.CandidateAfter(ctx, query.CandidateAfterParams{JobID: last.JobID, Frame: last.Frame, Attempt: last.Attempt})
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.Candidate, sum string) error {
			return tx.CandidateSum(ctx, query.CandidateSumParams{RowSum: sum, JobID: r.JobID, Frame: r.Frame, Attempt: r.Attempt})
		},
	}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{frameRows, candidateRows}
