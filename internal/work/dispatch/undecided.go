package dispatch

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/framecheck"
)

// Undecided is a failed attempt that ends its job if a worker of another key agrees, or
// once no other key is there. Until then its key gets no frames of the job.
type Undecided struct {
	Ref     lease.Ref
	JobID   string
	Frame   int64
	Failure framecheck.Failure // as it was reported, without the log
	Since   time.Time
}

// LongestUndecided bounds the wait for another key that is online and never asks for the
// frame: then one key decides alone.
const LongestUndecided = 24 * time.Hour

// mostUndecided bounds what is looked at in one round.
const mostUndecided = 1000

// ListUndecided lists undecided attempts, the oldest first.
func ListUndecided(ctx context.Context, tx *db.Tx) ([]Undecided, error) {
	rows, err := tx.FailedAttemptsUndecided(ctx, mostUndecided)
	if err != nil {
		return nil, fmt.Errorf("read undecided attempts: %w", err)
	}
	out := make([]Undecided, 0, len(rows))
	for _, r := range rows {
		out = append(out, Undecided{
			Ref: lease.Ref{ID: r.LeaseID, Holder: r.Holder, Attempt: r.Attempt}, JobID: r.Subject, Frame: r.Item, Since: db.Time(r.FailedAt),
			Failure: framecheck.Failure{Code: fault.Code(r.Code), Message: r.Message, Final: r.Final == 1, SuspectPixels: r.PixelSha256},
		})
	}
	return out, nil
}

// SetUndecided records whether an attempt is undecided. One that no longer is lets its
// key have frames of the job again.
func SetUndecided(ctx context.Context, tx *db.Tx, ref lease.Ref, undecided bool) error {
	row, err := tx.FailedAttemptUndecided(ctx, query.FailedAttemptUndecidedParams{LeaseID: ref.ID, Attempt: ref.Attempt, Undecided: number(undecided)})
	if _, err := failureRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("decide a failed attempt: %w", err)
	}
	if !undecided {
		tx.Announce(lease.Topic(FrameQueue))
	}
	return nil
}
