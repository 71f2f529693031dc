package watch

import (
	"context"
	"io"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
	"svc.example/internal/work/result"
)

// File opens the file of an accepted frame, or of its output, as it was rendered: from its own
// blob or from the artifact. name is its name there. The caller closes it. Errors: those of Preview,
// frame_not_found and artifact_expired when the file is gone.
func (p Preview) File(ctx context.Context) (file io.ReadCloser, name string, size int64, err error) {
	file, err = p.reader.open(ctx, p.job, p.frame)
	return file, p.frame.File, p.frame.SizeBytes, err
}

// open opens the bytes of a frame or an output. A job may end between the reading of its record and this:
// the frame's own file goes then, and only the record of now knows the ZIP.
func (r *Reader) open(ctx context.Context, record job.Record, f pictured) (io.ReadCloser, error) {
	file, err := r.openNow(ctx, record, f)
	if fault.Of(err) != fault.FrameNotFound || record.ArtifactKey != "" {
		return file, err
	}
	gone := err
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		record, err = job.Read(ctx, tx, record.JobID)
		return err
	})
	if err != nil {
		return nil, err
	}
	if record.ArtifactKey == "" {
		return nil, gone
	}
	return r.openNow(ctx, record, f)
}

func (r *Reader) openNow(ctx context.Context, record job.Record, f pictured) (io.ReadCloser, error) {
	if f.output {
		return result.OpenOutput(ctx, r.DB, r.Whole, r.Blobs, record, f.row, f.number)
	}
	return result.OpenFrame(ctx, r.DB, r.Whole, r.Blobs, record, f.row)
}
