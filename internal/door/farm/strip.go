package farm

import (
	"context"
	"io"
	"net/http"
	"time"

	"svc.example/internal/ground/lease"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/split"
)

// claim gets paid work for a worker; nil where there is none. Strips come first: their frames
// have had their turn. Of a claimed frame that takes long, a worker that can may get a strip.
func (s *Server) claim(ctx context.Context, worker dispatch.Worker, open dispatch.OpenJob, most int) (any, error) {
	if worker.Strips {
		if work, ok, err := s.Cuts.Claim(ctx, worker.WorkerID); err != nil || ok {
			return stripReply(work, 0, err)
		}
	}
	work, err := s.Frames.Claim(ctx, worker.WorkerID, open, most)
	if err != nil || len(work.Leases) == 0 {
		return nil, err
	}
	if worker.Strips && len(work.Leases) == 1 && !work.Plays {
		instead, cut, err := s.Cuts.Cut(ctx, work.Job, work.Leases[0])
		if err != nil {
			return nil, err
		}
		if cut && instead.Lease.ID == "" {
			return nil, nil // others render all of its strips
		}
		if cut {
			return stripReply(instead, work.Waiting, nil)
		}
	}
	return leaseReply(work)
}

// stripReply writes a strip, or a frame to finish, as the wire has it. waiting is how many frames
// of the job wait.
func stripReply(w split.Work, waiting int, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	first, last, step, err := job.FramesOf(w.Job)
	if err != nil {
		return nil, err
	}
	chosen, err := settings.Read(w.Job.Settings)
	if err != nil {
		return nil, err
	}
	l := farmapi.Lease{LeaseID: w.Lease.ID, Attempt: int(w.Lease.Attempt), Frame: w.Frame}
	if w.Strip != nil {
		l.Strip = new(onWire(*w.Strip))
	} else {
		l.Finish = &farmapi.Finish{}
		for _, s := range w.Finish {
			l.Finish.Strips = append(l.Finish.Strips, farmapi.RenderedStrip{
				Strip: onWire(s), SHA256: s.SHA256, SizeBytes: s.SizeBytes,
			})
		}
	}
	return farmapi.LeaseReply{OK: true, Leases: []farmapi.Lease{l}, Job: &farmapi.Job{
		Settings: chosen.Picture(), JobID: w.Job.JobID, InputSHA256: w.Job.InputSha256, FramesWaiting: waiting,
		Frames: farmapi.Frames{First: first, Last: last, Step: step}, Scene: w.Scene,
	}}, nil
}

func onWire(s split.Strip) farmapi.Strip {
	return farmapi.Strip{Index: s.Part, Count: s.Parts, From: s.Rows.From, To: s.Rows.To, Overlap: s.Overlap, Height: s.Height}
}

// deliverStrip hands a strip to package split. Errors: lease_lost, frame_rejected.
func (s *Server) deliverStrip(ctx context.Context, meta farmapi.FrameResult, worker dispatch.Worker, file io.Reader) error {
	return s.Cuts.Receive(ctx, split.Delivery{
		Lease: lease.Ref{ID: meta.LeaseID, Holder: meta.WorkerID, Attempt: int64(meta.Attempt)}, KeyID: worker.KeyID,
		Width: meta.Width, Height: meta.Height, SHA256: meta.SHA256, SizeBytes: meta.SizeBytes,
		RenderTime: time.Duration(meta.RenderSeconds * float64(time.Second)),
	}, file)
}

// strip sends a strip to the worker that finishes its frame. Errors: lease_lost.
func (s *Server) strip(w http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	worker, err := s.worker(r.Context(), node, r.URL.Query().Get("worker_id"))
	if err != nil {
		return nil, err
	}
	content, err := s.Cuts.Open(r.Context(), worker.WorkerID, r.PathValue("job_id"), r.PathValue("sha256"))
	if err != nil {
		return nil, err
	}
	return sendBytes(w, r, content)
}
