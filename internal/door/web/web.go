// Package web serves every HTML page of the service: the home page, sign-in,
// the console of a workspace, the leaderboard, a receipt's proof, the guide, and
// the API reference.
//
// What always holds: a page is rendered on the server, in one layout, with one
// stylesheet. It loads only its own files below /assets/ and pictures of this
// origin, and its Content-Security-Policy says so. Without script every page of
// the console works: forms post and links link; script makes it live. An error
// is a page too. No cache keeps the pages of a workspace, and their forms work
// only for a person who is signed in and submits them from this site.
//
// The work packages read what a page shows and decide what a form asks for.
// Other doors do not import this package: app passes its pages to them.
//
// Start reading at Site.Routes, then page.go, which renders every page.
// session.go admits people. header.go has the headers and the policy, asset.go
// the stylesheet and the scripts, error.go the error page, format.go how figures are written. Each page
// has a file of its own and a template of the same name.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/oauth"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
	"svc.example/sdk"
)

// Config holds what the pages are made from. All fields but OpenIDStart are
// required. The package closes none of them.
type Config struct {
	DB        *db.DB
	Jobs      *job.Jobs
	Watch     *watch.Reader
	Artifacts *artifact.Artifacts
	Overviews *overview.Overviews
	Previews  *preview.Previews
	Intake    *intake.Intake
	Board     *leaderboard.Board
	Webhooks  *webhook.Hooks
	Payments  *payment.Payments
	OAuth     *oauth.Server
	Proofs    Proofs
	// Test says that these are the pages of a test world, and TestMode that the service has
	// such worlds.
	Test, TestMode bool
	// Terms is the operator's text of what a start accepts, in Markdown; nil shows ours.
	Terms []byte
	// Leave erases a workspace for good, with its files. Errors: jobs_not_ended,
	// money_reserved, workspace_frozen.
	Leave func(ctx context.Context, workspaceID string) error
	// OpenIDStart is the path where sign-in by an OpenID Connect issuer begins;
	// "" hides the button.
	OpenIDStart string
	Links       links.Links
	// UploadStall is how long an upload may go without a new byte; 0 means one
	// minute.
	UploadStall time.Duration
	Errors      *front.Errors
	Log         *slog.Logger
}

// Proofs reads the public part of a receipt. It is an interface because the
// proof page needs one method of job.Jobs.
type Proofs interface {
	// Public returns the receipt and its proof. Errors: receipt_not_found, also
	// where the workspace has switched its proof pages off.
	Public(ctx context.Context, receiptID string) (job.Public, error)
}

// Site serves all pages. It is safe for concurrent use.
type Site struct {
	Config
	sameOrigin *http.CrossOriginProtection
	cards      sync.Mutex // one card is drawn at a time: a font keeps its glyphs
}

// New makes the pages. Forms are accepted from the origin of c.Links.PublicURL.
func New(c Config) *Site {
	return &Site{Config: c, sameOrigin: identity.SameOrigin(c.Links.PublicURL)}
}

// Routes adds the routes of the pages and their files to mux. openAPI returns
// the document that the API reference shows; it is called once, at the first
// request.
//
// Each chain reads from the inside out: a function builds a page, form or
// signedIn admits the person, page renders and sends.
func (s *Site) Routes(mux *http.ServeMux, openAPI func() []byte) {
	mux.Handle("GET "+assetFolder+"{file}", s.Errors.Handle(serveAsset))
	mux.Handle("GET /{$}", s.page(s.home))
	mux.Handle("GET "+links.DocsPath, s.fixed(func() (page, error) { return referencePage(openAPI()) }))
	mux.Handle("GET "+links.ProofPath+"{receipt_id}", s.Errors.Handle(s.proof))

	mux.Handle("GET "+guidePath, s.page(s.guideIndex))
	mux.Handle("GET "+guidePath+"/{name}", s.page(s.guide))
	mux.Handle("GET "+links.SDKPath+"{$}", s.page(s.sdks))
	mux.Handle("GET "+links.SDKPath+"{file}", s.packages(links.SDKPath, sdk.Packages))
	mux.Handle("GET "+links.AddOnPath+"{$}", s.page(s.addOnPage))
	mux.Handle("GET "+links.AddOnPath+"{file}", s.packages(links.AddOnPath, addOn))
	mux.Handle("GET "+links.TermsPath, s.page(s.terms))
	mux.Handle("GET "+links.UploadPath+"{upload_id}", s.page(s.handOver))
	mux.Handle("GET /favicon.ico", s.Errors.Handle(serveIcon))
	mux.Handle("GET "+links.LeaderboardPath, s.page(leaderboardPage(s.board)))
	mux.Handle("GET "+links.GPUPath+"{gpu_slug}", s.page(leaderboardPage(s.gpu)))
	mux.Handle("GET "+links.ComparePath, s.page(leaderboardPage(s.compare)))
	mux.Handle("GET "+links.ResultPath+"{result_id}", s.page(leaderboardPage(s.result)))
	mux.Handle("GET "+links.ResultPath+"{result_id}/card.png", s.Errors.Handle(s.resultCard))

	s.consoleRoutes(mux)
	s.authorizeRoutes(mux)
	s.adminRoutes(mux)
	mux.Handle("GET "+webhook.ConsolePage, s.page(s.signedIn(s.webhooks)))
	mux.Handle("POST "+webhook.ConsolePage, s.page(s.form(s.addEndpoint)))
	mux.Handle("POST "+webhook.ConsolePage+"/{endpoint_id}/{action}", s.page(s.form(s.changeEndpoint)))
	mux.Handle("POST "+webhook.ConsolePage+"/{endpoint_id}/deliveries/{delivery_id}", s.page(s.form(s.redeliver)))
	mux.Handle("GET /sign-in", s.page(s.signInPage))
	mux.Handle("POST /console/sign-in", s.page(s.askForLink))
	mux.Handle("POST /console/sign-out", s.page(s.signOut))
}

// Paths of the console.
const (
	consolePath  = "/console"
	newPath      = "/console/new"
	uploadsPath  = "/console/uploads/"
	jobsPath     = "/console/jobs/"
	walletPath   = links.WalletPath
	keysPath     = "/console/keys"
	settingsPath = "/console/settings"
)

// consoleRoutes adds the pages of a workspace, and the pictures, files and streams
// that they show.
func (s *Site) consoleRoutes(mux *http.ServeMux) {
	mux.Handle("GET "+consolePath, s.page(s.signedIn(s.jobs)))
	mux.Handle("GET "+consolePath+"/live", s.signedInRaw(s.liveJobs))

	mux.Handle("GET "+newPath, s.page(s.signedIn(s.newRender)))
	mux.Handle("POST "+newPath, s.Errors.Handle(s.receive))
	upload := uploadsPath + "{upload_id}"
	mux.Handle("GET "+upload, s.page(s.signedIn(s.upload)))
	mux.Handle("POST "+upload+"/frames", s.page(s.form(s.requote)))
	mux.Handle("POST "+upload+"/look", s.page(s.form(s.look)))
	mux.Handle("GET "+upload+"/look", s.signedInRaw(s.lookState))
	mux.Handle("GET "+upload+"/look/{preview_id}", s.signedInRaw(s.lookPicture))
	mux.Handle("POST "+upload+"/start", s.page(s.form(s.start)))

	one := jobsPath + "{job_id}"
	mux.Handle("GET "+one, s.page(s.signedIn(s.job)))
	mux.Handle("GET "+one+"/live", s.signedInRaw(s.liveJob))
	mux.Handle("POST "+one+"/cancel", s.page(s.form(s.cancel)))
	mux.Handle("POST "+one+"/rerender", s.page(s.form(s.rerender)))
	mux.Handle("GET "+one+"/frames/{frame}", s.page(s.signedIn(s.frame)))
	mux.Handle("GET "+one+"/frames/{frame}/small", s.signedInRaw(s.smallFrame))
	mux.Handle("GET "+one+"/frames/{frame}/file", s.signedInRaw(s.wholeFrame))
	mux.Handle("GET "+one+"/sheet", s.signedInRaw(s.overview(overview.ContactSheet)))
	mux.Handle("GET "+one+"/loop", s.signedInRaw(s.overview(overview.Loop)))
	mux.Handle("GET "+one+"/log", s.signedInRaw(s.log))
	mux.Handle("GET "+one+"/download", s.signedInRaw(s.download))
	mux.Handle("GET "+one+"/receipt", s.signedInRaw(s.receipt))

	mux.Handle("GET "+walletPath, s.page(s.signedIn(s.wallet)))
	mux.Handle("POST "+walletPath+"/top-ups", s.page(s.form(s.topUp)))
	mux.Handle("POST "+walletPath+"/alert", s.page(s.form(s.walletAlert)))
	mux.Handle("GET "+walletPath+"/ledger.csv", s.signedInRaw(s.ledger))
	mux.Handle("GET "+keysPath, s.page(s.signedIn(s.keys)))
	mux.Handle("POST "+keysPath, s.page(s.form(s.createKey)))
	mux.Handle("POST "+keysPath+"/{key_id}/revoke", s.page(s.form(s.revokeKey)))
	mux.Handle("POST "+modePath, s.page(s.form(s.switchMode)))
	mux.Handle("GET "+settingsPath, s.page(s.signedIn(s.settings)))
	mux.Handle("POST "+settingsPath+"/sessions", s.page(s.form(s.endOtherSessions)))
	mux.Handle("GET "+settingsPath+"/export", s.signedInRaw(s.export))
	mux.Handle("POST "+settingsPath+"/name", s.page(s.form(s.rename)))
	mux.Handle("POST "+settingsPath+"/leave", s.page(s.form(s.leave)))
	mux.Handle("POST "+settingsPath+"/proof-pages", s.page(s.form(s.setProofPages)))
}
