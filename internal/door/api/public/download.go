package public

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/links"
)

// artifactInput is a signed link: job, end of validity (Unix seconds),
// signature.
type artifactInput struct {
	JobID     string `path:"job_id"`
	Expires   string `query:"expires" required:"true"`
	Signature string `query:"signature" required:"true"`

	method string
}

// Resolve implements huma.Resolver.
func (in *artifactInput) Resolve(hc huma.Context) []error {
	in.method = hc.Method()
	return nil
}

// download registers the signed download. The link is the authorisation, so it
// needs no key and works in a browser. http.ServeContent handles Range and
// HEAD.
func (s *Server) download(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "downloadArtifact", Method: http.MethodGet, Path: links.DownloadPath + "{job_id}", Tags: []string{"Results"},
		Summary: "Fetch a ZIP by its signed address", Description: "The address comes from download_url. Supports Range requests (units other than bytes are ignored). Answers 307 if the store sends the file.",
		Middlewares: huma.Middlewares{operation.KeepRequestID},
		Responses: map[string]*huma.Response{"200": {
			Description: "The ZIP", Content: map[string]*huma.MediaType{"application/zip": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		}, "206": operation.Part("application/zip", "multipart/byteranges"), "304": operation.NotModified(), "307": {Description: "The ZIP is in a store at Location, for some minutes"}},
	}, func(ctx context.Context, in *artifactInput) (*huma.StreamResponse, error) {
		// A store that callers can reach sends a ZIP directly. HEAD is answered here: a
		// link is good for one method.
		if in.method == http.MethodGet {
			link, err := s.Artifacts.Link(ctx, in.JobID, in.Expires, in.Signature)
			if err != nil {
				return nil, err
			}
			if link != "" {
				return &huma.StreamResponse{Body: func(hc huma.Context) {
					hc.SetHeader("Location", link)
					hc.SetHeader("Cache-Control", "no-store")
					hc.SetStatus(http.StatusTemporaryRedirect)
				}}, nil
			}
		}
		// The link, the job and the file are all checked before the status is
		// sent.
		a, err := s.Artifacts.Open(ctx, in.JobID, in.Expires, in.Signature)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer func() { _ = a.Close() }()
			r, w := humago.Unwrap(hc)
			h := w.Header()
			h.Set("Content-Type", "application/zip")
			h.Set("Content-Disposition", blob.Attachment(a.Filename))
			h.Set("ETag", `"`+a.SHA256+`"`)
			h.Set("Cache-Control", "private, max-age=3600")
			s.Errors.ServeContent(w, r, a.Completed, a)
		}}, nil
	})
}
