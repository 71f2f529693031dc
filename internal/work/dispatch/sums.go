package dispatch

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// What a worker registered with, its standing and its key's, and failed attempts carry checksums: they
// follow from nothing else. A worker's sum leaves out when it was last seen, which every
// report changes, and when it left.
var (
	workerRows = rowsum.Table[query.Worker]{
		Name: "worker", Key: 1, Except: []string{"SeenAt", "LeftAt"},
		After: func(ctx context.Context, tx *db.Tx, last query.Worker) ([]query.Worker, error) {
			return tx.WorkerAfter(ctx, last.WorkerID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.Worker, sum string) error {
			return tx.WorkerSum(ctx, query.WorkerSumParams{RowSum: sum, WorkerID: r.WorkerID})
		},
	}
	failureRows = rowsum.Table[query.FailedAttempt]{
		Name: "failed_attempt", Key: 2,
		After: func(ctx context.Context, tx *db.Tx, last query.FailedAttempt) ([]query.FailedAttempt, error) {
			return tx.FailedAttemptAfter(ctx, query.FailedAttemptAfterParams{LeaseID: last.LeaseID, Attempt: last.Attempt})
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.FailedAttempt, sum string) error {
			return tx.FailedAttemptSum(ctx, query.FailedAttemptSumParams{RowSum: sum, LeaseID: r.LeaseID, Attempt: r.Attempt})
		},
	}
	standingRows = rowsum.Table[query.KeyStanding]{
		Name: "key_standing", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.KeyStanding) ([]query.KeyStanding, error) {
			return tx.KeyStandingAfter(ctx, last.KeyID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.KeyStanding, sum string) error {
			return tx.KeyStandingSum(ctx, query.KeyStandingSumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{workerRows, failureRows, standingRows}
