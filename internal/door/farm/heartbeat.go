package farm

import (
	"context"
	"net/http"

	"svc.example/internal/ground/lease"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/recheck"
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
	held := byKind(req.Leases)
	lost, err := s.Frames.Heartbeat(r.Context(), req.WorkerID, refs(req.WorkerID, held.frames), progress(held.frames))
	for _, of := range []struct {
		leases []farmapi.Held
		beat   func(ctx context.Context, refs []lease.Ref, progress []float64) (lost []string, err error)
	}{
		{held.references, s.Board.BeatReferences}, {held.strips, s.Cuts.Heartbeat}, {held.movies, s.Movies.Heartbeat}, {held.rechecks, s.Rechecks.Heartbeat},
		{held.previews, func(ctx context.Context, refs []lease.Ref, progress []float64) ([]string, error) {
			return s.Previews.Heartbeat(ctx, req.WorkerID, refs, progress)
		}},
	} {
		if err == nil && len(of.leases) > 0 {
			var more []string
			more, err = of.beat(r.Context(), refs(req.WorkerID, of.leases), progress(of.leases))
			lost = append(lost, more...)
		}
	}
	return farmapi.HeartbeatReply{OK: true, Lost: lost}, err
}

// heldByKind are the leases of a report by the package that they belong to.
type heldByKind struct{ frames, strips, previews, references, movies, rechecks []farmapi.Held }

func byKind(held []farmapi.Held) (of heldByKind) {
	for _, h := range held {
		switch {
		case split.Owns(h.LeaseID):
			of.strips = append(of.strips, h)
		case preview.Owns(h.LeaseID):
			of.previews = append(of.previews, h)
		case movie.Owns(h.LeaseID):
			of.movies = append(of.movies, h)
		case leaderboard.OwnsReference(h.LeaseID):
			of.references = append(of.references, h)
		case recheck.Owns(h.LeaseID):
			of.rechecks = append(of.rechecks, h)
		default:
			of.frames = append(of.frames, h)
		}
	}
	return of
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
