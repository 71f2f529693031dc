package result

import (
	"archive/zip"
	"context"
	"fmt"
	"io"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/receipt"
)

// Origins opens frames that a job has taken over, in the ZIPs of the jobs that they come from.
// It keeps the last ZIP open, for the next frame of it. Not safe for concurrent use.
type Origins struct {
	DB    *db.DB
	Whole *blob.Whole
	Blobs blob.Store

	jobID  string // of the ZIP that is open
	zipped blob.Reader
	files  *zip.Reader
}

// Open opens a frame's bytes. Errors: render_not_found, artifact_expired, result_damaged. The
// caller closes the result before the next call.
func (o *Origins) Open(ctx context.Context, f Frame) (io.ReadCloser, error) {
	return o.open(ctx, f, func(tx *db.Tx) (string, error) {
		origin, err := tx.FrameView(ctx, query.FrameViewParams{JobID: f.Origin, Frame: f.Frame})
		return receipt.FrameEntry(origin.File), err
	})
}

// OpenOutput opens an output of a frame, by its number, as Open does.
func (o *Origins) OpenOutput(ctx context.Context, f Frame, number int64) (io.ReadCloser, error) {
	return o.open(ctx, f, func(tx *db.Tx) (string, error) {
		name, err := tx.FrameOutputName(ctx, query.FrameOutputNameParams{JobID: f.Origin, Frame: f.Frame, Number: number})
		return receipt.OutputEntry(name), err
	})
}

// open opens the entry of the ZIP of f's origin that named names.
func (o *Origins) open(ctx context.Context, f Frame, named func(*db.Tx) (string, error)) (io.ReadCloser, error) {
	var record query.Job
	var name string
	err := o.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if record, err = tx.JobGet(ctx, f.Origin); err != nil {
			return err
		}
		name, err = named(tx)
		return err
	})
	if db.IsNotFound(err) {
		return nil, Removed()
	}
	if err != nil {
		return nil, fmt.Errorf("read the origin of frame %d: %w", f.Frame, err)
	}
	if err := o.turnTo(ctx, record); err != nil {
		return nil, err
	}
	entry, err := o.files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read artifact: %w", err)
	}
	return entry, nil
}

// turnTo opens the ZIP of a job, unless it is open.
func (o *Origins) turnTo(ctx context.Context, record query.Job) (err error) {
	if o.zipped != nil && o.jobID == record.JobID {
		return nil
	}
	if err := o.Close(); err != nil {
		return err
	}
	if o.zipped, err = OpenZIP(ctx, o.Whole, o.Blobs, record); err != nil {
		o.zipped = nil
		return err
	}
	o.jobID = record.JobID
	if o.files, err = zip.NewReader(o.zipped, o.zipped.Size()); err != nil {
		return fmt.Errorf("read artifact: %w", err)
	}
	return nil
}

// Close closes what is open.
func (o *Origins) Close() (err error) {
	if o.zipped != nil {
		err = o.zipped.Close()
	}
	o.jobID, o.zipped, o.files = "", nil, nil
	return err
}
