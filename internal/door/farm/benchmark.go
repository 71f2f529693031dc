package farm

import (
	"net/http"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/identity"
)

// benchmark receives a signed benchmark result. A result that the judge rejects
// is stored with the reason and is still a successful request, so that the
// worker does not send it again. What the worker is (device, renderer) comes
// from its registration and not from the request.
func (s *Server) benchmark(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.BenchmarkRequest
	if err := decode(r, &req); err != nil {
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
		NodeKeyID: node.KeyID, WorkerID: worker.WorkerID, Envelope: req.Envelope, PublicKey: []byte(req.PublicKeyPEM),
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
	reply.ReceiptID, reply.PublicResultURL = &done.ReceiptID, &page
	return reply, nil
}
