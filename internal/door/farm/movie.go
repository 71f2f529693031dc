package farm

import (
	"context"
	"io"
	"net/http"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/movie"
)

// movieReply writes a claimed movie as the wire has it: a job of one frame.
func movieReply(w movie.Work) farmapi.LeaseReply {
	return farmapi.LeaseReply{
		OK: true, Job: &farmapi.Job{JobID: w.MovieID, InputSHA256: w.ZIP.SHA256, Movie: &farmapi.Movie{Frames: w.Frames, Width: w.Width, Height: w.Height, FPS: w.FPS}},
		Leases: []farmapi.Lease{{LeaseID: w.Lease.ID, Attempt: int(w.Lease.Attempt)}},
	}
}

// isMovie reports whether a request names a movie.
func isMovie(r *http.Request) bool { return id.Valid(id.Movie, r.PathValue("job_id")) }

// movieProject is the project of a movie: the ZIP with the frames.
func movieProject(z movie.ZIP) farmapi.Project {
	const name = "frames.zip"
	return farmapi.Project{OK: true, Main: name, Files: []farmapi.File{{Path: name, SHA256: z.SHA256, SizeBytes: z.SizeBytes, Parts: []string{z.SHA256}}}}
}

// zipOf returns the ZIP of the movie that the request names, if its worker holds it. Errors:
// lease_lost.
func (s *Server) zipOf(r *http.Request, node identity.NodeKey) (movie.ZIP, error) {
	worker, err := s.worker(r.Context(), node, r.URL.Query().Get("worker_id"))
	if err != nil {
		return movie.ZIP{}, err
	}
	return s.Movies.Input(r.Context(), worker.WorkerID, r.PathValue("job_id"))
}

// sendZIP sends the ZIP of a movie's frames, or a link to it.
func (s *Server) sendZIP(w http.ResponseWriter, r *http.Request, z movie.ZIP) (any, error) {
	if r.PathValue("sha256") != z.SHA256 {
		return nil, fault.New(fault.InvalidRequest, "The movie has no part %q.", r.PathValue("sha256"))
	}
	if r.URL.Query().Has(farmapi.AskLink) {
		store := blob.ToWorkers(s.Blobs)
		if store == nil {
			return farmapi.LinkReply{OK: true}, nil
		}
		link, err := store.GetLink(r.Context(), z.Key, blob.Served{}, linkLife)
		return farmapi.LinkReply{OK: true, URL: link}, err
	}
	content, err := s.Whole.Open(r.Context(), s.Blobs, z.Key, z.SHA256)
	if err != nil {
		return nil, err
	}
	return sendBytes(w, r, content)
}

// checkMovie refuses a description of a movie that contradicts itself. Error: invalid_request.
func checkMovie(meta farmapi.FrameResult) error {
	switch {
	case !id.Valid(id.Movie, meta.JobID) || meta.LeaseID != movie.LeaseID(meta.JobID):
		return fault.Field("body.meta.lease_id", "is not the lease of this movie")
	case meta.SizeBytes < 1 || meta.SizeBytes > movie.MaxBytes:
		return fault.Field("body.meta.size_bytes", "must be 1 to %d for a movie", int64(movie.MaxBytes))
	case !digest.Is(meta.SHA256):
		return fault.Field("body.meta.sha256", "must be 64 digits from 0 to f")
	}
	return nil
}

// deliverMovie hands a movie to package movie. Errors: invalid_request, lease_lost,
// frame_rejected.
func (s *Server) deliverMovie(ctx context.Context, meta farmapi.FrameResult, file io.Reader) error {
	return s.Movies.Accept(ctx, movie.Delivered{
		Lease: lease.Ref{ID: meta.LeaseID, Holder: meta.WorkerID, Attempt: int64(meta.Attempt)}, MovieID: meta.JobID, SHA256: meta.SHA256, SizeBytes: meta.SizeBytes,
	}, file)
}
