// Package web serves every HTML page of the service: the home page, sign-in,
// the leaderboard, webhooks, a receipt's proof, and the API reference.
//
// What always holds: a page is rendered on the server, in one layout, with one
// stylesheet. It loads only its own files below /assets/, and its
// Content-Security-Policy says so. Only the proof page runs a script. An error
// is a page too. No cache keeps the pages of a workspace, and their forms work
// only for a person who is signed in and submits them from this site.
//
// The work packages read what a page shows and decide what a form asks for.
// Other doors do not import this package: app passes its pages to them.
//
// Start reading at Site.Routes, then page.go, which renders every page.
// header.go has the headers and the policy, asset.go the stylesheet and the
// script, error.go the error page, format.go how figures are written. Each page
// has a file of its own and a template of the same name.
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

// Config holds what the pages are made from. All fields but OpenIDStart are
// required. The package closes none of them.
type Config struct {
	DB       *db.DB
	Board    *leaderboard.Board
	Webhooks *webhook.Hooks
	Proofs   Proofs
	// OpenIDStart is the path where sign-in by an OpenID Connect issuer begins;
	// "" hides the button.
	OpenIDStart string
	Links       links.Links
	Errors      *front.Errors
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
