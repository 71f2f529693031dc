// Package web is every HTML page of the service: the first page, sign-in, the
// leaderboard, webhooks, a receipt's proof and the API reference.
//
// What always holds: a page is made on the server, in one layout, with one
// stylesheet; it loads nothing but its own files below /assets/, and its
// Content-Security-Policy says so; only the proof page runs a script. An error is
// a page too. A workspace's pages are kept by no cache, and its forms work only for
// who is signed in and sends them from here.
//
// The work packages read what a page tells and decide what a form asks for. Other
// doors do not know this one: app hands its pages to them.
//
// Start reading at Site.Routes, then page.go, which writes every page. Headers
// and the policy stand in header.go, stylesheet and script in asset.go, the error
// page in error.go. Each page has a file of its own and a template of its name.
package web

import (
	"context"
	"net/http"

	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/webhook"
)

// Config is what the pages are made from.
type Config struct {
	DB       *db.DB
	Board    *leaderboard.Board
	Webhooks *webhook.Hooks
	Proofs   Proofs
	// OpenIDStart is the path where signing in by an issuer begins; "" = there is none.
	OpenIDStart string
	Links       links.Links
	Errors      *front.Errors
}

// Proofs reads what anybody may see of a receipt.
type Proofs interface {
	// Public errors: receipt_not_found.
	Public(ctx context.Context, receiptID string) (job.Public, error)
}

// Site is all pages.
type Site struct {
	Config
	sameOrigin *http.CrossOriginProtection
}

// New makes the pages.
func New(c Config) *Site {
	return &Site{Config: c, sameOrigin: identity.SameOrigin(c.Links.PublicURL)}
}

// Routes adds the routes of the pages and their files to mux. openAPI gives the
// document that the API reference shows.
func (s *Site) Routes(mux *http.ServeMux, openAPI func() []byte) {
	mux.Handle("GET "+assetFolder+"{file}", s.Errors.Handle(serveAsset))
	mux.Handle("GET /{$}", s.page(s.home))
	mux.Handle("GET "+links.DocsPath, s.fixed(func() (page, error) { return referencePage(openAPI()) }))
	mux.Handle("GET "+links.ProofPath+"{receipt_id}", s.Errors.Handle(s.proof))

	mux.Handle("GET "+links.LeaderboardPath, s.page(leaderboardPage(s.board)))
	mux.Handle("GET "+links.GPUPath+"{gpu_slug}", s.page(leaderboardPage(s.gpu)))
	mux.Handle("GET "+links.ComparePath, s.page(leaderboardPage(s.compare)))
	mux.Handle("GET "+links.ResultPath+"{result_id}", s.page(leaderboardPage(s.result)))

	mux.Handle("GET "+webhook.ConsolePage, s.page(s.signedIn(s.webhooks)))
	mux.Handle("POST "+webhook.ConsolePage, s.page(s.form(s.addEndpoint)))
	mux.Handle("POST "+webhook.ConsolePage+"/{endpoint_id}/{action}", s.page(s.form(s.changeEndpoint)))
	mux.Handle("POST "+webhook.ConsolePage+"/{endpoint_id}/deliveries/{delivery_id}", s.page(s.form(s.redeliver)))
	mux.Handle("POST /console/sign-in", s.page(s.askForLink))
	mux.Handle("POST /console/sign-out", s.page(s.signOut))
}
