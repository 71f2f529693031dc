package render

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png" // the pictures that frames commonly are
	"io"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/receipt"
)

// Bounds of previews.
const (
	previewSide    = 480      // pixels of the longer side
	previewQuality = 80       // of the JPEG
	previewPixels  = 64 << 20 // a larger picture is not decoded for a preview
)

// FrameView is an accepted frame as its workspace sees it.
type FrameView struct {
	Frame         int
	File          string
	SHA256        string
	PixelSHA256   string
	SizeBytes     int64
	Width, Height int // pixels
	RenderSeconds float64
	Device        string
	DeviceName    string
	AcceptedAt    time.Time
	Finding       string // what the frame check found and let pass; ""
}

// Frames lists a job's accepted frames by number. Errors: render_not_found.
func (j *Jobs) Frames(ctx context.Context, workspaceID, jobID string) (out []FrameView, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		if _, err := find(ctx, tx, workspaceID, jobID); err != nil {
			return err
		}
		rows, err := tx.FramesOf(ctx, jobID)
		if err != nil {
			return fmt.Errorf("read frames: %w", err)
		}
		for _, f := range rows {
			out = append(out, FrameView{
				Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes,
				Width: int(f.Width), Height: int(f.Height), RenderSeconds: seconds(f.RenderUs), Device: f.Device, DeviceName: f.DeviceName,
				AcceptedAt: db.Time(f.AcceptedAt), Finding: f.Finding,
			})
		}
		return nil
	})
	return out, err
}

// WriteLog writes what Blender said, in the order in which frames were accepted,
// and behind it every try that failed.
// Errors: render_not_found, and those of w.
func (j *Jobs) WriteLog(ctx context.Context, workspaceID, jobID string, w io.Writer) error {
	for seq := int64(0); ; {
		var rows []query.Frame
		err := j.DB.Read(ctx, func(tx *db.Tx) error {
			if _, err := find(ctx, tx, workspaceID, jobID); err != nil {
				return err
			}
			var err error
			rows, err = tx.FramesSince(ctx, query.FramesSinceParams{JobID: jobID, Seq: seq, Max: logBatch})
			return err
		})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, renderLog(rows)); err != nil {
			return err
		}
		if len(rows) < logBatch {
			return j.writeFailures(ctx, jobID, w)
		}
		seq = rows[len(rows)-1].Seq
	}
}

func (j *Jobs) writeFailures(ctx context.Context, jobID string, w io.Writer) error {
	var tries []query.FailedTry
	err := j.DB.Read(ctx, func(tx *db.Tx) (err error) {
		tries, err = failedTries(ctx, tx, jobID)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, failureLog(tries))
	return err
}

// logBatch is how many frames' logs, of 16 KiB at most, are in memory at once.
const logBatch = 100

// Preview is a small JPEG of an accepted frame, to be made when it is wanted.
type Preview struct {
	SHA256 string // of the frame's file: a frame that is rendered again has another

	jobs  *Jobs
	job   query.Job
	frame query.Frame
}

// Preview finds an accepted frame. Errors: render_not_found, frame_not_found.
func (j *Jobs) Preview(ctx context.Context, workspaceID, jobID string, frame int) (Preview, error) {
	p := Preview{jobs: j}
	err := j.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if p.job, err = find(ctx, tx, workspaceID, jobID); err != nil {
			return err
		}
		p.frame, err = tx.FrameGet(ctx, query.FrameGetParams{JobID: jobID, Frame: int64(frame)})
		if db.IsNotFound(err) {
			return fault.New(fault.FrameNotFound, "Frame %d of %s is not rendered.", frame, jobID)
		}
		return err
	})
	p.SHA256 = p.frame.Sha256
	return p, err
}

// JPEG makes the picture, of 480 pixels at most, from the frame's own file or, once
// that is packed, from the artifact. Errors: frame_not_found (a picture of a kind
// that is not decoded here), artifact_expired.
func (p Preview) JPEG(ctx context.Context) ([]byte, error) {
	return p.jobs.picture(ctx, p.job, p.frame, previewSide)
}

// picture makes a JPEG of a frame whose longer side has at most side pixels.
// Errors: those of Preview.JPEG.
func (j *Jobs) picture(ctx context.Context, job query.Job, f query.Frame, side int) ([]byte, error) {
	if f.Width*f.Height > previewPixels {
		return nil, fault.New(fault.FrameNotFound, "Frame %d has %d x %d pixels, too many for a preview.", f.Frame, f.Width, f.Height)
	}
	file, err := j.openFrame(ctx, job, f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	picture, _, err := image.Decode(file)
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

// openFrame finds a frame's bytes: its own file while the job runs, the ZIP
// behind that.
func (j *Jobs) openFrame(ctx context.Context, job query.Job, f query.Frame) (io.ReadCloser, error) {
	own, err := j.Blobs.Open(ctx, f.BlobKey)
	if err == nil || !errors.Is(err, blob.ErrNotFound) {
		return own, err
	}
	if job.ArtifactKey == "" {
		return nil, fault.New(fault.FrameNotFound, "The frames of a job that ended as %s are not kept.", job.Status)
	}
	artifact, err := j.Blobs.Open(ctx, job.ArtifactKey)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fault.New(fault.ArtifactExpired, "The artifact is past its retention.")
	}
	if err != nil {
		return nil, fmt.Errorf("open artifact: %w", err)
	}
	z, err := zip.NewReader(artifact, artifact.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read artifact: %w", err), artifact.Close())
	}
	entry, err := z.Open(receipt.FrameEntry(f.File))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read artifact: %w", err), artifact.Close())
	}
	return packed{entry, artifact}, nil
}

// packed is a ZIP's entry that closes its ZIP.
type packed struct {
	io.Reader
	artifact io.Closer
}

func (p packed) Close() error { return p.artifact.Close() }

// shrink scales a picture down to a longer side of at most side pixels, each
// the mean of what it stands for; a smaller picture keeps its size.
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

// meanSide bounds how many pixels of a row or column a mean looks at: more are
// not seen in a small picture.
const meanSide = 4

// mean is the mean colour of an area, over black where it is transparent: a JPEG
// has no alpha.
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
