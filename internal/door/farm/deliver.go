package farm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/receipt"
)

// frameFile is the form of a picture's file name. It becomes part of a blob's
// key and of a ZIP entry, so it has no folder and no surprising character.
var frameFile = regexp.MustCompile(`^frame_[0-9]{4,7}\.[a-z0-9]{2,5}$`)

// switched is the form of a setting that a worker changed, as receipts list it.
var switched = regexp.MustCompile(`^[a-z_]{1,40}$`)

const (
	// mostSwitched bounds the list of changed settings; the worker knows far
	// fewer.
	mostSwitched = 20
	// mostRenderTime is the longest render time of one frame that is believed.
	mostRenderTime = 30 * 24 * time.Hour
	// mostAttempts is above the number of attempts that any frame can have. The
	// attempt becomes part of a blob's key.
	mostAttempts = 1 << 31
	// longestSide is the longest side of a picture that Blender renders, in pixels.
	longestSide = 65536
)

// deliver stores a picture, compares it with its description, and reports it to
// package frames.
//
// The bytes are stored before the row, so that a row never names a file that is
// not there. When the report is not accepted, the file is deleted again; but
// not when the outcome of the transaction is unknown (db.ErrUnknown), since the
// row may then exist. The hourly sweep removes what a crash leaves.
//
// A repeated delivery succeeds and changes nothing. Errors: invalid_request,
// lease_lost, frame_rejected.
func (s *Server) deliver(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	ctx := r.Context()
	meta, file, err := readDelivery(r)
	if err != nil {
		return nil, err
	}
	staged := file == nil
	worker, err := s.worker(ctx, node, meta.WorkerID)
	if err != nil {
		return nil, err
	}
	if err := checkMeta(meta); err != nil {
		return nil, err
	}
	if preview.Owns(meta.LeaseID) {
		if staged {
			return nil, fault.Field("body.meta.staged", "is for frames of jobs, not for previews")
		}
		return farmapi.OKReply{OK: true}, s.deliverPreview(ctx, meta, worker, file)
	}
	if leaderboard.OwnsReference(meta.LeaseID) {
		if staged {
			return nil, fault.Field("body.meta.staged", "is for frames of jobs, not for reference renders")
		}
		return farmapi.OKReply{OK: true}, s.deliverReference(ctx, meta, file)
	}
	p := pictureOf(meta, worker)
	if staged {
		err = s.take(ctx, meta, p)
	} else {
		began := time.Now()
		err = s.store(ctx, p, file)
		if meta.Times != nil {
			p.Times.Transfer += time.Since(began).Seconds()
		}
	}
	if err != nil {
		return nil, err
	}
	kept := false
	if p.Seen, p.Unreadable, err = s.decodePicture(ctx, p, staged); err == nil && p.Seen != nil && s.Frames.Compares(p) {
		p.Small, err = s.small(ctx, p)
	}
	if err == nil {
		kept, err = s.Frames.Accept(ctx, p)
	}
	if !kept && !errors.Is(err, db.ErrUnknown) {
		// The sweep removes what a failed delete leaves.
		_ = s.Blobs.Delete(context.WithoutCancel(ctx), p.BlobKey)
	}
	return farmapi.OKReply{OK: true}, err
}

// pictureOf is a picture as its worker describes it.
func pictureOf(meta farmapi.FrameResult, worker dispatch.Worker) frames.Picture {
	return frames.Picture{
		Picture: framecheck.Picture{
			Holder: meta.WorkerID, File: meta.File, PixelSHA256: meta.PixelSHA256, Width: meta.Width, Height: meta.Height,
			Device: meta.Device, Registered: worker.Device, Renderer: worker.Renderer, Log: clip(meta.Log),
		},
		Lease: lease.Ref{ID: meta.LeaseID, Holder: meta.WorkerID, Attempt: int64(meta.Attempt)},
		JobID: meta.JobID, Frame: meta.Frame,
		// Each delivery has a key of its own. A worker that waits long for its
		// answer sends the picture again, beside the first: with one key for both,
		// the one that is not kept would delete the file of the one that is.
		BlobKey: fmt.Sprintf("frames/%s/%s-%s", meta.JobID, id.New(""), meta.File),
		SHA256:  meta.SHA256, SizeBytes: meta.SizeBytes, RenderTime: time.Duration(meta.RenderSeconds * float64(time.Second)),
		Times:  timesOf(meta.Times),
		Played: meta.Played, PlayTime: time.Duration(meta.PlaySeconds * float64(time.Second)),
		DeviceName: clip(meta.DeviceName), Version: worker.BlenderVersion, BuildHash: worker.BuildHash, Switched: meta.Switched,
	}
}

// timesOf are the times that a worker tells; zero for none.
func timesOf(told *farmapi.FrameTimes) receipt.Times {
	if told == nil {
		return receipt.Times{}
	}
	return receipt.Times(*told)
}

// readDelivery reads the description and returns the picture's part unread, nil for a
// picture that is staged. The parts have a fixed order, so that the picture can be
// streamed once its description is known.
func readDelivery(r *http.Request) (meta farmapi.FrameResult, file *multipart.Part, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/json" {
		return meta, nil, readMeta(r.Body, &meta)
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return meta, nil, fault.New(fault.UnsupportedMedia, "A delivery is multipart/form-data.").Wrap(err)
	}
	part, err := parts.NextPart()
	if err != nil || part.FormName() != "meta" {
		return meta, nil, fault.Field("body.meta", "must be the first part").Wrap(err)
	}
	if err := readMeta(part, &meta); err != nil {
		return meta, nil, err
	}
	file, err = parts.NextPart()
	if err != nil || file.FormName() != "file" {
		return meta, nil, fault.Field("body.file", "must be the second part").Wrap(err)
	}
	return meta, file, nil
}

// readMeta reads a description. Errors: invalid_request.
func readMeta(from io.Reader, meta *farmapi.FrameResult) error {
	if err := json.NewDecoder(io.LimitReader(from, maxMeta)).Decode(meta); err != nil {
		return fault.Field("body.meta", "is not what a delivery describes").Wrap(err)
	}
	return nil
}

// checkMeta refuses a description that contradicts itself or exceeds its
// bounds. Errors: invalid_request.
func checkMeta(meta farmapi.FrameResult) error {
	switch {
	case !isLeaseOf(meta):
		return fault.Field("body.meta.lease_id", "is not the lease of this frame")
	case !frameFile.MatchString(meta.File) || !strings.HasPrefix(meta.File, fmt.Sprintf("frame_%04d.", meta.Frame)):
		return fault.Field("body.meta.file", "is not the name of this frame")
	case meta.SizeBytes < 1 || meta.SizeBytes > maxFrameSize:
		return fault.Field("body.meta.size_bytes", "must be 1 to %d", int64(maxFrameSize))
	case meta.Attempt < 1 || meta.Attempt > mostAttempts:
		return fault.Field("body.meta.attempt", "must be 1 to %d", int64(mostAttempts))
	case min(meta.Width, meta.Height) < 1 || max(meta.Width, meta.Height) > longestSide:
		return fault.Field("body.meta.width", "and height must be 1 to %d", longestSide)
	case meta.Device != "GPU" && meta.Device != "CPU":
		return fault.Field("body.meta.device", "must be GPU or CPU")
	case !digest.Is(meta.SHA256) || !digest.Is(meta.PixelSHA256):
		return fault.Field("body.meta.sha256", "and pixel_sha256 must be 64 digits from 0 to f")
	case meta.RenderSeconds < 0 || meta.RenderSeconds > mostRenderTime.Seconds():
		return fault.Field("body.meta.render_seconds", "must be 0 to %.0f", mostRenderTime.Seconds())
	case !timesOf(meta.Times).Within(mostRenderTime.Seconds()):
		return fault.Field("body.meta.times", "must be 0 or more each, and %.0f at most together", mostRenderTime.Seconds())
	case meta.Played < 0 || meta.Played > 2*contract.MaxFrameNumber:
		return fault.Field("body.meta.played", "must be 0 to %d", 2*contract.MaxFrameNumber)
	case meta.PlaySeconds < 0 || meta.PlaySeconds > mostRenderTime.Seconds():
		return fault.Field("body.meta.play_seconds", "must be 0 to %.0f", mostRenderTime.Seconds())
	case len(meta.Switched) > mostSwitched || slices.ContainsFunc(meta.Switched, func(name string) bool { return !switched.MatchString(name) }):
		return fault.Field("body.meta.switched", "must be %d names at most, of the letters a to z and _", mostSwitched)
	}
	return nil
}

// isLeaseOf reports whether the lease of a description is that of its frame.
func isLeaseOf(meta farmapi.FrameResult) bool {
	if id.Valid(id.Preview, meta.JobID) {
		return meta.LeaseID == preview.LeaseID(meta.JobID, meta.Frame)
	}
	if id.Valid(id.Challenge, meta.JobID) {
		return meta.LeaseID == lease.ID(leaderboard.ReferenceQueue, meta.JobID, int64(meta.Frame))
	}
	return meta.LeaseID == frames.LeaseID(meta.JobID, meta.Frame) && id.Valid(id.Job, meta.JobID)
}

// store writes the bytes of a picture and checks their number and hash. It
// reads one byte more than described, to notice a picture that is too long.
//
// Bytes that differ from their description end the attempt: the worker's disk
// or network is damaged, and another worker should render the frame. A
// connection that breaks off does not; the worker can send again. Errors:
// frame_rejected, lease_lost.
func (s *Server) store(ctx context.Context, p frames.Picture, file io.Reader) error {
	w, err := s.Blobs.Create(ctx, p.BlobKey)
	if err != nil {
		return fmt.Errorf("store frame: %w", err)
	}
	defer w.Abort()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(file, p.SizeBytes+1))
	if db.IsFull(err) {
		return fmt.Errorf("store frame: %w", err) // the worker keeps the picture and sends it again
	}
	if err != nil {
		return fault.New(fault.FrameRejected, "The picture broke off after %d bytes.", n).Wrap(err)
	}
	if err := s.compare(ctx, p, n, hex.EncodeToString(sum.Sum(nil))); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return fmt.Errorf("store frame: %w", err)
	}
	return nil
}

// compare ends the attempt of a picture whose bytes are not as described. Errors:
// frame_rejected, lease_lost.
func (s *Server) compare(ctx context.Context, p frames.Picture, n int64, sum string) error {
	if n == p.SizeBytes && sum == p.SHA256 {
		return nil
	}
	return s.Frames.Refuse(ctx, p.Lease, framecheck.Failure{Code: fault.FrameCheckFailed, Log: p.Log, Message: fmt.Sprintf(
		"The picture has %d bytes and the hash %s, not the described %d and %s.", n, sum, p.SizeBytes, p.SHA256)})
}

// decodePicture decodes a stored picture, so that the frame check does not
// depend on what the worker says. seen is nil where only Blender reads the
// format, or where the picture is too large to decode. unreadable says why a
// picture that should be decodable is not.
//
// It waits for its share of the decoding memory. The announced size is the
// bound for the decoder as well: a small file cannot unfold into gigabytes.
//
// A staged picture has come past this process: in the same reading its bytes are compared
// with their description. Errors: those of compare.
func (s *Server) decodePicture(ctx context.Context, p frames.Picture, staged bool) (seen *pixels.Picture, unreadable string, err error) {
	file, err := s.Blobs.Open(ctx, p.BlobKey)
	if err != nil {
		return nil, "", fmt.Errorf("open frame: %w", err)
	}
	defer func() { _ = file.Close() }()
	if !staged {
		return s.decode(ctx, p, file)
	}
	sum := sha256.New()
	bytes := io.TeeReader(file, sum)
	if seen, unreadable, err = s.decode(ctx, p, bytes); err != nil {
		return nil, "", err
	}
	if _, err := io.Copy(io.Discard, bytes); err != nil { // what a decoder leaves
		return nil, "", fmt.Errorf("read frame: %w", err)
	}
	return seen, unreadable, s.compare(ctx, p, file.Size(), hex.EncodeToString(sum.Sum(nil)))
}

// small makes a stored picture small; nil where that takes too much memory or the format
// shows no colours.
func (s *Server) small(ctx context.Context, p frames.Picture) (*image.RGBA, error) {
	file, err := s.Blobs.Open(ctx, p.BlobKey)
	if err != nil {
		return nil, fmt.Errorf("open frame: %w", err)
	}
	defer func() { _ = file.Close() }()
	size := int64(p.Width) * int64(p.Height)
	if err := s.decoding.Acquire(ctx, size); err != nil {
		return nil, err
	}
	defer s.decoding.Release(size)
	read := &reading{Reader: file}
	small, err := pixels.Thumbnail(read, frames.SmallSide)
	if read.failed != nil {
		return nil, fmt.Errorf("read frame: %w", read.failed)
	}
	if err != nil {
		return nil, nil // it is sound, and cannot be compared
	}
	return small, nil
}

// decode is decodePicture of bytes.
func (s *Server) decode(ctx context.Context, p frames.Picture, file io.Reader) (seen *pixels.Picture, unreadable string, err error) {
	size := int64(p.Width) * int64(p.Height)
	if p.Width > maxDecode || p.Height > maxDecode || size > maxDecode {
		return nil, "", nil
	}
	if err := s.decoding.Acquire(ctx, size); err != nil {
		return nil, "", err
	}
	defer s.decoding.Release(size)
	read := &reading{Reader: file}
	picture, err := pixels.ReadAtMost(read, size)
	switch {
	case read.failed != nil: // an outage of the store says nothing of the picture
		return nil, "", fmt.Errorf("read frame: %w", read.failed)
	case err == nil:
		return &picture, "", nil
	case errors.Is(err, pixels.ErrUnsupported) && onlyBlenderReads(p.File, err):
		return nil, "", nil
	}
	return nil, err.Error(), nil
}

// reading tells a reader's failure from what a decoder makes of the bytes before it.
type reading struct {
	io.Reader
	failed error
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.failed = err
	}
	return n, err
}

// onlyBlenderReads reports whether a picture that package pixels cannot read
// has a format that only Blender reads: neither PNG nor JPEG by its name, or
// OpenEXR of another layout.
func onlyBlenderReads(file string, unsupported error) bool {
	switch path.Ext(file) {
	case ".png", ".jpg":
		return false
	case ".exr":
		return unsupported != pixels.ErrUnsupported // the plain error: the file begins as none of them
	}
	return true
}
