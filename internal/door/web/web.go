// Package web serves every HTML page of the service, in four groups: the console of a
// workspace (console), the operators' pages (operate), the public pages (public), and those
// behind the links of shared jobs (shared). What they have in common is in package page.
//
// What always holds: a page is rendered on the server, in one layout, with one
// stylesheet, to which the guide adds a small one. It loads only its own files below /assets/ and pictures of this
// origin, and its Content-Security-Policy says so. An error is a page too.
//
// The work packages read what a page shows and decide what a form asks for.
// Other doors do not import this package: app passes its pages to them.
package web

import (
	"net/http"

	"svc.example/internal/door/web/console"
	"svc.example/internal/door/web/operate"
	"svc.example/internal/door/web/page"
	"svc.example/internal/door/web/public"
	"svc.example/internal/door/web/shared"
	"svc.example/internal/ground/ratelimit"
)

// Config holds what the pages are made from. All fields but Shared.OpenIDStart and Terms are
// required. The package closes none of them.
type Config struct {
	page.Shared
	Console console.Config
	Public  public.Config
	// ByLink are the pages behind the links of shared jobs.
	ByLink shared.Config
	Ledger *ratelimit.Ledger
}

// Site serves all pages. It is safe for concurrent use.
type Site struct {
	// Base has the pages of signing in.
	*page.Base
	console *console.Site
	operate *operate.Site
	public  *public.Site
	byLink  *shared.Site
}

// New makes the pages. Forms are accepted from the origin of c.Links.PublicURL.
func New(c Config) *Site {
	s := &Site{
		console: console.New(c.Shared, c.Console),
		operate: operate.New(c.Shared, operate.Config{Jobs: c.Console.Jobs, Board: c.Public.Board, Ledger: c.Ledger}),
		public:  public.New(c.Shared, c.Public),
		byLink:  shared.New(c.Shared, c.ByLink),
	}
	s.Base = s.console.Base
	return s
}

// Routes adds the routes of the pages and their files to mux. openAPI returns
// the document that the API reference shows; it is called once, at the first
// request.
func (s *Site) Routes(mux *http.ServeMux, openAPI func() []byte) {
	s.public.Routes(mux, openAPI)
	s.console.Routes(mux)
	s.operate.Routes(mux)
	s.byLink.Routes(mux)
}
