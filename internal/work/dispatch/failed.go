package dispatch

import (
	"context"
	"fmt"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/framecheck"
)

// RecordFailure stores a failed attempt. It decides which worker gets the frame next,
// and the job's log shows it.
func RecordFailure(ctx context.Context, tx *db.Tx, ref lease.Ref, jobID string, frame int64, f framecheck.Failure) error {
	incapable := int64(0)
	if f.MissingCapability() {
		incapable = 1
	}
	err := tx.FailedAttemptCreate(ctx, query.FailedAttemptCreateParams{
		LeaseID: ref.ID, Attempt: ref.Attempt, Subject: jobID, Item: frame, Holder: ref.Holder,
		Code: string(f.Code), Message: f.Message, Log: endOfLog(f.Log), Incapable: incapable, PixelSha256: f.SuspectPixels, FailedAt: tx.Now,
	})
	if err != nil {
		return fmt.Errorf("store a failed attempt: %w", err)
	}
	return nil
}

// maxFailedLog bounds the stored output of a failed attempt, in bytes: a job may have
// thousands of them.
const maxFailedLog = 4 << 10

// endOfLog is the end of a log, from the start of a line: errors come last.
func endOfLog(log string) string {
	if len(log) <= maxFailedLog {
		return log
	}
	log = log[len(log)-maxFailedLog:]
	return log[strings.IndexByte(log, '\n')+1:]
}

// FailedAttempts lists the failed attempts of a frame, the first one first.
func FailedAttempts(ctx context.Context, tx *db.Tx, leaseID string) ([]framecheck.Attempt, error) {
	rows, err := tx.FailedAttemptsOfFrame(ctx, leaseID)
	if err != nil {
		return nil, fmt.Errorf("read failed attempts: %w", err)
	}
	attempts := make([]framecheck.Attempt, 0, len(rows))
	for _, r := range rows {
		attempts = append(attempts, framecheck.Attempt{
			Number: r.Attempt, Holder: r.Holder, Code: fault.Code(r.Code), MissingCapability: r.Incapable == 1, PixelSHA256: r.PixelSha256,
		})
	}
	return attempts, nil
}

// HistoryOf collects the facts by which framecheck decides whether a failure ends the
// job. Call RecordFailure first: the attempt that just failed counts too.
func HistoryOf(ctx context.Context, tx *db.Tx, job Job, ref lease.Ref, frame int64, f framecheck.Failure) (h framecheck.History, err error) {
	attempts, err := FailedAttempts(ctx, tx, ref.ID)
	if err != nil {
		return h, err
	}
	h.Add(attempts, ref.Holder, ref.Attempt)
	alike, err := tx.FailedAttemptsAlike(ctx, query.FailedAttemptsAlikeParams{JobID: job.JobID, Code: string(f.Code)})
	if err != nil {
		return h, fmt.Errorf("count failed attempts: %w", err)
	}
	h.SameCode, h.SameCodeWorkers, h.AnyAccepted = int(alike.Attempts), int(alike.Holders), job.FramesCompleted > 0
	others, err := tx.OthersFor(ctx, query.OthersForParams{Since: onlineSince(tx), Now: tx.Now, Holder: ref.Holder, Subject: job.JobID, Item: frame})
	if err != nil {
		return h, fmt.Errorf("find other workers: %w", err)
	}
	h.OtherWorkers = others > 0
	return h, nil
}
