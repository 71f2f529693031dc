package farm

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/parts"
	"svc.example/internal/render/framename"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/recheck"
	"svc.example/internal/work/split"
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

// deliver hands a picture to package delivery, or to that of its kind of lease.
//
// A repeated delivery succeeds and changes nothing. Errors: invalid_request,
// lease_lost, frame_rejected.
func (s *Server) deliver(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	ctx := r.Context()
	meta, file, next, err := readDelivery(r)
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
	if err := s.checkOutputs(meta, staged); err != nil {
		return nil, err
	}
	switch {
	case movie.Owns(meta.LeaseID) && staged:
		err = fault.Field("body.meta.staged", "is for frames of jobs, not for movies")
	case movie.Owns(meta.LeaseID):
		err = s.deliverMovie(ctx, meta, file)
	case preview.Owns(meta.LeaseID) && staged:
		err = fault.Field("body.meta.staged", "is for frames of jobs, not for previews")
	case preview.Owns(meta.LeaseID):
		err = s.deliverPreview(ctx, meta, worker, file)
	case leaderboard.OwnsReference(meta.LeaseID) && staged:
		err = fault.Field("body.meta.staged", "is for frames of jobs, not for reference renders")
	case leaderboard.OwnsReference(meta.LeaseID):
		err = s.deliverReference(ctx, meta, file)
	case recheck.Owns(meta.LeaseID) && staged:
		err = fault.Field("body.meta.staged", "is for frames of jobs, not for reused frames")
	case recheck.Owns(meta.LeaseID):
		err = s.Desk.For(s.Rechecks).Receive(ctx, pictureOf(meta, worker), file, next)
	case split.Owns(meta.LeaseID) && staged:
		err = fault.Field("body.meta.staged", "is for frames of jobs, not for strips")
	case split.Owns(meta.LeaseID):
		err = s.deliverStrip(ctx, meta, worker, file)
	case staged:
		p := pictureOf(meta, worker)
		err = s.Desk.ReceiveStaged(ctx, p, func() error { return s.take(ctx, meta, p) })
	default:
		err = s.Desk.Receive(ctx, pictureOf(meta, worker), file, next)
	}
	return farmapi.OKReply{OK: true}, err
}

// pictureOf is a picture as its worker describes it.
func pictureOf(meta farmapi.FrameResult, worker dispatch.Worker) frames.Picture {
	return frames.Picture{
		Picture: framecheck.Picture{
			Holder: meta.WorkerID, File: meta.File, PixelSHA256: meta.PixelSHA256, Width: meta.Width, Height: meta.Height, Settings: meta.Settings,
			Device: meta.Device, Registered: worker.Device, Renderer: worker.Renderer, Log: clip(meta.Log), Told: toldOf(meta.Defects),
		},
		Lease: lease.Ref{ID: meta.LeaseID, Holder: meta.WorkerID, Attempt: int64(meta.Attempt)},
		JobID: meta.JobID, Frame: meta.Frame,
		// Each delivery has a key of its own. A worker that waits long for its
		// answer sends the picture again, concurrently with the first. With one
		// key for both, the rejected one would delete the file of the accepted
		// one.
		BlobKey: fmt.Sprintf("frames/%s/%s-%s", meta.JobID, id.New(""), meta.File),
		SHA256:  meta.SHA256, SizeBytes: meta.SizeBytes, RenderTime: time.Duration(meta.RenderSeconds * float64(time.Second)),
		Times: timesOf(meta.Times), TellsTimes: meta.Times != nil,
		Played: meta.Played, PlayTime: time.Duration(meta.PlaySeconds * float64(time.Second)),
		DeviceName: clip(meta.DeviceName), Version: worker.BlenderVersion, BuildHash: worker.BuildHash, Switched: meta.Switched, Joined: meta.Joined, Outputs: outputsOf(meta),
	}
}

// outputsOf are the outputs of a frame, with the keys of this delivery.
func outputsOf(meta farmapi.FrameResult) (all []frames.Output) {
	for _, o := range meta.Outputs {
		all = append(all, frames.Output{Name: o.Name, SHA256: o.SHA256, SizeBytes: o.SizeBytes, View: o.View, BlobKey: fmt.Sprintf("frames/%s/%s-output", meta.JobID, id.New(""))})
	}
	return all
}

// checkOutputs refuses outputs that exceed their bounds, that have unsafe names, or of what has
// none. Errors: invalid_request.
func (s *Server) checkOutputs(meta farmapi.FrameResult, staged bool) error {
	var names framename.Names
	left := s.Outputs.Bytes
	if len(meta.Outputs) == 0 {
		return nil
	}
	if staged || meta.LeaseID != frames.LeaseID(meta.JobID, meta.Frame) || len(meta.Outputs) > s.Outputs.Files {
		return fault.Field("body.meta.outputs", "must be %d at most, of a frame of a job that is not staged", s.Outputs.Files)
	}
	for _, o := range meta.Outputs {
		if o.SizeBytes < 1 || o.SizeBytes > left {
			return fault.Field("body.meta.outputs", "must have 1 byte each, and %d together at most", s.Outputs.Bytes)
		}
		if left -= o.SizeBytes; !digest.Is(o.SHA256) || names.Take(o.Name) != o.Name {
			return fault.Field("body.meta.outputs", "must have hashes, and safe names that differ, also where capitals do not count")
		}
	}
	return nil
}

// toldOf is a worker's report about pixels; zero if it sends none. Parts beyond the whole
// are cut.
func toldOf(told *farmapi.Defects) pixels.Defects {
	if told == nil {
		return pixels.Defects{}
	}
	part := func(v float64) float64 { return min(max(v, 0), 1) }
	return pixels.Defects{Blank: part(told.Blank), Pink: part(told.Pink), Black: told.Black, NotFinite: told.NotFinite}
}

// timesOf are the times that a worker reports; zero for none.
func timesOf(told *farmapi.FrameTimes) receipt.Times {
	if told == nil {
		return receipt.Times{}
	}
	return receipt.Times(*told)
}

// readDelivery reads the description and returns the picture's part unread, nil for a
// picture that is staged; next returns the parts of its outputs. The parts have a fixed order,
// so that the files can be streamed once their description is known.
func readDelivery(r *http.Request) (meta farmapi.FrameResult, file io.Reader, next func() (io.Reader, error), err error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/json" {
		return meta, nil, nil, readMeta(r.Body, &meta)
	}
	if err != nil || kind != "multipart/form-data" || parameters["boundary"] == "" {
		return meta, nil, nil, fault.New(fault.UnsupportedMedia, "A delivery must be multipart/form-data.").Wrap(err)
	}
	form := parts.NewReader(r.Body, parameters["boundary"])
	part, err := nextPart(form, "meta")
	if err == nil {
		err = readMeta(part, &meta)
	}
	if err == nil {
		file, err = nextPart(form, "file")
	}
	return meta, file, func() (io.Reader, error) { return nextPart(form, "output") }, err
}

// nextPart returns the next part of a body, which must have a name. Errors: invalid_request.
func nextPart(form *parts.Reader, name string) (io.Reader, error) {
	part, err := form.Next()
	if err != nil || part.FormName() != name {
		return nil, fault.Field("body."+name, "is missing, or not where it belongs").Wrap(err)
	}
	return part, nil
}

// readMeta reads a description. Errors: invalid_request.
func readMeta(from io.Reader, meta *farmapi.FrameResult) error {
	if err := json.NewDecoder(io.LimitReader(from, maxMeta)).Decode(meta); err != nil {
		return fault.Field("body.meta", "is not a valid description of a delivery").Wrap(err)
	}
	return nil
}

// checkMeta refuses a description that contradicts itself or exceeds its
// bounds. Errors: invalid_request.
func checkMeta(meta farmapi.FrameResult) error {
	if movie.Owns(meta.LeaseID) {
		return checkMovie(meta)
	}
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
	if split.Owns(meta.LeaseID) {
		return split.IsOf(meta.LeaseID, meta.JobID, meta.Frame) && id.Valid(id.Job, meta.JobID)
	}
	if recheck.Owns(meta.LeaseID) {
		return meta.LeaseID == recheck.LeaseID(meta.JobID, meta.Frame) && id.Valid(id.Job, meta.JobID)
	}
	return meta.LeaseID == frames.LeaseID(meta.JobID, meta.Frame) && id.Valid(id.Job, meta.JobID)
}
