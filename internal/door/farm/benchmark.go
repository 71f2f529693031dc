package farm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
)

// benchmark receives a signed benchmark result. A result that the judge rejects
// is stored with the reason and is still a successful request, so that the
// worker does not send it again. What the worker is (device, renderer) comes
// from its registration and not from the request.
func (s *Server) benchmark(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.BenchmarkRequest
	// The picture is written in base64, four characters for three bytes.
	if err := decodeAtMost(r, &req, maxMeta*4+benchmark.MostFrameBytes*4/3); err != nil {
		return nil, err
	}
	if len(req.Envelope) == 0 {
		return nil, fault.Field("body.envelope", "is required")
	}
	worker, err := s.worker(r.Context(), node, req.WorkerID)
	if err != nil {
		return nil, err
	}
	done, err := s.Board.Submit(r.Context(), leaderboard.Submission{
		NodeKeyID: node.KeyID, WorkerID: worker.WorkerID, Envelope: req.Envelope, PublicKey: []byte(req.PublicKeyPEM), Frame: req.Frame,
		Worker: benchmark.Worker{
			Device: worker.Device, DeviceName: worker.DeviceName, BlenderVersion: worker.BlenderVersion,
			Synthetic: worker.Renderer == contract.SyntheticRenderer,
		},
	})
	if err != nil {
		return nil, err
	}
	reply := farmapi.BenchmarkReply{OK: true, ResultID: done.ResultID, Status: farmapi.BenchmarkAccepted}
	if done.Reason != "" {
		s.Log.Warn("benchmark receipt rejected", "worker_id", worker.WorkerID, "result_id", done.ResultID, "reason", done.Reason, "detail", done.Detail)
		reason := string(done.Reason)
		reply.Status, reply.Reason, reply.Detail = farmapi.BenchmarkRejected, &reason, &done.Detail
		return reply, nil
	}
	page := s.Board.Links.Result(done.ResultID)
	standing := string(done.Standing)
	reply.ReceiptID, reply.PublicResultURL, reply.Verification = &done.ReceiptID, &page, &standing
	return reply, nil
}

// challenge draws what a benchmark run must render.
func (s *Server) challenge(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.ChallengeRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	worker, err := s.worker(r.Context(), node, req.WorkerID)
	if err != nil {
		return nil, err
	}
	drawn, err := s.Board.Draw(r.Context(), node.KeyID, worker.WorkerID, req.Scene)
	return farmapi.ChallengeReply{OK: true, Challenge: farmapi.Challenge(drawn.Challenge), ExpiresAt: drawn.Until}, err
}

// referenceReply writes a claimed reference render as the wire has it: a job of one frame.
func referenceReply(w leaderboard.ReferenceWork) farmapi.LeaseReply {
	shot := farmapi.Challenge(w.Challenge)
	return farmapi.LeaseReply{
		OK: true, Job: &farmapi.Job{JobID: w.ChallengeID, Reference: &shot},
		Leases: []farmapi.Lease{{LeaseID: w.Lease.ID, Attempt: int(w.Lease.Attempt), Frame: w.Frame}},
	}
}

// deliverReference reads the picture of a reference render, which is small, and reports it
// to the board. Errors: invalid_request, lease_lost, frame_rejected.
func (s *Server) deliverReference(ctx context.Context, meta farmapi.FrameResult, file io.Reader) error {
	if meta.SizeBytes > benchmark.MostFrameBytes {
		return fault.Field("body.meta.size_bytes", "must be 1 to %d for a reference render", benchmark.MostFrameBytes)
	}
	ref := lease.Ref{ID: meta.LeaseID, Holder: meta.WorkerID, Attempt: int64(meta.Attempt)}
	if err := s.Board.AdmitReference(ctx, ref); err != nil {
		return err
	}
	done, err := s.Desk.Hold(ctx, previewBytes)
	if err != nil {
		return err
	}
	defer done()
	content, err := io.ReadAll(io.LimitReader(file, meta.SizeBytes+1))
	if sum := sha256.Sum256(content); err != nil || hex.EncodeToString(sum[:]) != meta.SHA256 {
		return fault.New(fault.FrameRejected, "The picture does not match its description.").Wrap(err)
	}
	return s.Board.Confirm(ctx, ref, content)
}
