package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/movie"
)

// moviePatience is how long a request waits for a movie. Proxies end a longer one.
const moviePatience = 20 * time.Second

// movie registers the movie of a job.
func (s *server) movie(api huma.API, d jobRoutes) {
	op := d.op("getJobMovie", http.MethodGet, links.Movie, "A completed job's frames as a movie")
	op.Description = "An MP4 at the size of the frames and the scene's speed: with the codec and the sound of a scene whose output is a movie, otherwise H.264 without sound. The first request has an idle worker encode it, and waits a while: answer movie_not_ready asks to come again. It is kept as long as the ZIP, costs nothing, and is no part of the receipt. Supports Range requests."
	op.Responses = streamed(movie.Type, "The movie")
	op.Responses["206"] = operation.Part(movie.Type, "multipart/byteranges")
	op.Responses["304"] = operation.NotModified()
	huma.Register(api, op, func(ctx context.Context, in *struct {
		JobID string `path:"job_id" doc:"Begins with JOB-."`
	}) (*huma.StreamResponse, error) {
		found, err := s.Movies.Await(ctx, operation.Caller(ctx).WorkspaceID, in.JobID, moviePatience)
		if err != nil {
			return nil, err
		}
		file, err := s.Movies.Open(ctx, found)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer func() { _ = file.Close() }()
			r, w := humago.Unwrap(hc)
			s.Errors.ServeAttachment(w, r, movie.Type, found.Filename, found.SHA256, file)
		}}, nil
	})
}
