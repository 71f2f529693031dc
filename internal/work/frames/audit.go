package frames

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Audit reports jobs whose accepted frames differ from what they count, and jobs whose
// missing frames are not all on the queue. It reads only, in the transaction of the whole
// audit. rule is a promise in words, subject the job's id. An error means that the tables
// cannot be read.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	counted, err := tx.AuditFrames(ctx)
	if err != nil {
		return fmt.Errorf("audit frames: %w", err)
	}
	for _, r := range counted {
		breach("a frame has one winner", r.JobID, "%s with %d of %d frames, but %d frame rows", r.Status, r.FramesCompleted, r.FrameCount, r.Frames)
	}
	leased, err := tx.AuditLeases(ctx)
	if err != nil {
		return fmt.Errorf("audit the leases of frames: %w", err)
	}
	for _, r := range leased {
		breach("missing frames are leased out", r.JobID, "%s with %d of %d frames, but %d leases", r.Status, r.FramesCompleted, r.FrameCount, r.Leases)
	}
	return nil
}
