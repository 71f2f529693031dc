package watch

import (
	"context"
	"io"

	"svc.example/internal/work/artifact"
)

// File opens the file of an accepted frame as it was rendered, from the frame's own blob or
// from the artifact. name is its name there. The caller closes it. Errors: those of Preview,
// frame_not_found and artifact_expired when the file is gone.
func (p Preview) File(ctx context.Context) (file io.ReadCloser, name string, size int64, err error) {
	file, err = artifact.OpenFrame(ctx, p.reader.Whole, p.reader.Blobs, p.job, p.frame)
	return file, p.frame.File, p.frame.SizeBytes, err
}
