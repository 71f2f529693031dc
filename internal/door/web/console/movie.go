package console

import (
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/movie"
)

// movieView is the content of the page that a person sees instead of a movie.
type movieView struct {
	jobRow
	// Problem is why there is no movie; nil while it is encoded.
	Problem *fault.Wire
}

// movie sends the movie of a completed job. While a worker encodes it, a page says so and asks
// again.
func (s *Site) movie(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	found, err := s.Movies.Find(ctx, who.WorkspaceID, jobID)
	if err == nil {
		var file blob.Reader
		if file, err = s.Movies.Open(ctx, found); err == nil {
			defer func() { _ = file.Close() }()
			s.Errors.ServeAttachment(w, r, movie.Type, found.Filename, found.SHA256, file)
			return nil
		}
	}
	if !fault.Is(err, fault.MovieNotReady) && !fault.Is(err, fault.MovieUnavailable) {
		return err
	}
	o, problem := s.Jobs.Get(ctx, who.WorkspaceID, jobID)
	if problem != nil {
		return problem
	}
	p := page.Page{Template: "movie", Title: "Movie of " + o.Filename, Section: page.JobsSection, Private: true, Forms: true, Email: who.Credential.Email, Operator: who.Operator, Role: who.Role, Test: s.Test, TestMode: s.TestMode}
	v := movieView{jobRow: rowOf(who, o)}
	if fault.Is(err, fault.MovieNotReady) {
		p.Reload = 3
	} else {
		p.Status, v.Problem = page.Refused(err)
	}
	p.Content = v
	return s.Show(w, r, p)
}
