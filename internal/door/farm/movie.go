package farm

import (
	"context"
	"io"
	"net/http"
	"slices"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/project"
)

// movieReply writes a claimed movie as the wire has it: a job of one frame.
func movieReply(w movie.Work) farmapi.LeaseReply {
	return farmapi.LeaseReply{
		OK: true, Job: &farmapi.Job{JobID: w.MovieID, InputSHA256: w.ZIP.SHA256, Movie: &farmapi.Movie{Frames: w.Frames, Width: w.Width, Height: w.Height, FPS: w.FPS, Main: w.Own.Main, Scene: w.Own.Scene}},
		Leases: []farmapi.Lease{{LeaseID: w.Lease.ID, Attempt: int(w.Lease.Attempt)}},
	}
}

// isMovie reports whether a request names a movie.
func isMovie(r *http.Request) bool { return id.Valid(id.Movie, r.PathValue("job_id")) }

// movieProject is the project of a movie: the ZIP with the frames comes first, and the files of the
// scene follow where the movie has settings of it.
func (s *Server) movieProject(ctx context.Context, z movie.ZIP, own movie.Own) (farmapi.Project, error) {
	name := "frames.zip"
	reply := farmapi.Project{OK: true}
	if own.UploadID != "" {
		m, err := s.files().Manifest(ctx, own.UploadID)
		if err != nil {
			return reply, err
		}
		for _, f := range m.Files {
			reply.Files = append(reply.Files, farmapi.File(f))
		}
		for _, a := range m.Aliases {
			reply.Aliases = append(reply.Aliases, farmapi.Alias(a))
		}
		for slices.ContainsFunc(m.Files, func(f project.File) bool { return f.Path == name }) {
			name = "_" + name
		}
	}
	reply.Main = name
	reply.Files = append([]farmapi.File{{Path: name, SHA256: z.SHA256, SizeBytes: z.SizeBytes, Parts: []string{z.SHA256}}}, reply.Files...)
	return reply, nil
}

// movieInput returns what the movie that the request names is made of, if its worker holds it.
// Errors: lease_lost.
func (s *Server) movieInput(r *http.Request, node identity.NodeKey) (z movie.ZIP, own movie.Own, err error) {
	worker, err := s.worker(r.Context(), node, r.URL.Query().Get("worker_id"))
	if err != nil {
		return z, own, err
	}
	return s.Movies.Input(r.Context(), worker.WorkerID, r.PathValue("job_id"))
}

// moviePart sends the ZIP of a movie's frames, or a file of its scene.
func (s *Server) moviePart(w http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	z, own, err := s.movieInput(r, node)
	switch {
	case err != nil:
		return nil, err
	case r.PathValue("sha256") == z.SHA256:
		return s.sendZIP(w, r, z)
	case own.UploadID == "":
		return nil, fault.New(fault.InvalidRequest, "The movie has no part %q.", r.PathValue("sha256"))
	}
	return s.sendPart(w, r, own.UploadID)
}

// sendZIP sends the ZIP of a movie's frames, or a link to it.
func (s *Server) sendZIP(w http.ResponseWriter, r *http.Request, z movie.ZIP) (any, error) {
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
