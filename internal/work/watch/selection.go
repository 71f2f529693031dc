package watch

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/result"
)

// Selection is some of a job's accepted frames.
type Selection struct {
	// Filename is a name for a ZIP of them.
	Filename string

	reader *Reader
	job    job.Record
	frames []row
}

// Select finds frames of a job, accepted or kept. Errors: render_not_found, artifact_expired,
// and frame_not_found, which names the frames that are not rendered.
func (r *Reader) Select(ctx context.Context, workspaceID, jobID string, chosen framelist.List) (Selection, error) {
	s := Selection{reader: r, Filename: jobID + "-frames.zip"}
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if s.job, err = job.Find(ctx, tx, workspaceID, jobID); err != nil {
			return err
		}
		if s.job.ArtifactRemovedAt != 0 {
			return result.Removed()
		}
		rows, err := tx.FramesOf(ctx, jobID)
		if err != nil {
			return fmt.Errorf("read frames: %w", err)
		}
		found := map[int]bool{}
		for _, f := range rows {
			if n := int(f.Frame); chosen.Has(n) {
				s.frames, found[n] = append(s.frames, row(f)), true
			}
		}
		missing := slices.DeleteFunc(slices.Clone(chosen), func(n int) bool { return found[n] })
		if len(missing) > 0 {
			return fault.New(fault.FrameNotFound, "These frames of %s are not rendered: %.100s.", jobID, missing.String())
		}
		return nil
	})
	return s, err
}

// WriteZIP writes the files of the frames as a ZIP. It keeps nothing in memory but the names.
// What is written before an error stays written, and is no complete ZIP.
func (s Selection) WriteZIP(ctx context.Context, w io.Writer) (err error) {
	open, done, err := s.opener(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	out := zip.NewWriter(w)
	for _, f := range s.frames {
		if err := s.copy(out, f, open); err != nil {
			return err
		}
	}
	return out.Close()
}

// opener gives what opens the file of a frame. The ZIP of a completed job is opened once for
// all of them.
func (s Selection) opener(ctx context.Context) (open func(f row) (io.ReadCloser, error), done func() error, err error) {
	r := s.reader
	if s.job.ArtifactKey == "" {
		return func(f row) (io.ReadCloser, error) { return r.open(ctx, s.job, pictured{row: f}) }, func() error { return nil }, nil
	}
	whole, err := result.OpenZIP(ctx, r.Whole, r.Blobs, s.job)
	if err != nil {
		return nil, nil, err
	}
	z, err := zip.NewReader(whole, whole.Size())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read artifact: %w", err), whole.Close())
	}
	return func(f row) (io.ReadCloser, error) { return z.Open(receipt.FrameEntry(f.File)) }, whole.Close, nil
}

// copy adds the file of a frame. Pictures are compressed already.
func (s Selection) copy(out *zip.Writer, f row, open func(f row) (io.ReadCloser, error)) (err error) {
	file, err := open(f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	entry, err := out.CreateHeader(&zip.FileHeader{Name: f.File, Method: zip.Store, Modified: db.Time(f.AcceptedAt)})
	if err == nil {
		_, err = io.Copy(entry, file)
	}
	return err
}
