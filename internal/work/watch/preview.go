package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"strconv"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/job"
	"svc.example/internal/work/result"
)

// Bounds of previews.
const (
	previewSide    = 480 // pixels of the longer side
	previewQuality = 80  // of the JPEG, 1 to 100
	viewQuality    = 92
)

// Preview is a small JPEG of an accepted frame, or of one of its outputs. It is decoded only in JPEG, so that a
// cached preview costs one read of a row.
type Preview struct {
	SHA256 string // of the file; it changes when the frame is rendered again

	reader *Reader
	job    job.Record
	frame  pictured
}

// Preview finds an accepted frame. Errors: render_not_found, frame_not_found.
// It reads one row and no file, so it also answers when the file is gone; JPEG reports
// that.
func (r *Reader) Preview(ctx context.Context, workspaceID, jobID string, frame int) (Preview, error) {
	p := Preview{reader: r}
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if p.job, err = job.Find(ctx, tx, workspaceID, jobID); err != nil {
			return err
		}
		found, err := tx.FrameView(ctx, query.FrameViewParams{JobID: jobID, Frame: int64(frame)})
		p.frame.row = row(found)
		if db.IsNotFound(err) {
			return fault.New(fault.FrameNotFound, "Frame %d of %s is not rendered.", frame, jobID)
		}
		return err
	})
	p.SHA256 = p.frame.Sha256
	return p, err
}

// FirstPreview finds the lowest accepted frame. Errors: those of Preview.
func (r *Reader) FirstPreview(ctx context.Context, workspaceID, jobID string) (Preview, error) {
	var frame int64
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		frame, err = tx.FrameFirst(ctx, jobID)
		if db.IsNotFound(err) {
			return fault.New(fault.FrameNotFound, "No frame of %s is rendered.", jobID)
		}
		return err
	})
	if err != nil {
		return Preview{}, err
	}
	return r.Preview(ctx, workspaceID, jobID, int(frame))
}

// Name is the name of the frame's file.
func (p Preview) Name() string { return p.frame.File }

// JPEG makes the preview, at most 480 pixels wide or high, from the frame's file or from
// the artifact. Errors: frame_not_found (also for formats without previews, and for
// pictures that take more than 32 MiB to read), artifact_expired. It reads the whole
// picture, which takes a processor for a while, so it makes one at a time for each job,
// and calls for the same preview share one. Other errors are those of the store, and of
// a picture that is damaged.
func (p Preview) JPEG(ctx context.Context) ([]byte, error) {
	return p.reader.picture(ctx, p.job, p.frame, previewSide)
}

// View makes a JPEG of the frame at its full size: of OpenEXR, which browsers do not show. A picture
// that is too large for that is as in JPEG. It is made as JPEG makes one, with the same errors.
func (p Preview) View(ctx context.Context, look pixels.Look) ([]byte, error) {
	r := p.reader
	return r.turns.Share(ctx, p.job.JobID, previewKey{sha256: p.SHA256, view: true, look: look}, func() ([]byte, error) {
		made, err := r.draw(ctx, p.job, p.frame, func(file io.Reader) (image.Image, error) { return pixels.View(file, look) }, viewQuality)
		if errors.Is(err, pixels.ErrTooLarge) {
			return r.scale(ctx, p.job, p.frame, previewSide)
		}
		return made, err
	})
}

// Layers lists what View can show of the frame; none of a frame that has no view. Errors: those of
// JPEG.
func (p Preview) Layers(ctx context.Context) ([]pixels.Layer, error) {
	file, err := p.reader.open(ctx, p.job, p.frame)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	layers, err := pixels.Layers(file)
	if errors.Is(err, pixels.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the layers of %s: %w", p.frame.File, err)
	}
	return layers, nil
}

// Values writes what a layer of the frame has at a pixel, in scene-linear light, such as
// "R 0.1804 G 0.2 B 0.05 A 1"; nothing outside the picture. It reads the file down to the pixel, one
// at a time for each job. Errors: those of JPEG.
func (p Preview) Values(ctx context.Context, layer string, x, y int) ([]byte, error) {
	r := p.reader
	return r.turns.Share(ctx, p.job.JobID, previewKey{sha256: p.SHA256, look: pixels.Look{Layer: layer}, at: image.Pt(x, y), values: true}, func() ([]byte, error) {
		file, err := r.open(ctx, p.job, p.frame)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		values, err := pixels.ValuesAt(file, layer, x, y)
		if errors.Is(err, pixels.ErrUnsupported) || errors.Is(err, pixels.ErrTooLarge) {
			return nil, fault.New(fault.FrameNotFound, "The values of %s cannot be shown.", p.frame.File).Wrap(err)
		}
		if err != nil {
			return nil, fmt.Errorf("read values of %s: %w", p.frame.File, err)
		}
		var text []string
		for _, v := range values {
			text = append(text, v.Channel+" "+strconv.FormatFloat(float64(v.Value), 'g', 4, 32))
		}
		return []byte(strings.Join(text, " ")), nil
	})
}

// previewKey names a preview within a job.
type previewKey struct {
	sha256 string      // of the frame's file
	side   int         // most pixels of the longer side
	view   bool        // the whole picture
	look   pixels.Look // of a view, or of values
	values bool        // no picture, but the values at a pixel
	at     image.Point // of values
}

// Small makes a JPEG of an accepted frame of a job, whose longer side has at most side
// pixels, 512 at most. It is made as JPEG of Preview makes one, with the same errors.
func (r *Reader) Small(ctx context.Context, record job.Record, f result.Frame, side int) ([]byte, error) {
	return r.picture(ctx, record, pictured{row: f}, side)
}

// picture makes a JPEG of a frame whose longer side has at most side pixels, or shares
// the one that is being made. Errors: those of Preview.JPEG.
func (r *Reader) picture(ctx context.Context, record job.Record, f pictured, side int) ([]byte, error) {
	return r.turns.Share(ctx, f.JobID, previewKey{sha256: f.Sha256, side: side}, func() ([]byte, error) { return r.scale(ctx, record, f, side) })
}

// scale reads a frame by rows and makes it smaller on the way.
func (r *Reader) scale(ctx context.Context, record job.Record, f pictured, side int) ([]byte, error) {
	return r.draw(ctx, record, f, func(file io.Reader) (image.Image, error) { return pixels.Thumbnail(file, side) }, previewQuality)
}

// draw makes a JPEG of what look sees in a frame's file. Errors: those of Preview.JPEG.
func (r *Reader) draw(ctx context.Context, record job.Record, f pictured, look func(file io.Reader) (image.Image, error), quality int) ([]byte, error) {
	file, err := r.open(ctx, record, f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return encoded(ctx, file, f.File, look, quality)
}

// encoded makes a JPEG of what look sees in a file. Errors: those of Preview.JPEG.
func encoded(ctx context.Context, file io.Reader, name string, look func(file io.Reader) (image.Image, error), quality int) (content []byte, err error) {
	var picture image.Image
	ratelimit.Work(ctx, func() { picture, err = look(file) })
	switch {
	case errors.Is(err, pixels.ErrUnsupported):
		return nil, fault.New(fault.FrameNotFound, "There is no preview of %s: files of this kind have none.", name)
	case errors.Is(err, pixels.ErrTooLarge):
		return nil, fault.New(fault.FrameNotFound, "There is no preview of %s: the picture would take too much memory.", name).Wrap(err)
	case err != nil:
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	var out bytes.Buffer
	ratelimit.Work(ctx, func() { err = jpeg.Encode(&out, picture, &jpeg.Options{Quality: quality}) })
	if err != nil {
		return nil, fmt.Errorf("make preview: %w", err)
	}
	return out.Bytes(), nil
}
