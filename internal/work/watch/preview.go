package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png" // the pictures that frames commonly are

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/job"
)

// Bounds of previews.
const (
	previewSide    = 480      // pixels of the longer side
	previewQuality = 80       // of the JPEG, 1 to 100
	previewPixels  = 64 << 20 // a larger picture is not decoded for a preview
)

// Preview is a small JPEG of an accepted frame. It is decoded only in JPEG, so that a
// cached preview costs one read of a row.
type Preview struct {
	SHA256 string // of the frame's file; it changes when the frame is rendered again

	reader *Reader
	job    job.Record
	frame  row
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
		p.frame = row(found)
		if db.IsNotFound(err) {
			return fault.New(fault.FrameNotFound, "Frame %d of %s is not rendered.", frame, jobID)
		}
		return err
	})
	p.SHA256 = p.frame.Sha256
	return p, err
}

// JPEG makes the preview, at most 480 pixels wide or high, from the frame's file or from
// the artifact. Errors: frame_not_found (also for formats without previews),
// artifact_expired. Each call reads and decodes the whole picture, which takes a processor
// for a while. Other errors are those of the store, and of a picture that is damaged.
func (p Preview) JPEG(ctx context.Context) ([]byte, error) {
	return p.reader.picture(ctx, p.job, p.frame, previewSide)
}

// picture makes a JPEG of a frame whose longer side has at most side pixels. Errors: those
// of Preview.JPEG. The size comes from the row and is checked before a byte is read: a
// decoded picture takes four to eight bytes for each pixel.
func (r *Reader) picture(ctx context.Context, record job.Record, f row, side int) ([]byte, error) {
	if f.Width*f.Height > previewPixels {
		return nil, fault.New(fault.FrameNotFound, "Frame %d has %d x %d pixels, too many for a preview.", f.Frame, f.Width, f.Height)
	}
	file, err := artifact.OpenFrame(ctx, r.Blobs, record, f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	picture, _, err := image.Decode(file)
	// PNG and JPEG have decoders here; EXR and others have none.
	if errors.Is(err, image.ErrFormat) {
		return nil, fault.New(fault.FrameNotFound, "There is no preview of %s: of its kind none are made.", f.File)
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s of %s: %w", f.File, f.JobID, err)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, shrink(picture, side), &jpeg.Options{Quality: previewQuality}); err != nil {
		return nil, fmt.Errorf("make preview: %w", err)
	}
	return out.Bytes(), nil
}

// shrink scales a picture down to a longer side of at most side pixels, each the mean of
// the area that it covers. A smaller picture keeps its size. The aspect stays, and no side
// becomes 0.
func shrink(from image.Image, side int) image.Image {
	b := from.Bounds()
	longer := max(b.Dx(), b.Dy())
	w, h := b.Dx(), b.Dy()
	if longer > side {
		w, h = max(1, w*side/longer), max(1, h*side/longer)
	}
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			to.Set(x, y, mean(from, image.Rect(
				b.Min.X+x*b.Dx()/w, b.Min.Y+y*b.Dy()/h, b.Min.X+(x+1)*b.Dx()/w, b.Min.Y+(y+1)*b.Dy()/h)))
		}
	}
	return to
}

// meanSide bounds the pixels per row and column of a mean: more make no visible
// difference in a small picture.
const meanSide = 4

// mean is the mean colour of an area, over black where it is transparent: a JPEG has no
// alpha. RGBA returns values that are multiplied by alpha already, so a sum without alpha
// lies over black.
func mean(img image.Image, area image.Rectangle) color.Color {
	var r, g, b, n uint64
	for y := area.Min.Y; y < area.Max.Y; y += max(1, area.Dy()/meanSide) {
		for x := area.Min.X; x < area.Max.X; x += max(1, area.Dx()/meanSide) {
			cr, cg, cb, _ := img.At(x, y).RGBA()
			r, g, b, n = r+uint64(cr), g+uint64(cg), b+uint64(cb), n+1
		}
	}
	n = max(n, 1)
	return color.RGBA64{R: uint16(r / n), G: uint16(g / n), B: uint16(b / n), A: 0xffff}
}
