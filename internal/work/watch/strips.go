package watch

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/pixels"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/job"
)

// mostStrips bounds the strips that are shown of a job at once.
const mostStrips = 256

// CutFrame is a frame that several workers are rendering, each a strip of its rows.
type CutFrame struct {
	Frame         int
	Width, Height int // of the frame, pixels
	Strips        []CutStrip
}

// Delivered counts the strips that are in.
func (c CutFrame) Delivered() (n int) {
	for _, s := range c.Strips {
		if s.SHA256 != "" {
			n++
		}
	}
	return n
}

// CutStrip is one strip of such a frame.
type CutStrip struct {
	Part   int         // from the top, from 0
	Rows   strips.Rows // that its file shows, with those that it shares with its neighbours
	SHA256 string      // of its file; "" until it is delivered

	blobKey string
}

// CutFrames lists the frames of a job that are being rendered in strips, by number; the first
// 256 strips of them. Error: render_not_found.
func (r *Reader) CutFrames(ctx context.Context, workspaceID, jobID string) (cut []CutFrame, err error) {
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if cut, err = cutFrames(ctx, tx, workspaceID, jobID); err != nil || len(cut) == 0 {
			return err
		}
		scene, err := job.SceneOf(ctx, tx, jobID)
		for i := range cut {
			cut[i].Width = scene.FrameWidth
		}
		return err
	})
	return cut, err
}

// cutFrames is CutFrames without the width, which the strips do not tell.
func cutFrames(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (cut []CutFrame, err error) {
	if _, err := job.Find(ctx, tx, workspaceID, jobID); err != nil {
		return nil, err
	}
	rows, err := tx.StripsShown(ctx, query.StripsShownParams{JobID: jobID, Max: mostStrips})
	if err != nil {
		return nil, fmt.Errorf("list strips: %w", err)
	}
	for _, s := range rows {
		if s.Part == 0 || len(cut) == 0 {
			cut = append(cut, CutFrame{Frame: int(s.Frame), Height: int(s.Height)})
		}
		of := &cut[len(cut)-1]
		shown := strips.Rows{From: int(s.RowFrom), To: int(s.RowTo)}.Wider(int(s.Overlap), int(s.Height))
		of.Strips = append(of.Strips, CutStrip{Part: int(s.Part), Rows: shown, SHA256: s.Sha256, blobKey: s.BlobKey})
	}
	return cut, nil
}

// CutStrip finds a strip that is in. Errors: render_not_found; frame_not_found, also once the
// frame is accepted.
func (r *Reader) CutStrip(ctx context.Context, workspaceID, jobID string, frame, part int) (CutStrip, error) {
	var cut []CutFrame
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		cut, err = cutFrames(ctx, tx, workspaceID, jobID)
		return err
	})
	if err != nil {
		return CutStrip{}, err
	}
	for _, of := range cut {
		if of.Frame == frame && part >= 0 && part < len(of.Strips) && of.Strips[part].SHA256 != "" {
			return of.Strips[part], nil
		}
	}
	return CutStrip{}, fault.New(fault.FrameNotFound, "No strip %d of frame %d of %s has been delivered.", part+1, frame, jobID)
}

// StripJPEG makes a small JPEG of the light in a strip, without the scene's compositor and
// colours. It is made as Preview.JPEG makes one, with the same errors.
func (r *Reader) StripJPEG(ctx context.Context, jobID string, s CutStrip) ([]byte, error) {
	return r.turns.Share(ctx, jobID, previewKey{sha256: s.SHA256, side: previewSide}, func() ([]byte, error) {
		file, err := r.Blobs.Open(ctx, s.blobKey)
		if errors.Is(err, fs.ErrNotExist) { // the frame was finished meanwhile
			return nil, fault.New(fault.FrameNotFound, "The strip was removed, because its frame is finished.").Wrap(err)
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		return encoded(ctx, file, "the strip", func(file io.Reader) (image.Image, error) { return pixels.Thumbnail(file, previewSide) }, previewQuality)
	})
}
