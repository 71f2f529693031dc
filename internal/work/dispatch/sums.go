package dispatch

import (
	"context"
	"strconv"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// What a worker registered with, its standing, and failed attempts carry checksums: they
// follow from nothing else. A worker's sum leaves out when it was last seen, which every
// report changes.
var (
	workerRows = rowsum.Table[query.Worker]{
		Name: "worker",
		After: func(ctx context.Context, tx *db.Tx, last query.Worker) ([]query.Worker, error) {
			return tx.WorkerAfter(ctx, last.WorkerID)
		},
		Fields: func(r query.Worker) []any {
			return []any{
				r.WorkerID, r.KeyID, r.Name, r.BlenderVersion, r.BuildHash, r.Device, r.DeviceName,
				r.Denoise, r.RegisteredAt, r.Sandbox, r.Faults, r.Suspensions, r.SuspendedUntil, r.Renderer,
			}
		},
		Kept: func(r query.Worker) string { return r.RowSum },
		ID:   func(r query.Worker) string { return r.WorkerID },
		Store: func(ctx context.Context, tx *db.Tx, r query.Worker, sum string) error {
			return tx.WorkerSum(ctx, query.WorkerSumParams{RowSum: sum, WorkerID: r.WorkerID})
		},
	}
	failureRows = rowsum.Table[query.FailedAttempt]{
		Name: "failed_attempt",
		After: func(ctx context.Context, tx *db.Tx, last query.FailedAttempt) ([]query.FailedAttempt, error) {
			return tx.FailedAttemptAfter(ctx, query.FailedAttemptAfterParams{LeaseID: last.LeaseID, Attempt: last.Attempt})
		},
		Fields: func(r query.FailedAttempt) []any {
			return []any{r.LeaseID, r.Attempt, r.Subject, r.Item, r.Holder, r.Code, r.Message, r.Log, r.Incapable, r.PixelSha256, r.FailedAt, r.KeyID, r.Final, r.Undecided}
		},
		Kept: func(r query.FailedAttempt) string { return r.RowSum },
		ID:   func(r query.FailedAttempt) string { return r.LeaseID + " " + strconv.FormatInt(r.Attempt, 10) },
		Store: func(ctx context.Context, tx *db.Tx, r query.FailedAttempt, sum string) error {
			return tx.FailedAttemptSum(ctx, query.FailedAttemptSumParams{RowSum: sum, LeaseID: r.LeaseID, Attempt: r.Attempt})
		},
	}
)

// FillSums writes the checksums of rows that an older version wrote. A service calls it
// before it serves.
func FillSums(ctx context.Context, d *db.DB) error {
	for _, fill := range []func(context.Context, *db.DB) error{workerRows.Fill, failureRows.Fill} {
		if err := fill(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
