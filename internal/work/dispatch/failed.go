package dispatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/framecheck"
)

// RecordFailure stores a failed attempt. It decides which worker gets the frame next,
// and the job's log shows it.
func RecordFailure(ctx context.Context, tx *db.Tx, ref lease.Ref, jobID string, frame int64, f framecheck.Failure) error {
	row, err := tx.FailedAttemptCreate(ctx, query.FailedAttemptCreateParams{
		LeaseID: ref.ID, Attempt: ref.Attempt, Subject: jobID, Item: frame, Holder: ref.Holder,
		Code: string(f.Code), Message: f.Message, Log: endOfLog(f.Log),
		Incapable: number(f.MissingCapability()), Final: number(f.Final), PixelSha256: f.SuspectPixels, FailedAt: tx.Now,
	})
	if _, err := failureRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("store a failed attempt: %w", err)
	}
	return nil
}

// ForgetFailure deletes a failed attempt that was none: its worker is heard again, and
// renders on. ok is false where there is no such attempt.
func ForgetFailure(ctx context.Context, tx *db.Tx, ref lease.Ref) (ok bool, err error) {
	n, err := tx.FailedAttemptForget(ctx, query.FailedAttemptForgetParams{LeaseID: ref.ID, Attempt: ref.Attempt, Holder: ref.Holder})
	if err != nil {
		return false, fmt.Errorf("forget a failed attempt: %w", err)
	}
	return n > 0, nil
}

// number is how a truth is stored.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
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
	for _, row := range rows {
		r := row.FailedAttempt
		attempts = append(attempts, framecheck.Attempt{
			Number: r.Attempt, Holder: r.Holder, KeyID: r.KeyID, Code: fault.Code(r.Code), MissingCapability: r.Incapable == 1,
			PixelSHA256: r.PixelSha256, Void: row.Void == 1,
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
	h.SameCode, h.SameCodeWorkers, h.SameCodeKeys = int(alike.Attempts), int(alike.Holders), int(alike.Keys)
	h.AnyAccepted = job.FramesCompleted > 0
	others, err := tx.OthersFor(ctx, query.OthersForParams{Since: onlineSince(tx), Now: tx.Now, Holder: ref.Holder, Subject: job.JobID, Item: frame})
	if err != nil {
		return h, fmt.Errorf("find other workers: %w", err)
	}
	h.OtherWorkers = others > 0
	h.OtherKey, err = otherKeySeen(ctx, tx, job.JobID, keyOf(attempts, ref.Attempt))
	return h, err
}

// OtherKeyWait is how long a failure waits for confirmation by another key that was
// online: long enough for a machine to restart, short enough for a person who waits for
// the job.
const OtherKeyWait = time.Hour

// otherKeySeen reports whether a worker of another key was online within OtherKeyWait.
// Keys that are revoked or paused, and workers that cannot render the job, are left out:
// waiting for those would be useless.
func otherKeySeen(ctx context.Context, tx *db.Tx, jobID, keyID string) (bool, error) {
	n, err := tx.OtherKeySeen(ctx, query.OtherKeySeenParams{Since: tx.Now - OtherKeyWait.Microseconds(), KeyID: keyID, Now: tx.Now, Subject: jobID})
	if err != nil {
		return false, fmt.Errorf("find workers of other keys: %w", err)
	}
	return n > 0, nil
}

// keyOf is the node key of an attempt.
func keyOf(attempts []framecheck.Attempt, number int64) string {
	for _, a := range attempts {
		if a.Number == number {
			return a.KeyID
		}
	}
	return ""
}
