package farm

import (
	"context"
	"io"
	"slices"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/recheck"
)

// previewBytes is what a delivery of a preview takes of the decoding memory: its bytes and
// the decoded picture.
const previewBytes = 8 << 20

// previewReply writes a claimed preview as the wire has it: a job of one frame.
func (s *Server) previewReply(w preview.Work) farmapi.LeaseReply {
	order := &farmapi.Preview{Side: contract.PreviewSide, Samples: contract.PreviewSamples, Seconds: contract.PreviewTime.Seconds()}
	if w.Divisible {
		order.BandsAbove = s.Cuts.LongerThan().Seconds()
	}
	return farmapi.LeaseReply{
		OK:     true,
		Job:    &farmapi.Job{JobID: w.PreviewID, InputSHA256: w.InputSHA256, Settings: w.Settings, Preview: order},
		Leases: []farmapi.Lease{{LeaseID: w.Lease.ID, Attempt: int(w.Lease.Attempt), Frame: int(w.Lease.Item)}},
	}
}

// recheckReply writes a claimed frame that is rendered again as the wire has it.
func recheckReply(w recheck.Work) farmapi.LeaseReply {
	if w.Lease.ID == "" {
		return farmapi.LeaseReply{}
	}
	return farmapi.LeaseReply{
		OK:     true,
		Job:    &farmapi.Job{JobID: w.Job.JobID, InputSHA256: w.Job.InputSha256, Settings: w.Settings, Scene: w.Scene, Again: true},
		Leases: []farmapi.Lease{{LeaseID: w.Lease.ID, Attempt: int(w.Lease.Attempt), Frame: int(w.Lease.Item)}},
	}
}

// claimAside claims unpaid work for a worker for which no frame waits. ok is false when there is
// none that it takes.
func (s *Server) claimAside(ctx context.Context, req farmapi.LeaseRequest) (reply farmapi.LeaseReply, ok bool, err error) {
	if req.Previews {
		if work, ok, err := s.Previews.Claim(ctx, req.WorkerID); err != nil || ok {
			return s.previewReply(work), ok, err
		}
		if work, ok, err := s.Board.ClaimReference(ctx, req.WorkerID); err != nil || ok {
			return referenceReply(work), ok, err
		}
		if work, ok, err := s.Rechecks.Claim(ctx, req.WorkerID); err != nil || ok {
			return recheckReply(work), ok, err
		}
	}
	if req.Movies {
		if work, ok, err := s.Movies.Claim(ctx, req.WorkerID); err != nil || ok {
			return movieReply(work), ok, err
		}
	}
	return reply, false, nil
}

// deliverPreview reads a preview's picture, which is small, and reports it to package
// preview. Errors: invalid_request, lease_lost, frame_rejected.
func (s *Server) deliverPreview(ctx context.Context, meta farmapi.FrameResult, worker dispatch.Worker, file io.Reader) error {
	switch {
	case meta.SizeBytes > preview.MaxPictureBytes:
		return fault.Field("body.meta.size_bytes", "must be 1 to %d for a preview", preview.MaxPictureBytes)
	case meta.Full == nil:
		return fault.Field("body.meta.full", "must describe a frame, for a preview")
	case len(meta.Bands) > strips.MostBands || slices.ContainsFunc(meta.Bands, func(s float64) bool { return seconds(s) < 0 }):
		return fault.Field("body.meta.bands", "must be at most %d times", strips.MostBands)
	}
	ref := lease.Ref{ID: meta.LeaseID, Holder: meta.WorkerID, Attempt: int64(meta.Attempt)}
	if err := s.Previews.Admit(ctx, ref); err != nil {
		return err
	}
	done, err := s.Desk.Hold(ctx, previewBytes)
	if err != nil {
		return err
	}
	defer done()
	content, err := io.ReadAll(io.LimitReader(file, meta.SizeBytes+1))
	if err != nil {
		return fault.New(fault.FrameRejected, "The picture ended early, after %d bytes.", len(content)).Wrap(err)
	}
	full := *meta.Full
	return s.Previews.Accept(ctx, preview.Picture{
		Picture: framecheck.Picture{
			Holder: meta.WorkerID, File: meta.File, PixelSHA256: meta.PixelSHA256, Width: meta.Width, Height: meta.Height,
			Device: meta.Device, Registered: worker.Device, Renderer: worker.Renderer,
		},
		Lease:   ref,
		Content: content, SHA256: meta.SHA256, Bands: meta.Bands, DeviceName: clip(meta.DeviceName), RenderTime: seconds(meta.RenderSeconds),
		Full: preview.FullFrame{
			Width: full.Width, Height: full.Height, Samples: full.Samples, LeastSamples: full.LeastSamples, Sampling: seconds(full.SamplingSeconds),
		},
	})
}

// seconds is a time of the wire. What is too large for a Duration becomes a negative one,
// which no check lets pass.
func seconds(s float64) time.Duration {
	if s > mostRenderTime.Seconds() {
		return -1
	}
	return time.Duration(s * float64(time.Second))
}
