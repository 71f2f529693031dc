// Package api is the HTTP API: the /v1 and /node/v1 routes and the OpenAPI
// document that describes them. This package has the routes of uploads, quotes
// and jobs; the packages public, account and webhooks below it have the others.
//
// What always holds: a handler translates and calls one package below. It
// returns every error, which package front answers. A credential is checked
// before the body is read. The document describes what is served, because it is
// made from the handlers' types.
//
// The work packages decide. Start reading at Routes, then uploads.go.
// idempotency.go repeats answers, upload_form.go reads forms, upload_headers.go
// the nine headers of spec 4.2.
package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/account"
	"svc.example/internal/door/api/document"
	"svc.example/internal/door/api/operation"
	"svc.example/internal/door/api/public"
	"svc.example/internal/door/api/webhooks"
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
	"svc.example/internal/work/movie"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/receipt/witness"
	"svc.example/internal/work/share"
	"svc.example/internal/work/testmode"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
)

// Config holds what the API is made from. For Document alone only Links is
// needed. The package closes none of its fields.
type Config struct {
	DB        *db.DB
	Jobs      *job.Jobs
	Artifacts *artifact.Artifacts
	Watch     *watch.Reader
	Board     *leaderboard.Board
	// Witnesses have the log's checkpoints co-signed; nil without any.
	Witnesses *witness.Asker
	Intake    *intake.Intake
	Previews  *preview.Previews
	Overviews *overview.Overviews
	Movies    *movie.Movies
	Shares    *share.Shares
	Blobs     blob.Store
	Webhooks  *webhook.Hooks
	Payments  *payment.Payments
	// Sealed encrypts the answers that are stored for idempotency keys, since
	// an answer can show a webhook's secret.
	Sealed *seal.Keys
	Links  links.Links
	// OpenID is the issuer that people can sign in by; nil means none.
	OpenID *openid.Issuer
	// Domains has people who sign in by it join workspaces.
	Domains identity.Domains
	// Pages shows browsers how a sign-in goes.
	Pages account.Pages
	// UploadStall is how long an upload may go without a new byte; 0 means one
	// minute.
	UploadStall time.Duration
	// Rate is the policy that /limits shows; the zero Policy shows 0, which is no
	// limit. Package front enforces it.
	Rate ratelimit.Policy
	// Unstarted is the bound on unstarted uploads that /limits shows, in bytes; 0
	// shows the contract's. Package intake enforces it.
	Unstarted int64
	// ProjectSize is what /limits says a project may have, in bytes; 0 shows the
	// contract's.
	ProjectSize int64
	// FrameTime is what /limits says a frame may take; 0 shows the contract's.
	FrameTime time.Duration
	// TestMode says that keys of test mode can be made, and Clock is what moves in a test
	// world; nil elsewhere.
	TestMode bool
	Clock    *testmode.Clock
	Errors   *front.Errors
	Log      *slog.Logger
}

// server has the handlers of uploads, quotes and jobs. It is safe for
// concurrent use.
type server struct {
	Config
	Guard *operation.Guard
}

// Routes adds the routes to mux and returns a function that returns the OpenAPI
// document that describes them. The function encodes the document once, at its
// first call; its callers share the bytes and must not change them.
func Routes(mux *http.ServeMux, c Config) (openAPI func() []byte) {
	guard := operation.NewGuard(c.DB, c.Links.PublicURL)
	api := huma.NewAPI(config(c.Links.PublicURL), operation.NewAdapter(mux, c.Errors))

	open := &public.Server{
		DB: c.DB, Jobs: c.Jobs, Artifacts: c.Artifacts, Board: c.Board, Witnesses: c.Witnesses, Blobs: c.Blobs, Links: c.Links, Rate: c.Rate, Unstarted: c.Unstarted, ProjectSize: c.ProjectSize, FrameTime: c.FrameTime, Errors: c.Errors,
		Previews: preview.Limits{Upload: contract.PreviewsOfUpload, Day: contract.PreviewsOfDay},
	}
	if c.Previews != nil {
		open.Previews = c.Previews.Limits
	}
	open.Routes(mux, api)
	own := &account.Server{DB: c.DB, Jobs: c.Jobs, Payments: c.Payments, Links: c.Links, OpenID: c.OpenID, Domains: c.Domains, Pages: c.Pages, Guard: guard, TestMode: c.TestMode, Clock: c.Clock, Log: c.Log}
	own.Routes(api)
	hooks := &webhooks.Server{Webhooks: c.Webhooks, Jobs: c.Jobs, Links: c.Links, Guard: guard}
	hooks.Routes(api)
	s := &server{Config: c, Guard: guard}
	s.uploads(api)
	s.storedUploads(api)
	s.parts(api)
	s.projects(api)
	s.previews(api)
	s.renders(api)
	s.jobs(api)
	s.listShares(api)
	s.workspaceEvents(api)

	at := links.Links{PublicURL: cmp.Or(c.Links.PublicURL, "https://svc.example")} // in examples
	webhooks.Describe(api.OpenAPI(), at)
	served := document.Finish(api.OpenAPI(), examples(at))
	mux.Handle("GET /openapi.json", served)
	mux.Handle("GET /v1/openapi.json", served)
	return served.Text
}

// Document returns the OpenAPI document of a service at publicURL, without a
// running service. Its handlers are registered and never called.
func Document(publicURL string) []byte {
	return Routes(http.NewServeMux(), Config{Links: links.Links{PublicURL: publicURL}})()
}

// config returns huma's configuration. Everything that huma would serve or add
// automatically is switched off: its own document routes, its $schema members,
// and its fallback to another format.
func config(publicURL string) huma.Config {
	c := huma.DefaultConfig("svc: Blender Cycles renders at a locked price", contract.OpenAPIVersion)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", "" // served by us
	c.CreateHooks = nil                                   // no $schema members
	c.Formats = map[string]huma.Format{"application/json": operation.JSON(), "json": operation.JSON()}
	c.NoFormatFallback = false
	if publicURL != "" {
		c.Servers = []*huma.Server{{URL: publicURL}}
	}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", document.SchemaName)
	c.Components.SecuritySchemes = operation.SecuritySchemes()
	return c
}
