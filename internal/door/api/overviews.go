package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/front"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/overview"
)

// overviewInput names a job of the caller's workspace, and the overview that it has.
type overviewInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
	operation.Conditional
}

// Headers that say how much of a job an overview shows.
const (
	framesShownHeader = "X-Svc-Frames-Shown"
	framesHeader      = "X-Svc-Frames"
)

// overviews registers the contact sheet and the loop of a job.
func (s *server) overviews(api huma.API, d jobRoutes) {
	for _, one := range []struct {
		verb, path, summary, picture string
		kind                         overview.Kind
	}{
		{"getJobContactSheet", links.ContactSheet, "A job's frames in one picture, each with its number", "At most 4 MiB and 4 megapixels, a line of text above that says how many frames it shows", overview.ContactSheet},
		{"getJobLoop", links.Loop, "A job's frames as a small loop that plays", "An animated WebP of at most 4 MiB, its longer side at most 320 pixels, at the scene's speed", overview.Loop},
	} {
		op := d.op(one.verb, http.MethodGet, one.path, one.summary)
		op.Description = "Of a job that is completed it is made once and kept; of another it shows the frames that are there. A long job shows an even choice of its frames. Making one takes a moment for each frame."
		op.Responses = streamed(one.kind.ContentType(), one.picture)
		op.Responses["200"].Headers = map[string]*huma.Param{
			framesShownHeader: {Description: "How many frames it shows.", Schema: &huma.Schema{Type: huma.TypeInteger}},
			framesHeader:      {Description: "How many frames of the job are accepted; those shown are an even choice of them.", Schema: &huma.Schema{Type: huma.TypeInteger}},
		}
		op.Responses["304"] = operation.NotModified()
		huma.Register(api, op, func(ctx context.Context, in *overviewInput) (*huma.StreamResponse, error) {
			return s.overview(ctx, in, one.kind)
		})
	}
}

// overview sends an overview. Errors: rate_limited, those of overview.Overviews.Find and Content.
func (s *server) overview(ctx context.Context, in *overviewInput, kind overview.Kind) (*huma.StreamResponse, error) {
	found, err := s.Overviews.Find(ctx, operation.Caller(ctx).WorkspaceID, in.JobID, kind)
	if err != nil {
		return nil, err
	}
	tag := `"` + found.Tag + `"`
	known := in.Matches(tag)
	var content []byte
	if !known {
		if err := front.Charge(ctx, found.Requests()); err != nil {
			return nil, err
		}
		if content, err = found.Content(ctx); err != nil {
			return nil, err
		}
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("ETag", tag)
		// Frames may come, or be rendered again, so a cache must ask each time.
		hc.SetHeader("Cache-Control", "private, no-cache")
		if known {
			hc.SetStatus(http.StatusNotModified)
			return
		}
		hc.SetHeader(framesShownHeader, strconv.Itoa(found.Shown))
		hc.SetHeader(framesHeader, strconv.Itoa(found.Frames))
		hc.SetHeader("Content-Type", kind.ContentType())
		_, _ = hc.BodyWriter().Write(content) // a failed write means the caller is gone
	}}, nil
}
