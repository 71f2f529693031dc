package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"svc.example/internal/door/web/reference"
	"svc.example/internal/ground/fault"
)

//go:embed template asset
var files embed.FS

// page is one page: what it shows, and what it needs.
type page struct {
	Template string
	Title    string
	Section  string // the entry of the navigation that it belongs to
	JSON     string // the path of the same for programs; "" = none
	Search   string // what the search field holds
	Content  any
	Email    string // of who is signed in
	Private  bool   // of a workspace, or on the way to it: kept by no cache
	Unlisted bool   // search engines leave it out
	Forms    bool   // it may send forms
	Scripts  bool   // it may run scripts from /assets/

	Status   int    // 0 means 200
	Location string // where to go instead of seeing this
	Cookie   *http.Cookie

	PublicURL string // set by show
}

// Sections of the navigation.
const (
	leaderboardSection = "leaderboard"
	webhooksSection    = "webhooks"
	referenceSection   = "reference"
)

// templates are the templates of all pages, each in the layout, by name.
var templates = sync.OnceValue(func() map[string]*template.Template {
	names, err := fs.Glob(files, "template/*.html")
	if err != nil {
		panic(err) // a programming error
	}
	words := words()
	words["asset"], words["prose"], words["lower"] = assetPath, reference.Prose, strings.ToLower
	shared := template.Must(template.New("").Funcs(words).ParseFS(files, "template/layout.html", "template/parts.html"))
	all := map[string]*template.Template{}
	for _, name := range names {
		all[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(template.Must(shared.Clone()).ParseFS(files, name))
	}
	return all
})

// write renders the page.
func (p page) write() ([]byte, error) {
	var body bytes.Buffer
	if err := templates()[p.Template].ExecuteTemplate(&body, "layout", p); err != nil {
		return nil, fmt.Errorf("write the page %s: %w", p.Template, err)
	}
	return body.Bytes(), nil
}

// page makes a handler of what builds a page; an error becomes the error page.
func (s *Site) page(build func(r *http.Request) (page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := build(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.show(w, r, p)
	}
}

// fixed is page for one that is the same for everybody: it is built once.
func (s *Site) fixed(build func() (page, error)) http.HandlerFunc {
	type written struct {
		page
		body []byte
	}
	once := sync.OnceValues(func() (written, error) {
		p, err := build()
		if err != nil {
			return written{}, err
		}
		body, err := p.write()
		return written{p, body}, err
	})
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := once()
		if err != nil {
			s.fail(w, r, err)
			return
		}
		send(w, r, p.page, p.body)
	}
}

// show answers with a page, or sends the browser on.
func (s *Site) show(w http.ResponseWriter, r *http.Request, p page) {
	if p.Cookie != nil {
		http.SetCookie(w, p.Cookie)
	}
	if p.Location != "" {
		http.Redirect(w, r, p.Location, http.StatusSeeOther)
		return
	}
	p.PublicURL = s.Links.PublicURL
	body, err := p.write()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	send(w, r, p, body)
}

// send writes the answer. A public page that the browser has is not sent again.
func send(w http.ResponseWriter, r *http.Request, p page, body []byte) {
	h := w.Header()
	setHeaders(h, p)
	if p.Private || p.Status != 0 {
		w.WriteHeader(cmp.Or(p.Status, http.StatusOK))
		_, _ = w.Write(body) // a failed write means the browser is gone
		return
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(body)
}

// fail answers with the error, as a page to browsers and as JSON to the rest, and
// logs what the caller is not told.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error) {
	requestID := w.Header().Get(fault.RequestIDHeader)
	if fault.Of(err) == fault.Internal && !errors.Is(err, context.Canceled) {
		s.Log.Error("request failed", "request_id", requestID, "error", err)
	}
	if !wantsPage(r) {
		fault.Respond(w, err)
		return
	}
	status, body := fault.Envelope(err, requestID)
	fault.Headers(w.Header(), err)
	ErrorPage(w, r, status, body)
}

// wantsPage reports whether a request is a browser's, for a page.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }
