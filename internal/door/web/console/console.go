// Package console serves the pages of a workspace: its jobs and their frames, uploads,
// money, keys, webhooks and settings, the questions of programs that want a key, and
// signing in.
//
// What always holds: without script every page works: forms post and links link; script
// makes it live. Pages are never cached. Their forms work only for a signed-in person who
// submits them from this site.
//
// Start reading at Site.Routes. Each page has a file of its own and a template of the same
// name. stream.go keeps pages live.
package console

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/oauth"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/share"
	"svc.example/internal/work/split"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
)

//go:embed template
var files embed.FS

var pages = page.Templates(files, template.FuncMap{"last": lastTry, "reason": reasonText})

// Config holds what the console is made from. All fields are required. The package closes
// none of them.
type Config struct {
	Jobs      *job.Jobs
	Watch     *watch.Reader
	Artifacts *artifact.Artifacts
	Overviews *overview.Overviews
	Movies    *movie.Movies
	Previews  *preview.Previews
	Intake    *intake.Intake
	Webhooks  *webhook.Hooks
	Payments  *payment.Payments
	OAuth     *oauth.Server
	Shares    *share.Shares
	// Cuts says why a long frame is not rendered in strips.
	Cuts *split.Cuts
	// Leave erases a workspace for good, with its files. Errors: jobs_not_ended,
	// money_reserved, workspace_frozen.
	Leave func(ctx context.Context, workspaceID string) error
	// Invitations brings people into workspaces.
	Invitations identity.Invitations
	// Domains has people join workspaces when they sign in.
	Domains identity.Domains
	// Mails says that people are mailed how their jobs end.
	Mails bool
	// UploadStall is how long an upload may go without a new byte; 0 means one
	// minute.
	UploadStall time.Duration
}

// Site serves the console. It is safe for concurrent use.
type Site struct {
	*page.Base
	Config
}

// New makes the console.
func New(shared page.Shared, c Config) *Site {
	return &Site{Base: page.NewBase(shared, pages), Config: c}
}

// Paths of the console.
const (
	newPath      = "/console/new"
	uploadsPath  = "/console/uploads/"
	jobsPath     = "/console/jobs/"
	walletPath   = links.WalletPath
	keysPath     = "/console/keys"
	settingsPath = "/console/settings"
	sharesPath   = "/console/shares"
)

// Routes adds the pages of a workspace, and the pictures, files and streams that they show.
//
// Each chain reads from the inside out: a function builds a page, form or signedIn admits
// the person, page renders and sends. Everyone in the workspace reads; each form names the least
// role that may send it.
func (s *Site) Routes(mux *http.ServeMux) {
	s.authorizeRoutes(mux)
	s.membersRoutes(mux)
	s.sharesRoutes(mux)
	s.filtersRoutes(mux)
	mux.Handle("GET /sign-in", s.Page(s.SignInPage))
	mux.Handle("POST /console/sign-in", s.Page(s.AskForLink))
	s.LeadHome(mux, "/console/sign-in", "/sign-in")
	mux.Handle("POST /console/sign-out", s.Page(s.SignOut))
	s.LeadHome(mux, "/console/sign-out", page.ConsolePath)
	mux.Handle("GET "+page.ConsolePath, s.Page(s.Admit(s.jobs)))
	mux.Handle("GET "+page.ConsolePath+"/live", s.AdmitRaw(s.liveJobs))

	mux.Handle("GET "+newPath, s.Page(s.AdmitAs(identity.Member, s.newRender)))
	mux.Handle("POST "+newPath, s.Errors.Handle(s.receive))
	s.FormAt(mux, newPath+"/sample", newPath, identity.Member, s.sample)
	upload := uploadsPath + "{upload_id}"
	mux.Handle("GET "+upload, s.Page(s.Admit(s.upload)))
	mux.Handle("GET "+upload+"/files", s.AdmitRaw(s.files))
	s.FormAt(mux, upload+"/frames", upload, identity.Member, s.requote)
	mux.Handle("POST "+upload+"/look", s.Page(s.Form(identity.Member, s.orderPreview)))
	mux.Handle("GET "+upload+"/look", s.AdmitRaw(s.previewState))
	mux.Handle("GET "+upload+"/look/{preview_id}", s.AdmitRaw(s.previewPicture))
	s.FormAt(mux, upload+"/start", upload, identity.Member, s.start)

	s.FormAt(mux, selectedPath, page.ConsolePath, identity.Member, s.selected)
	one := jobsPath + "{job_id}"
	mux.Handle("GET "+one, s.Page(s.Admit(s.job)))
	mux.Handle("GET "+one+"/live", s.AdmitRaw(s.liveJob))
	s.FormAt(mux, one+"/cancel", one, identity.Member, s.cancel)
	s.FormAt(mux, one+"/pause", one, identity.Member, s.queued(s.pause))
	s.FormAt(mux, one+"/resume", one, identity.Member, s.queued(s.resume))
	s.FormAt(mux, one+"/priority", one, identity.Member, s.queued(s.prioritize))
	s.FormAt(mux, one+"/tags", one, identity.Member, s.queued(s.tag))
	s.FormAt(mux, one+"/rerender", one, identity.Member, s.rerender)
	mux.Handle("GET "+one+"/thumbnail", s.AdmitRaw(s.thumbnail))
	mux.Handle("GET "+one+"/frames", s.Page(s.Admit(s.openFrame)))
	mux.Handle("GET "+one+"/frames.zip", s.AdmitRaw(s.selection))
	mux.Handle("GET "+one+"/frames/{frame}", s.Page(s.Admit(s.frame)))
	mux.Handle("GET "+one+"/frames/{frame}/compare", s.Page(s.Admit(s.chooseJob)))
	mux.Handle("GET "+one+"/frames/{frame}/small", s.AdmitRaw(s.smallFrame))
	mux.Handle("GET "+one+"/frames/{frame}/strips/{part}", s.AdmitRaw(s.strip))
	mux.Handle("GET "+one+"/frames/{frame}/view", s.AdmitRaw(s.viewFrame))
	mux.Handle("GET "+one+"/frames/{frame}/values", s.AdmitRaw(s.valuesAt))
	mux.Handle("GET "+one+"/frames/{frame}/file", s.AdmitRaw(s.wholeFrame))
	mux.Handle("GET "+one+"/sheet", s.AdmitRaw(s.overview(overview.ContactSheet)))
	mux.Handle("GET "+one+"/loop", s.AdmitRaw(s.overview(overview.Loop)))
	mux.Handle("GET "+one+"/movie", s.AdmitRaw(s.movie))
	mux.Handle("GET "+one+"/log", s.AdmitRaw(s.log))
	mux.Handle("GET "+one+"/download", s.AdmitRaw(s.download))
	mux.Handle("GET "+one+"/receipt", s.AdmitRaw(s.receipt))

	mux.Handle("GET "+walletPath, s.Page(s.Admit(s.wallet)))
	s.FormAt(mux, walletPath+"/top-ups", walletPath, identity.Owner, s.topUp)
	s.FormAt(mux, walletPath+"/alert", walletPath, identity.Owner, s.walletAlert)
	mux.Handle("GET "+walletPath+"/ledger.csv", s.AdmitRaw(s.ledger))
	mux.Handle("GET "+walletPath+"/spend.csv", s.AdmitRaw(s.spendFile))
	mux.Handle("GET "+invoicesPath, s.Page(s.Admit(s.invoices)))
	mux.Handle("GET "+invoicesPath+"/{number}", s.AdmitRaw(s.invoiceFile))
	s.FormAt(mux, walletPath+"/billing", invoicesPath, identity.Owner, s.setBilling)
	mux.Handle("GET "+keysPath, s.Page(s.Admit(s.keys)))
	mux.Handle("POST "+keysPath, s.Page(s.Form(identity.Owner, s.createKey)))
	s.FormAt(mux, keysPath+"/{key_id}/revoke", keysPath, identity.Owner, s.revokeKey)
	s.FormAt(mux, modePath, page.ConsolePath, identity.Viewer, s.switchMode)
	mux.Handle("GET "+settingsPath, s.Page(s.Admit(s.settings)))
	s.FormAt(mux, settingsPath+"/sessions", settingsPath, identity.Viewer, s.endOtherSessions)
	mux.Handle("GET "+settingsPath+"/export", s.AdmitRawAs(identity.Owner, s.export))
	s.FormAt(mux, settingsPath+"/name", settingsPath, identity.Owner, s.rename)
	s.FormAt(mux, settingsPath+"/theme", settingsPath, identity.Viewer, s.setTheme)
	s.FormAt(mux, settingsPath+"/leave", settingsPath, identity.Owner, s.leave)
	s.FormAt(mux, settingsPath+"/mails", settingsPath, identity.Viewer, s.setMails)
	mux.Handle("GET "+links.NoticesPath+"{person_id}", s.Page(s.askUnsubscribe))
	mux.Handle("POST "+links.NoticesPath+"{person_id}", s.Page(s.unsubscribe))
	s.FormAt(mux, settingsPath+"/proof-pages", settingsPath, identity.Owner, s.setProofPages)

	mux.Handle("GET "+webhook.ConsolePage, s.Page(s.Admit(s.webhooks)))
	mux.Handle("POST "+webhook.ConsolePage, s.Page(s.Form(identity.Owner, s.addEndpoint)))
	s.FormAt(mux, webhook.ConsolePage+"/{endpoint_id}/{action}", webhook.ConsolePage, identity.Owner, s.changeEndpoint)
	s.FormAt(mux, webhook.ConsolePage+"/{endpoint_id}/deliveries/{delivery_id}", webhook.ConsolePage, identity.Owner, s.redeliver)
}
