// Package web is the door for people: pages that a browser shows.
//
// What always holds: a page is made on the server and needs no script; it loads
// nothing, neither from here nor from elsewhere, and its Content-Security-Policy
// says so; charts are SVG in the page; an unchanged public page is not sent again;
// an error is a page too, with the code's own words. A workspace's pages are kept
// by nobody, and its forms do something only for who is signed in and sends them
// from here.
//
// What a page tells is read by the rooms, and what its forms ask for they decide.
// Start reading at Routes; start.go is the first page, leaderboard.go the other
// public ones, chart.go the drawing, signin.go who may see a workspace's,
// webhooks.go those.
package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

//go:embed page
var files embed.FS

// Rooms are what the door leads to.
type Rooms struct {
	DB       *db.DB
	Board    *leaderboard.Board
	Webhooks *webhook.Hooks
	// OpenID is the path at which signing in by an issuer begins; "" = there is none.
	OpenID    string
	PublicURL string
	Log       *slog.Logger
}

// pages is the door with its templates read.
type pages struct {
	Rooms
	style  template.CSS
	policy string
	shown  map[string]*template.Template
	own    *http.CrossOriginProtection
}

// Routes adds the door's routes to mux.
func Routes(mux *http.ServeMux, rooms Rooms) {
	p := &pages{Rooms: rooms, shown: map[string]*template.Template{}, own: identity.OwnPages(rooms.PublicURL)}
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		panic(fmt.Errorf("read the pages' style: %w", err)) // a programming error
	}
	sum := sha256.Sum256(style)
	p.style = template.CSS(style)
	p.policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	for _, name := range []string{"board", "gpu", "compare", "result", "error", "signin", "start", "webhooks"} {
		p.shown[name] = template.Must(template.New("").Funcs(words()).ParseFS(files, "page/frame.html", "page/parts.html", "page/"+name+".html"))
	}
	mux.HandleFunc("GET /{$}", p.page(p.start))
	mux.HandleFunc("GET "+links.LeaderboardPath, p.page(p.board))
	mux.HandleFunc("GET "+links.GPUPath+"{gpu_slug}", p.page(p.gpu))
	mux.HandleFunc("GET "+links.ComparePath, p.page(p.compare))
	mux.HandleFunc("GET "+links.ResultPath+"{result_id}", p.page(p.result))
	mux.HandleFunc("GET "+webhook.ConsolePage, p.page(p.signedIn(p.webhooks)))
	mux.HandleFunc("POST "+webhook.ConsolePage, p.page(p.form(p.addEndpoint)))
	mux.HandleFunc("POST "+webhook.ConsolePage+"/{endpoint_id}/{action}", p.page(p.form(p.changeEndpoint)))
	mux.HandleFunc("POST "+webhook.ConsolePage+"/{endpoint_id}/deliveries/{delivery_id}", p.page(p.form(p.redeliver)))
	mux.HandleFunc("POST /console/sign-in", p.page(p.askForLink))
	mux.HandleFunc("POST /console/sign-out", p.page(p.signOut))
}

// view is what a page shows.
type view struct {
	Template string
	Title    string
	JSON     string // the path of the same for programs; "" = none
	Search   string // what the search field holds
	Content  any
	Start    bool   // the first page, which leads to all others
	Private  bool   // of a workspace, or on the way to it
	Email    string // of who is signed in
	Status   int    // 0 means 200
	Location string // where to go instead of seeing this
	Cookie   *http.Cookie
}

// framed is a view with what every page has.
type framed struct {
	view
	Style     template.CSS
	PublicURL string
}

// page writes a view, or the error instead of it.
func (p *pages) page(see func(r *http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := see(r)
		if err != nil {
			v = p.failed(w, r, err)
		}
		if v.Cookie != nil {
			http.SetCookie(w, v.Cookie)
		}
		if v.Location != "" {
			http.Redirect(w, r, v.Location, http.StatusSeeOther)
			return
		}
		var body bytes.Buffer
		if err := p.shown[v.Template].ExecuteTemplate(&body, "frame", framed{v, p.style, p.PublicURL}); err != nil {
			p.Log.Error("cannot write a page", "page", v.Template, "request_id", w.Header().Get(fault.RequestIDHeader), "error", err)
			fault.Respond(w, fault.New(fault.Internal, "The page could not be written."))
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", p.policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		if v.Private || v.Status != 0 {
			h.Set("Cache-Control", "no-store")
			w.WriteHeader(cmp.Or(v.Status, http.StatusOK))
			_, _ = w.Write(body.Bytes()) // a failed write means the caller is gone
			return
		}
		sum := sha256.Sum256(body.Bytes())
		tag := `"` + hex.EncodeToString(sum[:16]) + `"`
		h.Set("ETag", tag)
		h.Set("Cache-Control", "public, max-age=15")
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(body.Bytes())
	}
}

// failed is the page of an error.
func (p *pages) failed(w http.ResponseWriter, r *http.Request, err error) view {
	requestID := w.Header().Get(fault.RequestIDHeader)
	if fault.Of(err) == fault.Internal && !errors.Is(err, context.Canceled) {
		p.Log.Error("request failed", "request_id", requestID, "error", err)
	}
	status, told := fault.Envelope(err, requestID)
	title := http.StatusText(status)
	if status == http.StatusNotFound {
		title = "Not here"
	}
	return view{Template: "error", Title: title, Search: r.URL.Query().Get("q"), Content: told.Error, Status: status}
}
