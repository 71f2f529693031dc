package farm

import (
	"net/http"

	"svc.example/internal/ground/lease"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/split"
)

// heartbeat extends a worker's leases, records their progress (0 to 1), and
// returns the ids of those that the worker no longer holds.
func (s *Server) heartbeat(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.HeartbeatRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if _, err := s.worker(r.Context(), node, req.WorkerID); err != nil {
		return nil, err
	}
	ofFrames, ofStrips, ofPreviews, ofReferences := byKind(req.Leases)
	lost, err := s.Frames.Heartbeat(r.Context(), req.WorkerID, refs(req.WorkerID, ofFrames), progress(ofFrames))
	if err == nil && len(ofReferences) > 0 {
		var more []string
		more, err = s.Board.BeatReferences(r.Context(), refs(req.WorkerID, ofReferences), progress(ofReferences))
		lost = append(lost, more...)
	}
	if err == nil && len(ofStrips) > 0 {
		var more []string
		more, err = s.Cuts.Heartbeat(r.Context(), refs(req.WorkerID, ofStrips), progress(ofStrips))
		lost = append(lost, more...)
	}
	if err == nil && len(ofPreviews) > 0 {
		var more []string
		more, err = s.Previews.Heartbeat(r.Context(), req.WorkerID, refs(req.WorkerID, ofPreviews), progress(ofPreviews))
		lost = append(lost, more...)
	}
	return farmapi.HeartbeatReply{OK: true, Lost: lost}, err
}

// byKind parts the leases of a report: they belong to four packages.
func byKind(held []farmapi.Held) (ofFrames, ofStrips, ofPreviews, ofReferences []farmapi.Held) {
	for _, h := range held {
		switch {
		case split.Owns(h.LeaseID):
			ofStrips = append(ofStrips, h)
		case preview.Owns(h.LeaseID):
			ofPreviews = append(ofPreviews, h)
		case leaderboard.OwnsReference(h.LeaseID):
			ofReferences = append(ofReferences, h)
		default:
			ofFrames = append(ofFrames, h)
		}
	}
	return ofFrames, ofStrips, ofPreviews, ofReferences
}

// progress is how far the leases of a report are.
func progress(held []farmapi.Held) []float64 {
	shares := make([]float64, 0, len(held))
	for _, h := range held {
		shares = append(shares, h.Progress)
	}
	return shares
}

// refs returns the leases of a report, each with the worker as its holder: a
// worker can report only on what it holds itself.
func refs(workerID string, held []farmapi.Held) []lease.Ref {
	out := make([]lease.Ref, 0, len(held))
	for _, h := range held {
		out = append(out, lease.Ref{ID: h.LeaseID, Holder: workerID, Attempt: int64(h.Attempt)})
	}
	return out
}
