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
	"svc.example/internal/ground/plaintext"
)

//go:embed template asset
var files embed.FS

// page is one page: its content, and the headers and rights that it needs.
type page struct {
	// Template is the name of a file in the folder template, without .html.
	Template string
	Title    string
	// Section is the navigation entry to highlight: one of the Section
	// constants.
	Section string
	// JSON is the path of the same content for programs; "" when there is none.
	JSON string
	// Search is what the search field contains.
	Search  string
	Content any
	// Card is what other sites show of the page where somebody shares it; nil for nothing.
	Card *card
	// Email is the address of the signed-in person; "" shows no sign-out
	// button.
	Email string
	// Operator says that this person operates the service: the navigation leads to
	// the operators' pages.
	Operator bool
	// Test says that the page shows a test world, and TestMode that there is one to switch
	// to.
	Test, TestMode bool
	// Private keeps the page out of every cache. It is set for the pages of a
	// workspace and for those that lead to a session.
	Private bool
	// Unlisted keeps the page out of search engines.
	Unlisted bool
	// Forms lets the page submit forms to this origin. Scripts are the files of
	// the folder asset that it runs, in order; where it has forms, they may call
	// this origin.
	Forms   bool
	Scripts []string
	// NoScript keeps the console's scripts off a page of a workspace.
	NoScript bool
	// FormsTo is another origin to which the answer to a form may send the browser
	// on; "" for none.
	FormsTo string
	// Reload says after how many seconds a browser without script reads the page
	// again; 0 never.
	Reload int

	// Status is the HTTP status; 0 means 200. A page with another status is not
	// cached.
	Status int
	// Location, when set, redirects the browser (303) and nothing is rendered.
	Location string
	Cookie   *http.Cookie

	// PublicURL is the service's base URL, for commands to copy; show sets it.
	PublicURL string
}

// Sections of the navigation.
const (
	leaderboardSection = "leaderboard"
	guideSection       = "guide"
	referenceSection   = "reference"
	jobsSection        = "jobs"
	newSection         = "new"
	walletSection      = "wallet"
	keysSection        = "keys"
	webhooksSection    = "webhooks"
	settingsSection    = "settings"
	adminSection       = "admin"
)

// templates holds the parsed templates of all pages by name, each with the
// layout and the shared parts. Parsing happens once, at the first page; a
// broken template panics, which the tests would see.
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

// write renders the page into memory first, so that a template that fails
// becomes an error page and not half a page. Names in it may come from files and
// workers: templates escape their markup, and plaintext what hides or turns text.
// The JSON in a page keeps its value, since the escapes are JSON's own.
func (p page) write() ([]byte, error) {
	var body bytes.Buffer
	if err := templates()[p.Template].ExecuteTemplate(&body, "layout", p); err != nil {
		return nil, fmt.Errorf("write the page %s: %w", p.Template, err)
	}
	return []byte(plaintext.Lines(body.String())), nil
}

// fragment renders a part of a page, for a script to put in its place.
func fragment(of, name string, content any) ([]byte, error) {
	var body bytes.Buffer
	if err := templates()[of].ExecuteTemplate(&body, name, content); err != nil {
		return nil, fmt.Errorf("write %s of the page %s: %w", name, of, err)
	}
	return []byte(plaintext.Lines(body.String())), nil
}

// page returns the handler of a page that build makes anew for each request.
func (s *Site) page(build func(r *http.Request) (page, error)) http.Handler {
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		p, err := build(r)
		if err != nil {
			return err
		}
		return s.show(w, r, p)
	})
}

// fixed returns the handler of a page that is the same for everybody: it is
// built and rendered once. The API reference is long enough for this to matter.
// Such a page has no PublicURL.
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

// show sends a page, or redirects the browser. The cookie is set in both cases,
// since signing out redirects.
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

// send writes a rendered page. A public page gets an ETag, and a browser that
// has the same version gets 304. Private pages and errors get none: nothing of
// them may be kept.
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
