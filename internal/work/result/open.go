package result

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/receipt"
)

// OpenFrame opens a frame's bytes: its own file while that exists, otherwise the entry
// in the ZIP, or in that of the job that it was taken over from. Trying the file first makes
// the change from one to the other invisible.
// Errors: frame_not_found, artifact_expired, result_damaged. The caller closes the
// result. Its bytes are those that were accepted.
func OpenFrame(ctx context.Context, d *db.DB, whole *blob.Whole, blobs blob.Store, record query.Job, f Frame) (io.ReadCloser, error) {
	return openOf(ctx, d, whole, blobs, record, f, receipt.FrameEntry(f.File), func(o *Origins) (io.ReadCloser, error) { return o.Open(ctx, f) })
}

// OpenOutput opens a file that a File Output node wrote for a frame, as OpenFrame does. f is its
// frame, with the file's name below outputs/, key and hash in place of the picture's; number is the
// output's.
func OpenOutput(ctx context.Context, d *db.DB, whole *blob.Whole, blobs blob.Store, record query.Job, f Frame, number int64) (io.ReadCloser, error) {
	return openOf(ctx, d, whole, blobs, record, f, receipt.OutputEntry(f.File), func(o *Origins) (io.ReadCloser, error) { return o.OpenOutput(ctx, f, number) })
}

// openOf opens a file of f: of a frame that was taken over, in the ZIP, or in that of its origin
// while there is none; of another, the file itself or the ZIP.
func openOf(ctx context.Context, d *db.DB, whole *blob.Whole, blobs blob.Store, record query.Job, f Frame, entry string, early func(*Origins) (io.ReadCloser, error)) (io.ReadCloser, error) {
	switch {
	case f.Origin == "":
		return openStored(ctx, whole, blobs, record, f, entry)
	case record.ArtifactKey != "":
		return openZipped(ctx, whole, blobs, record, entry)
	}
	o := &Origins{DB: d, Whole: whole, Blobs: blobs}
	file, err := early(o)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return zipEntry{file, o}, nil
}

// openStored opens the file of f, or the entry in the ZIP of its job.
func openStored(ctx context.Context, whole *blob.Whole, blobs blob.Store, record query.Job, f Frame, entry string) (io.ReadCloser, error) {
	own, err := openBegun(ctx, whole, blobs, f)
	damaged := errors.Is(err, blob.ErrDamaged)
	if err == nil || !damaged && !errors.Is(err, blob.ErrNotFound) {
		return own, err
	}
	if record.ArtifactKey == "" && damaged {
		return nil, fault.New(fault.ResultDamaged, "The stored picture of frame %d is damaged.", f.Frame).Wrap(err)
	}
	if record.ArtifactKey == "" {
		return nil, fault.New(fault.FrameNotFound, "The frames of a job that ended as %s are not kept.", record.Status)
	}
	return openZipped(ctx, whole, blobs, record, entry)
}

// openZipped opens an entry in the ZIP of a job.
func openZipped(ctx context.Context, whole *blob.Whole, blobs blob.Store, record query.Job, name string) (io.ReadCloser, error) {
	zipped, err := OpenZIP(ctx, whole, blobs, record)
	if err != nil {
		return nil, err
	}
	// A blob is read at any offset, so only the directory of the ZIP and this entry are read.
	z, err := zip.NewReader(zipped, zipped.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read artifact: %w", err), zipped.Close())
	}
	entry, err := z.Open(name)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read artifact: %w", err), zipped.Close())
	}
	return zipEntry{entry, zipped}, nil
}

// openBegun opens a frame's own file and asks for its first byte: a store then sends it
// to its end, also when the job ends meanwhile and the file goes.
func openBegun(ctx context.Context, whole *blob.Whole, blobs blob.Store, f Frame) (io.ReadCloser, error) {
	file, err := whole.Open(ctx, blobs, f.BlobKey, f.Sha256)
	if err != nil {
		return nil, err
	}
	begun := bufio.NewReader(file)
	if _, err := begun.Peek(1); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{begun, file}, nil
}

// Removed is the error of a ZIP that is not kept any more.
func Removed() error {
	return fault.New(fault.ArtifactExpired, "The artifact is no longer kept.")
}

// OpenZIP opens the ZIP of a completed job, as the receipt describes it. Errors:
// artifact_expired, result_damaged.
func OpenZIP(ctx context.Context, whole *blob.Whole, blobs blob.Store, record query.Job) (blob.Reader, error) {
	if record.ArtifactRemovedAt != 0 {
		return nil, Removed()
	}
	r, err := whole.Open(ctx, blobs, record.ArtifactKey, record.ArtifactSha256)
	if errors.Is(err, blob.ErrDamaged) || errors.Is(err, blob.ErrNotFound) {
		return nil, fault.New(fault.ResultDamaged, "The stored ZIP does not match its receipt.").Wrap(err)
	}
	if err != nil {
		return nil, fmt.Errorf("open artifact: %w", err)
	}
	return r, nil
}

// zipEntry is an entry whose Close closes the whole ZIP. Entries are stored without
// compression, so the entry itself holds nothing to close.
type zipEntry struct {
	io.Reader
	artifact io.Closer
}

func (z zipEntry) Close() error { return z.artifact.Close() }
