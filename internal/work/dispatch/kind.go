package dispatch

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/farmapi"
)

// A job stays with the Blender version and the denoising of its first frame, so that its
// pictures match. Both together are a worker's kind. A job has one from the claim of a frame
// until all its frames wait again.

// anyKind is the kind of a job that an operator lets workers of all kinds render.
const anyKind = "any"

// ErrOtherKind means that a job stays with another kind of workers.
var ErrOtherKind = errors.New("the job stays with another Blender version or other denoising")

// kindOf is the kind of a worker. Where scenes ask for denoising, one without a denoiser
// refuses them, so it paints what one with a denoiser does.
func kindOf(blenderVersion, denoise string) string {
	if denoise == farmapi.DenoiseOff {
		return blenderVersion + " without denoising"
	}
	return blenderVersion
}

// keepKind has a job, whose turn is locked, stay with a kind of workers; "" is the service
// itself. Error: ErrOtherKind.
func keepKind(ctx context.Context, tx *db.Tx, turn query.Turn, kind string) error {
	if kind == "" || turn.Kind == kind || turn.Kind == anyKind {
		return nil
	}
	if turn.Kind != "" {
		return ErrOtherKind
	}
	if err := tx.TurnKeep(ctx, query.TurnKeepParams{Kind: kind, Party: turn.Party}); err != nil {
		return fmt.Errorf("keep the kind of %s: %w", turn.Party, err)
	}
	return nil
}

// Pin has a job that was just enqueued stay with a kind of workers, whose frames it has taken
// over from another job.
func Pin(ctx context.Context, tx *db.Tx, jobID, kind string) error {
	if err := tx.TurnKeep(ctx, query.TurnKeepParams{Kind: kind, Party: jobID}); err != nil {
		return fmt.Errorf("keep the kind of %s: %w", jobID, err)
	}
	return nil
}

// restoreKind gives a job with accepted frames the kind of those.
func restoreKind(ctx context.Context, tx *db.Tx, jobID string) error {
	kinds, err := tx.FrameKinds(ctx, jobID)
	if err != nil {
		return fmt.Errorf("read the kinds of %s: %w", jobID, err)
	}
	if len(kinds) == 0 {
		return nil // its workers are forgotten
	}
	kind := kinds[0]
	if len(kinds) > 1 {
		kind = anyKind
	}
	if err := tx.TurnKeep(ctx, query.TurnKeepParams{Kind: kind, Party: jobID}); err != nil {
		return fmt.Errorf("keep the kind of %s: %w", jobID, err)
	}
	return nil
}

// KindOf reads the kind of a worker; "" of one that is forgotten.
func KindOf(ctx context.Context, tx *db.Tx, workerID string) (string, error) {
	worker, err := tx.WorkerGet(ctx, workerID)
	if err != nil && !db.IsNotFound(err) {
		return "", fmt.Errorf("read worker: %w", err)
	}
	return worker.Kind, nil
}

// Takes reports whether a job may have frames rendered by a kind of workers.
func Takes(ctx context.Context, tx *db.Tx, jobID, kind string) (bool, error) {
	keeps, err := KeptKind(ctx, tx, jobID)
	return keeps == "" || keeps == anyKind || keeps == kind, err
}

// KeptKind is the kind of workers that a job stays with; "" while it has none.
func KeptKind(ctx context.Context, tx *db.Tx, jobID string) (string, error) {
	kind, err := tx.TurnKind(ctx, jobID)
	if err != nil && !db.IsNotFound(err) {
		return "", fmt.Errorf("read the kind of %s: %w", jobID, err)
	}
	return kind, nil
}

// AllowAnyKind lets workers of all kinds render the rest of a job. Error: job_ended for one
// of which no frame waits or is rendered.
func AllowAnyKind(ctx context.Context, tx *db.Tx, jobID string) error {
	n, err := tx.TurnAllow(ctx, query.TurnAllowParams{Kind: anyKind, JobID: jobID})
	if err == nil && n == 0 {
		return fault.New(fault.JobEnded, "No frame of job %s waits for a worker.", jobID)
	}
	if err != nil {
		return fmt.Errorf("allow any worker for %s: %w", jobID, err)
	}
	tx.Announce(lease.Topic(FrameQueue))
	return nil
}
