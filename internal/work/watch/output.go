package watch

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Output is a file that a File Output node wrote for a frame. The members are part of the
// published interface.
type Output struct {
	Name      string `json:"name"` // below outputs/ in the ZIP, with folders
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// pictured is a file to look at: a frame's picture, or one of its outputs. The row of an output
// is that of its frame with the output's name, key, hash and size.
type pictured struct {
	row
	output bool
	number int64 // of the output
}

// Output finds a file that a File Output node wrote for an accepted frame, by its name below
// outputs/. Errors: those of Preview; frame_not_found also for a frame without such a file.
func (r *Reader) Output(ctx context.Context, workspaceID, jobID string, frame int, name string) (Preview, error) {
	p, err := r.Preview(ctx, workspaceID, jobID, frame)
	if err != nil || name == "" {
		return p, err
	}
	var found query.FrameOutputGetRow
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		found, err = tx.FrameOutputGet(ctx, query.FrameOutputGetParams{JobID: jobID, Name: name})
		return err
	})
	if db.IsNotFound(err) || err == nil && found.Frame != p.frame.Frame {
		return p, fault.New(fault.FrameNotFound, "Frame %d of %s has no output with that name.", frame, jobID)
	}
	if err != nil {
		return p, fmt.Errorf("read an output of a frame: %w", err)
	}
	p.frame.output, p.frame.number, p.SHA256 = true, found.Number, found.Sha256
	p.frame.File, p.frame.BlobKey, p.frame.Sha256, p.frame.SizeBytes = found.Name, found.BlobKey, found.Sha256, found.SizeBytes
	return p, nil
}

// outputsOf lists the outputs of all accepted frames of a job, by frame.
func outputsOf(ctx context.Context, tx *db.Tx, jobID string) (map[int64][]Output, error) {
	rows, err := tx.FrameOutputsOf(ctx, jobID)
	if err != nil {
		return nil, fmt.Errorf("read the outputs of frames: %w", err)
	}
	all := map[int64][]Output{}
	for _, o := range rows {
		all[o.Frame] = append(all[o.Frame], Output{o.Name, o.Sha256, o.SizeBytes})
	}
	return all, nil
}

// outputsSince lists the outputs of frames that were read with one call of FramesSince.
func outputsSince(ctx context.Context, tx *db.Tx, jobID string, seq int64, frames []row) (map[int64][]Output, error) {
	if len(frames) == 0 {
		return nil, nil
	}
	rows, err := tx.FrameOutputsSince(ctx, query.FrameOutputsSinceParams{JobID: jobID, Seq: seq, Last: frames[len(frames)-1].Seq})
	if err != nil {
		return nil, fmt.Errorf("read the outputs of frames: %w", err)
	}
	all := map[int64][]Output{}
	for _, o := range rows {
		all[o.Frame] = append(all[o.Frame], Output{o.Name, o.Sha256, o.SizeBytes})
	}
	return all, nil
}
