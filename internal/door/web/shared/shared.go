// Package shared serves the public page of a job that its owner shares by a link: a player,
// the frames, an optional download and the proof.
//
// What always holds: a link opens its own job only, because the job comes from the link and
// never from the address. No cookie and no key counts here. Search engines are told to leave
// all of it out. Without script every page works: each frame has its own address.
//
// Visitors change nothing but this: where the link allows it, they comment on frames. They do so
// from this page, not from those of other sites.
//
// Package share decides which links work. Start reading at Site.Routes.
package shared

import (
	"embed"
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/identity/inflight"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/share"
	"svc.example/internal/work/watch"
)

//go:embed template
var files embed.FS

var pages = page.Templates(files, nil)

// Config holds what the pages are made from. All fields are required. The package closes none
// of them.
type Config struct {
	Jobs      *job.Jobs
	Watch     *watch.Reader
	Overviews *overview.Overviews
	Artifacts *artifact.Artifacts
	Intake    *intake.Intake
	Shares    *share.Shares
}

// Site serves the pages. It is safe for concurrent use.
type Site struct {
	*page.Base
	Config
}

// New makes the pages.
func New(shared page.Shared, c Config) *Site { return &Site{page.NewBase(shared, pages), c} }

// Routes adds the page of a link, and the pictures and files that it shows.
func (s *Site) Routes(mux *http.ServeMux) {
	one := links.SharePath + "{token}"
	mux.Handle("GET "+one, s.opened(s.page))
	mux.Handle("GET "+one+"/frames/{frame}", s.opened(s.page))
	mux.Handle("GET "+one+"/frames/{frame}/small", s.opened(s.smallFrame))
	mux.Handle("GET "+one+"/frames/{frame}/file", s.opened(s.wholeFrame))
	mux.Handle("GET "+one+"/sheet", s.opened(s.overview(overview.ContactSheet)))
	mux.Handle("GET "+one+"/loop", s.opened(s.overview(overview.Loop)))
	mux.Handle("GET "+one+"/card.jpg", s.opened(s.card))
	mux.Handle("GET "+one+"/download", s.opened(s.download))
	mux.Handle("POST "+one+"/comments", s.opened(s.comment))
	mux.Handle("GET "+one+"/comments", s.opened(s.leadBack))
}

// visit is a request with a link that works.
type visit struct {
	*http.Request
	share.Opened
	// base is the path of the link's page. In test worlds it begins with that of the world.
	base string
}

// opened returns a handler of requests with a link that works. Errors: share_not_found.
func (s *Site) opened(do func(w http.ResponseWriter, v visit) error) http.Handler {
	path := pathOf(s.Links.SharePage(""))
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("X-Robots-Tag", "noindex")
		w.Header().Set("Referrer-Policy", "same-origin") // the address is the right to see it
		token := r.PathValue("token")
		o, err := s.Shares.Open(r.Context(), token)
		if err != nil {
			return err
		}
		inflight.RecordWorkspace(r.Context(), o.WorkspaceID)
		return do(w, visit{r, o, path + token})
	})
}
