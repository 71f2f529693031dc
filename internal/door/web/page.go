package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"svc.example/internal/door/web/reference"
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
	funcs := templateFuncs()
	funcs["asset"], funcs["prose"], funcs["lower"] = assetPath, reference.Prose, strings.ToLower
	shared := template.Must(template.New("").Funcs(funcs).ParseFS(files, "template/layout.html", "template/shared.html"))
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

// page makes a handler of what builds a page.
func (s *Site) page(build func(r *http.Request) (page, error)) http.Handler {
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		p, err := build(r)
		if err != nil {
			return err
		}
		return s.show(w, r, p)
	})
}

// fixed is page for one that is the same for everybody: it is built once.
func (s *Site) fixed(build func() (page, error)) http.Handler {
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
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		p, err := once()
		if err != nil {
			return err
		}
		send(w, r, p.page, p.body)
		return nil
	})
}

// show answers with a page, or sends the browser on.
func (s *Site) show(w http.ResponseWriter, r *http.Request, p page) error {
	if p.Cookie != nil {
		http.SetCookie(w, p.Cookie)
	}
	if p.Location != "" {
		http.Redirect(w, r, p.Location, http.StatusSeeOther)
		return nil
	}
	p.PublicURL = s.Links.PublicURL
	body, err := p.write()
	if err != nil {
		return err
	}
	send(w, r, p, body)
	return nil
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
