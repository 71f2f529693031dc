package job

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/reuse"
)

// A job of a quote with reuse has frames of earlier jobs from its creation on, as accepted
// frames that no worker rendered for it (decisions 29). Their bytes stay with the job that
// they come from until this one has its ZIP: see RemoveArtifact.

// UsualReused is how many frames that were taken over a workspace keeps, unless the operator
// sets another number.
const UsualReused = 100_000

// UsualReusedBytes is how many bytes these have, together with their outputs.
const UsualReusedBytes = 256 << 30

// Reused bounds the frames that a workspace has taken over and that are kept: they cost storage
// that nobody pays for.
type Reused struct {
	Frames int64
	Bytes  int64 // with the outputs of the frames
}

// withinReused refuses a job, which has taken its frames over, with which a workspace keeps more
// of them than MostReused. Error: storage_limit_reached.
func (j *Jobs) withinReused(ctx context.Context, tx *db.Tx, workspaceID string) error {
	kept, err := tx.FramesReusedKept(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("count reused frames: %w", err)
	}
	var refusal *fault.Error
	switch {
	case kept.Frames > j.MostReused.Frames:
		refusal = fault.New(fault.StorageLimitReached, "With this job, the workspace would keep %d reused frames. The maximum is %d.", kept.Frames, j.MostReused.Frames)
	case kept.Bytes > j.MostReused.Bytes:
		refusal = fault.New(fault.StorageLimitReached, "With this job, the reused frames of the workspace would have %d bytes. The maximum is %d.", kept.Bytes, j.MostReused.Bytes)
	default:
		return nil
	}
	return refusal.WithAction("Request a quote without reuse, or wait until ZIPs of earlier jobs expire.").
		With(map[string]int64{"reused_frames": kept.Frames, "limit_frames": j.MostReused.Frames, "reused_bytes": kept.Bytes, "limit_bytes": j.MostReused.Bytes})
}

// takeOver puts the frames that a quote found into its new job. Error: quote_expired when a
// job that they come from has lost its ZIP, storage_limit_reached.
func (j *Jobs) takeOver(ctx context.Context, tx *db.Tx, jobID string, found *reuse.Found) error {
	if found == nil || len(found.From) == 0 {
		return nil
	}
	record, err := Read(ctx, tx, jobID)
	if err != nil {
		return err
	}
	for _, from := range found.From { // sorted, so that two starts lock in one order
		origin, err := Lock(ctx, tx, from.JobID)
		if err != nil {
			return err
		}
		if origin.WorkspaceID != record.WorkspaceID || Status(origin.Status) != Completed || origin.ArtifactRemovedAt != 0 {
			return FrameGone()
		}
	}
	if j.Taken == nil {
		return errors.New("frames cannot be taken over here")
	}
	if err := j.Taken(ctx, tx, record, *found); err != nil {
		return err
	}
	return j.withinReused(ctx, tx, record.WorkspaceID)
}

// sample has some of the frames rendered again that a job has taken over.
func (j *Jobs) sample(ctx context.Context, tx *db.Tx, record Record) error {
	if j.Sampled == nil || record.FramesReused == 0 {
		return nil
	}
	return j.Sampled(ctx, tx, record)
}

// unlessFree is a movement of a job's money. A job that takes over all its frames costs
// nothing: it moves none, and the ledger has no entries of it.
func unlessFree(move func(ctx context.Context, tx *db.Tx, workspaceID, jobID string, cents int64) error) func(context.Context, *db.Tx, string, string, int64) error {
	return func(ctx context.Context, tx *db.Tx, workspaceID, jobID string, cents int64) error {
		if cents == 0 {
			return nil
		}
		return move(ctx, tx, workspaceID, jobID, cents)
	}
}

// FrameGone is the error of a quote with a frame that is not kept any more.
func FrameGone() error {
	return fault.New(fault.QuoteExpired, "A frame that this quote reuses is no longer kept.")
}

// CountTaken counts frames that a new job takes over, and their bytes with those of their outputs.
// newest is the last of them.
func CountTaken(ctx context.Context, tx *db.Tx, jobID string, frames int, bytes int64, newest RenderedFrame) error {
	_, err := tx.JobFramesTaken(ctx, query.JobFramesTakenParams{
		Frames: int64(frames), Bytes: bytes, RenderDevice: newest.Device, DeviceName: newest.DeviceName, BlenderVersion: newest.BlenderVersion, Renderer: newest.Renderer,
		Now: tx.Now, JobID: jobID,
	})
	if err != nil {
		return fmt.Errorf("count frames that were taken over: %w", err)
	}
	return nil
}

// enqueueRest puts the frames on the queue that a job has not taken over, for the kind of
// workers that rendered the others.
func enqueueRest(ctx context.Context, tx *db.Tx, record Record, job dispatch.Job) error {
	all, err := quote.ListOf(record.FrameStart, record.FrameEnd, record.FrameStep, record.FrameCount, record.Frames)
	if err != nil {
		return fmt.Errorf("read the frames of %s: %w", record.JobID, err)
	}
	taken, err := tx.FramesTaken(ctx, record.JobID)
	if err != nil {
		return fmt.Errorf("read the frames of %s: %w", record.JobID, err)
	}
	span := dispatch.Span{Items: []int64{}}
	for _, frame := range all {
		if _, has := slices.BinarySearch(taken, int64(frame)); !has {
			span.Items = append(span.Items, int64(frame))
		}
	}
	span.Count = int64(len(span.Items))
	if err := dispatch.Enqueue(ctx, tx, job, span); err != nil {
		return err
	}
	found, err := foundBy(ctx, tx, record.QuoteID)
	if err != nil {
		return err
	}
	return dispatch.Pin(ctx, tx, record.JobID, found.Kind)
}

// foundBy is what a quote took over.
func foundBy(ctx context.Context, tx *db.Tx, quoteID string) (reuse.Found, error) {
	row, err := tx.QuoteGet(ctx, quoteID)
	if err != nil {
		return reuse.Found{}, fmt.Errorf("read quote: %w", err)
	}
	found, err := reuse.Read(row.Reused)
	if err != nil || found == nil {
		return reuse.Found{}, errors.Join(err, fmt.Errorf("quote %s takes nothing over", quoteID))
	}
	return *found, nil
}

// Origins reads where a completed job's frames are proven: its receipt and its place in the
// log.
func Origins(ctx context.Context, tx *db.Tx, jobIDs []string) (map[string]receipt.Origin, error) {
	out := map[string]receipt.Origin{}
	for _, jobID := range jobIDs {
		if _, known := out[jobID]; known || jobID == "" {
			continue
		}
		row, err := tx.ReceiptByJob(ctx, jobID)
		if err != nil {
			return nil, fmt.Errorf("read the receipt of %s: %w", jobID, err)
		}
		var s Signed
		ratelimit.Work(ctx, func() { s, err = openReceipt(ctx, tx, row.ReceiptID, row.Envelope) })
		if err != nil {
			return nil, err
		}
		if s.LogIndex == nil {
			return nil, fmt.Errorf("receipt %s names no leaf of the log", s.ReceiptID)
		}
		out[jobID] = receipt.Origin{ReceiptID: s.ReceiptID, LogIndex: *s.LogIndex}
	}
	return out, nil
}
