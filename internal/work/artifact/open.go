package artifact

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
)

// OpenFrame opens a frame's bytes: its own file while that exists, else the entry in the
// ZIP. Trying the file first makes the change from one to the other invisible. Errors:
// frame_not_found, artifact_expired. The caller closes the result. It does not hash the
// bytes: packing has compared those in the ZIP.
func OpenFrame(ctx context.Context, blobs blob.Store, record job.Record, f Frame) (io.ReadCloser, error) {
	own, err := blobs.Open(ctx, f.BlobKey)
	if err == nil || !errors.Is(err, blob.ErrNotFound) {
		return own, err
	}
	if record.ArtifactKey == "" {
		return nil, fault.New(fault.FrameNotFound, "The frames of a job that ended as %s are not kept.", record.Status)
	}
	artifact, err := blobs.Open(ctx, record.ArtifactKey)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fault.New(fault.ArtifactExpired, "The artifact is past its retention.")
	}
	if err != nil {
		return nil, fmt.Errorf("open artifact: %w", err)
	}
	// A blob is read at any offset, so only the directory of the ZIP and this entry are read.
	z, err := zip.NewReader(artifact, artifact.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read artifact: %w", err), artifact.Close())
	}
	entry, err := z.Open(receipt.FrameEntry(f.File))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read artifact: %w", err), artifact.Close())
	}
	return zipEntry{entry, artifact}, nil
}

// zipEntry is an entry whose Close closes the whole ZIP. Entries are stored without
// compression, so the entry itself holds nothing to close.
type zipEntry struct {
	io.Reader
	artifact io.Closer
}

func (z zipEntry) Close() error { return z.artifact.Close() }
