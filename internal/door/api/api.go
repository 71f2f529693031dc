// Package api is the public door: the /v1 and /node/v1 routes and the OpenAPI
// document that describes them.
//
// What always holds: a handler translates and calls one room below; every error
// is returned, and answered by package front; a route's credential
// is checked before its body is read; what is described is what is served,
// since the document is made from the handlers' types.
//
// Deciding is left to the rooms. Start reading at Routes, then uploads.go.
package api

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/front"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/openid"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
)

// Rooms are what the door leads to.
type Rooms struct {
	DB        *db.DB
	Jobs      *job.Jobs
	Artifacts *artifact.Artifacts
	Watch     *watch.Reader
	Board     *leaderboard.Board
	Intake    *intake.Intake
	Blobs     blob.Store
	Webhooks  *webhook.Hooks
	Sealed    *seal.Keys // for answers kept for idempotency keys
	Links     links.Links
	// OpenID is the issuer that people can sign in by; nil = none.
	OpenID *openid.Issuer
	// Pages shows browsers how a sign-in goes.
	Pages SignInPages
	// UploadStall is how long an upload may stand still; 0 means a minute.
	UploadStall time.Duration
	// Rate is what /limits says of the rate limit; the zero Policy means the
	// contract's figures.
	Rate   ratelimit.Policy
	Errors *front.Errors
	Log    *slog.Logger
}

type server struct {
	Rooms
	cross *http.CrossOriginProtection
}

// bridgeErrors installs the envelope once: huma keeps its error constructor,
// whether lists may be null, and whether a member in other letters is another
// one, in package variables.
var bridgeErrors = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false // an empty list is [], never null
	huma.ValidateStrictCasing = true  // PRICE_CENTS is no member of anything
	huma.NewErrorWithContext = refuse
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return refuse(nil, status, msg, errs...)
	}
})

// Routes adds the door's routes to mux and returns what writes the OpenAPI
// document that describes them.
func Routes(mux *http.ServeMux, rooms Rooms) func() []byte {
	bridgeErrors()
	s := &server{Rooms: rooms, cross: identity.SameOrigin(rooms.Links.PublicURL)}
	api := huma.NewAPI(config(rooms.Links.PublicURL), adapter{humago.NewAdapter(mux, ""), mux, rooms.Errors})
	s.discovery(api)
	s.capabilities(api)
	s.signIn(api)
	s.openID(api)
	s.keys(api)
	s.uploads(api)
	s.renders(api)
	s.jobs(api)
	s.workspace(api)
	s.results(api)
	s.leaderboard(api)
	s.webhooks(api)
	describeDocument(api.OpenAPI())
	document := finish(api.OpenAPI(), rooms.Links.PublicURL)
	s.receiptLog(mux)
	mux.Handle("GET /openapi.json", document)
	mux.Handle("GET /v1/openapi.json", document)
	return document.text
}

func config(publicURL string) huma.Config {
	c := huma.DefaultConfig("svc: Blender Cycles renders at a locked price", contract.OpenAPIVersion)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", "" // served by us
	c.CreateHooks = nil                                   // no $schema members
	c.Formats = map[string]huma.Format{"application/json": plainJSON, "json": plainJSON}
	c.NoFormatFallback = false
	if publicURL != "" {
		c.Servers = []*huma.Server{{URL: publicURL}}
	}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Components.SecuritySchemes = securitySchemes()
	return c
}

// written is a body that is kept as the text it was written as.
type written interface{ written() []byte }

// plainJSON writes text as it is: escaping <, > and & is for HTML.
var plainJSON = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		if b, ok := v.(written); ok {
			_, err := w.Write(b.written())
			return err
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	},
	Unmarshal: unmarshal,
}
