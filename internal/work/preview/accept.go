package preview

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"math"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/framecheck"
)

// quality is that of the JPEG, 1 to 100.
const quality = 85

// MaxPictureBytes bounds a delivered picture: a PNG of the largest size, of noise that
// does not compress, and its header.
const MaxPictureBytes = 2 << 20

// Picture is a preview's picture as a worker delivers it.
type Picture struct {
	framecheck.Picture // Seen and Unreadable are set by Accept

	Lease      lease.Ref
	Content    []byte // a PNG of at most MaxPictureBytes
	SHA256     string // of Content, as the worker described it
	RenderTime time.Duration
	DeviceName string
	Full       FullFrame
	// Bands are how many seconds each of at most strips.MostBands bands took, which are equally
	// high, from the top; nil where that was not measured. Package split cuts frames by them.
	Bands []float64
}

// Admit checks, before a byte of a picture is read, that its worker holds the claim. A
// picture that was accepted from this worker passes: its answer was lost. Error: lease_lost.
func (p *Previews) Admit(ctx context.Context, ref lease.Ref) error {
	err := p.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.PreviewGet(ctx, Of(ref.ID))
		if err != nil || isRepeated(row, ref) {
			return err
		}
		return lease.Check(ctx, tx, ref)
	})
	if errors.Is(err, lease.ErrLost) || db.IsNotFound(err) {
		return leaseLost(ref.ID)
	}
	return err
}

// isRepeated reports whether a preview has its picture from the worker that reports: an
// answer was lost on the way.
func isRepeated(row query.Preview, ref lease.Ref) bool {
	return Status(row.Status) == Ready && row.WorkerID == ref.Holder
}

// Accept makes a JPEG of the picture of the worker that holds the lease, and shows it.
// Repeating a report succeeds and changes nothing. Errors: lease_lost; frame_rejected,
// after which the attempt has failed.
func (p *Previews) Accept(ctx context.Context, got Picture) error {
	jpg, finding, bad := check(&got)
	if bad != nil {
		if err := p.Fail(ctx, got.Lease, *bad); err != nil {
			return err
		}
		return fault.New(fault.FrameRejected, "%s", bad.Message)
	}
	previewID := Of(got.Lease.ID)
	key := fmt.Sprintf("previews/%s/%s.jpg", previewID, id.New(""))
	if err := p.store(ctx, key, jpg.Bytes()); err != nil {
		return err
	}
	kept := false
	err := p.DB.Write(ctx, func(tx *db.Tx) (err error) {
		kept, err = accept(ctx, tx, got, key, jpg, finding)
		return err
	})
	if !kept && !errors.Is(err, db.ErrUnknown) {
		_ = p.Blobs.Delete(context.WithoutCancel(ctx), key) // the sweep removes what a failed delete leaves
	}
	if errors.Is(err, lease.ErrLost) || db.IsNotFound(err) {
		return leaseLost(got.Lease.ID)
	}
	return err
}

// check judges a picture and makes the JPEG. bad is why the picture is refused.
func check(got *Picture) (jpg bytes.Buffer, finding string, bad *framecheck.Failure) {
	refuse := func(format string, args ...any) (bytes.Buffer, string, *framecheck.Failure) {
		return bytes.Buffer{}, "", &framecheck.Failure{Code: fault.FrameCheckFailed, Message: fmt.Sprintf(format, args...)}
	}
	if sum := sha256.Sum256(got.Content); hex.EncodeToString(sum[:]) != got.SHA256 {
		return refuse("The picture does not match its description.")
	}
	size := int64(len(got.Content))
	seen, err := pixels.ReadWithin(bytes.NewReader(got.Content), pixels.Limits{
		Memory: pixels.DecodingMemory(size), Size: size,
		Claims: func(format string, width, height int) error {
			if max(width, height) > contract.PreviewSide || format != "png" {
				return fmt.Errorf("it is a %s of %dx%d, and a preview is a png of at most %d pixels a side", format, width, height, contract.PreviewSide)
			}
			return nil
		},
	})
	if err != nil {
		return refuse("The picture could not be read: %v.", err)
	}
	got.Seen = &seen
	// Only the size of the picture differs from what the scene says.
	if bad := framecheck.Reject(got.Picture, framecheck.Scene{OutputFormat: "PNG", Width: seen.Width, Height: seen.Height}); bad != nil {
		return bytes.Buffer{}, "", bad
	}
	if wrong := got.Full.check(seen.Width, seen.Height, got.RenderTime); wrong != "" {
		return refuse("%s.", wrong)
	}
	small, err := pixels.Thumbnail(bytes.NewReader(got.Content), contract.PreviewSide)
	if err == nil {
		err = jpeg.Encode(&jpg, small, &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return refuse("The picture cannot be shown: %v.", err)
	}
	row, _ := framecheck.Look(seen)
	return jpg, row.Code, nil
}

// store writes a picture to disk.
func (p *Previews) store(ctx context.Context, key string, content []byte) error {
	w, err := p.Blobs.Create(ctx, key)
	if err != nil {
		return fmt.Errorf("store a preview: %w", err)
	}
	defer w.Abort()
	if _, err := w.Write(content); err != nil {
		return fmt.Errorf("store a preview: %w", err)
	}
	if err := w.Commit(); err != nil {
		return fmt.Errorf("store a preview: %w", err)
	}
	return nil
}

// accept ends a preview with its picture. kept is false for a repeated report.
func accept(ctx context.Context, tx *db.Tx, got Picture, key string, jpg bytes.Buffer, finding string) (kept bool, err error) {
	row, err := tx.PreviewLock(ctx, Of(got.Lease.ID))
	if err != nil {
		return false, err
	}
	if isRepeated(row, got.Lease) {
		return false, nil
	}
	if err := lease.Finish(ctx, tx, got.Lease); err != nil {
		return false, err
	}
	tx.Announce(lease.Topic(Queue)) // its worker may take the next one
	bands, err := encodeBands(got.Bands)
	if err != nil {
		return false, err
	}
	low, mean, high := got.Full.frameTime(got.Width, got.Height, got.RenderTime)
	sum := sha256.Sum256(jpg.Bytes())
	ready, err := tx.MarkPreviewReady(ctx, query.MarkPreviewReadyParams{
		Now: tx.Now, Device: got.Device, DeviceName: got.DeviceName, BlobKey: key, Sha256: hex.EncodeToString(sum[:]), SizeBytes: int64(jpg.Len()),
		Width: int64(got.Width), Height: int64(got.Height), Finding: finding, RenderUs: atLeastOne(got.RenderTime),
		FrameLowUs: atLeastOne(low), FrameUs: atLeastOne(mean), FrameHighUs: atLeastOne(high), Bands: bands, PreviewID: row.PreviewID,
	})
	_, err = previewRows.Changed(ctx, tx, ready, err)
	return err == nil, err
}

// encodeBands is the text that a preview's row has of its bands; "" for none.
func encodeBands(bands []float64) (string, error) {
	if len(bands) == 0 {
		return "", nil
	}
	text, err := json.Marshal(bands)
	return string(text), err
}

// atLeastOne is a time in microseconds, of which 0 means that it is not known.
func atLeastOne(d time.Duration) int64 { return max(1, d.Microseconds()) }

// gone is the error of a preview without a picture.
var gone = fault.New(fault.PreviewNotFound, "The picture of this preview is no longer kept.")

// Image opens the picture of a preview by its signed address, and returns its SHA-256. The
// caller closes it. Errors: unauthenticated; preview_not_found, also once the picture is
// gone.
func (p *Previews) Image(ctx context.Context, previewID, expires, signature string) (blob.Reader, string, error) {
	var row query.Preview
	err := p.DB.Read(ctx, func(tx *db.Tx) error {
		if err := p.Links.CheckPreviewImage(previewID, expires, signature, tx.Time()); err != nil {
			return err
		}
		var err error
		row, err = tx.PreviewGet(ctx, previewID)
		if db.IsNotFound(err) {
			return gone
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	file, err := p.open(ctx, row)
	return file, row.Sha256, err
}

// Picture reads the picture of a preview of a workspace, a JPEG. Error:
// preview_not_found, also once the picture is gone.
func (p *Previews) Picture(ctx context.Context, workspaceID, previewID string) ([]byte, error) {
	var row query.Preview
	err := p.DB.Read(ctx, func(tx *db.Tx) (err error) {
		row, err = tx.PreviewGet(ctx, previewID)
		if db.IsNotFound(err) || (err == nil && row.WorkspaceID != workspaceID) {
			return gone
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	file, err := p.open(ctx, row)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(file)
}

// open opens the picture of a preview, which the caller closes. Error: preview_not_found
// when it is gone.
func (p *Previews) open(ctx context.Context, row query.Preview) (blob.Reader, error) {
	if row.BlobKey == "" {
		return nil, gone
	}
	file, err := p.Whole.Open(ctx, p.Blobs, row.BlobKey, row.Sha256)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, gone // it expired meanwhile
	}
	return file, err
}

// FullFrame is what a frame of the scene takes compared with its preview, as the worker's
// Blender reports it. Only estimates are based on it.
type FullFrame struct {
	Width, Height int // pixels of a frame
	Samples       int // of a pixel, at most
	LeastSamples  int // where adaptive sampling may end
	Sampling      time.Duration
}

// mostSamples is above what Cycles takes, 2^24.
const mostSamples = 1 << 24

// check says what is impossible; "" for nothing.
func (w FullFrame) check(width, height int, took time.Duration) string {
	switch {
	case w.Width < width || w.Height < height || max(w.Width, w.Height) > 65536:
		return fmt.Sprintf("A frame of %dx%d has no preview of %dx%d", w.Width, w.Height, width, height)
	case w.LeastSamples < 1 || w.LeastSamples > w.Samples || w.Samples > mostSamples:
		return fmt.Sprintf("A frame has no %d to %d samples", w.LeastSamples, w.Samples)
	case took < 0 || w.Sampling < 0 || w.Sampling > took+time.Second || took > longestHold:
		return fmt.Sprintf("The preview took %s, its samples %s", took, w.Sampling)
	}
	return ""
}

// frameTime foresees what a frame takes, from what its preview took. Samples cost by their
// number, the rest is what Blender prepares before them, which depends on the scene.
// Where sampling may end early, the range reaches from the fewest samples to all. Frames
// of a scene differ, and a few samples are timed less well than many, so it is wider on
// both sides.
func (w FullFrame) frameTime(width, height int, took time.Duration) (low, mean, high time.Duration) {
	const narrower, wider = 0.8, 1.5
	pixels := float64(w.Width) * float64(w.Height) / (float64(width) * float64(height))
	sample := w.Sampling.Seconds() / float64(min(w.Samples, contract.PreviewSamples)) * pixels
	rest := max(0, took-w.Sampling).Seconds()
	fewest, most := sample*float64(w.LeastSamples), sample*float64(w.Samples)
	at := func(s float64) time.Duration {
		return time.Duration(min(s, mostFrameTime.Seconds()) * float64(time.Second))
	}
	return at((rest + fewest) * narrower), at(rest + math.Sqrt(fewest*most)), at((rest + most) * wider)
}

// mostFrameTime bounds an estimate: a hostile scene may report any number.
const mostFrameTime = 30 * 24 * time.Hour
