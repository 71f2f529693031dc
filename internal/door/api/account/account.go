// Package account is the part of the HTTP API about the caller's own workspace:
// signing in and out, keys, the wallet, the list of renders, and the switch of
// the proof pages.
//
// What always holds: account keys are managed by a person in a browser, never by a
// key, so that a leaked key cannot make another account key (spec 5). An account key
// manages agent keys, which may do less. A secret is shown once, in an answer that
// no cache keeps. A caller sees one workspace.
//
// Package identity decides who may sign in. Start reading at Server.Routes.
package account

import (
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/openid"
	"svc.example/internal/work/job"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/testmode"
)

// Server serves the routes of a workspace. It is safe for concurrent use.
type Server struct {
	DB   *db.DB
	Jobs *job.Jobs
	// Payments takes payments into wallets.
	Payments *payment.Payments
	Links    links.Links
	// OpenID is the issuer that people can sign in by; nil means none.
	OpenID *openid.Issuer
	// Domains has people who sign in by it join workspaces.
	Domains identity.Domains
	Pages   Pages
	Guard   *operation.Guard
	// TestMode says that keys of test mode can be made, and Clock is what moves in a test
	// world; nil elsewhere.
	TestMode bool
	Clock    *testmode.Clock
	Log      *slog.Logger
}

// Pages shows a browser how a sign-in goes. It is an interface because doors do
// not import each other: package web implements it, and app passes it in.
type Pages interface {
	// ConfirmSignIn writes the page whose button sends a link's token.
	ConfirmSignIn(w http.ResponseWriter, r *http.Request, email, token string) error
	// SignedIn writes the page that confirms a sign-in.
	SignedIn(w http.ResponseWriter, r *http.Request, email string) error
}

// Routes registers the routes on api.
func (s *Server) Routes(api huma.API) {
	s.signIn(api)
	s.openID(api)
	s.keys(api)
	s.workspace(api)
	s.filters(api)
	s.topUps(api)
	s.invoices(api)
	s.testMode(api)
}
