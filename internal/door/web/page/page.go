// Package page has what all pages have in common: layout, styles, scripts, headers and
// policy, the error page, how figures are written, and how people are admitted.
//
// Start reading at Page and Base.Page. session.go admits people. header.go has the headers
// and the policy, asset.go the stylesheet and the scripts, error.go the error page, format.go
// how figures are written.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"strings"
	"sync"

	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/identity"
)

//go:embed template asset
var files embed.FS

// Shared holds what all groups of pages need. All fields but OpenIDStart are required.
type Shared struct {
	DB *db.DB
	// Test says that these are the pages of a test world, and TestMode that the service has
	// such worlds.
	Test, TestMode bool
	// OpenIDStart is the path where sign-in by an OpenID Connect issuer begins;
	// "" hides the button.
	OpenIDStart string
	Links       links.Links
	Errors      *front.Errors
	Log         *slog.Logger
}

// Base renders a group of pages and admits people to them. It is safe for concurrent use.
type Base struct {
	Shared
	set        Set
	sameOrigin *http.CrossOriginProtection
}

// NewBase makes the base of the group of pages that set has. Forms are accepted from the
// origin of c.Links.PublicURL.
func NewBase(c Shared, set Set) *Base {
	return &Base{Shared: c, set: set, sameOrigin: identity.SameOrigin(c.Links.PublicURL)}
}

// Page is one page: its content, and the headers and rights that it needs.
type Page struct {
	// Template is the name of a file in the folder template, without .html.
	Template string
	Title    string
	// Section is the navigation entry to highlight: one of the Section
	// constants.
	Section string
	// JSON is the path of the same content for programs; "" when there is none.
	JSON string
	// Search is what the search field contains.
	Search string
	// SearchIndex is the path of the file by which a script searches the guide; "" for
	// other pages.
	SearchIndex string
	Content     any
	// Card is what other sites show of the page when it is shared; nil for nothing.
	Card *Card
	// Email is the address of the signed-in person; "" shows no sign-out
	// button.
	Email string
	// Role is what this person may do in the workspace.
	Role identity.Role
	// Workspaces are those of this person, to switch between; empty for a single one.
	Workspaces []identity.Membership
	// WorkspaceID is the one that the page shows.
	WorkspaceID string
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
	// Sheet is the asset with the styles of this page alone; "" for none.
	Sheet string
	// NoScript keeps the console's scripts off a page of a workspace.
	NoScript bool
	// FormsTo is another origin to which the answer to a form may send the browser
	// on; "" for none.
	FormsTo string
	// Reload says after how many seconds a browser without script reads the page again; 0
	// never. A browser that runs scripts reads such a page again every few seconds, so
	// that it is right even if its stream loses something.
	Reload int

	// Status is the HTTP status; 0 means 200. A page with another status is not
	// cached.
	Status int
	// Location, when set, redirects the browser (303) and nothing is rendered.
	Location string
	Cookie   *http.Cookie

	// Theme is the theme that the reader has chosen; "" for the system's. show sets it.
	Theme string
	// PublicURL is the service's base URL, for commands to copy; show sets it.
	PublicURL string
	// Reread is the address that scripts read again; "" for none. show sets it.
	Reread string
}

// Renders reports whether the person may render in the workspace.
func (p Page) Renders() bool { return p.Role.Includes(identity.Member) }

// Owns reports whether the person may do everything in the workspace.
func (p Page) Owns() bool { return p.Role.Includes(identity.Owner) }

// Paths by which groups of pages lead to each other.
const (
	ConsolePath = "/console"
	GuidePath   = links.GuidePath
	AdminPath   = "/admin"
)

// Sections of the navigation.
const (
	LeaderboardSection = "leaderboard"
	GuideSection       = "guide"
	ReferenceSection   = "reference"
	JobsSection        = "jobs"
	NewSection         = "new"
	WalletSection      = "wallet"
	KeysSection        = "keys"
	WebhooksSection    = "webhooks"
	SettingsSection    = "settings"
	AdminSection       = "admin"
)

// Set is the templates of a group of pages, with the layout and the shared parts. It is
// parsed once, at its first page; a broken template panics, which the tests would see.
type Set func() map[string]*template.Template

// Templates makes a set of the files below template in own, and of the pages that every group
// has: errors and signing in. funcs are what its templates call in addition to the shared
// functions.
func Templates(own fs.FS, funcs template.FuncMap) Set {
	return sync.OnceValue(func() map[string]*template.Template {
		all := templateFuncs()
		all["asset"], all["lower"] = assetPath, strings.ToLower
		maps.Copy(all, funcs)
		shared := template.Must(template.New("").Funcs(all).ParseFS(files, "template/layout.html", "template/shared.html"))
		set := map[string]*template.Template{}
		for _, from := range []fs.FS{files, own} {
			names, err := fs.Glob(from, "template/*.html")
			if err != nil {
				panic(err) // a programming error
			}
			for _, name := range names {
				set[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(template.Must(shared.Clone()).ParseFS(from, name))
			}
		}
		return set
	})
}

// Fragment renders a part of a page, such as for a script to put in its place.
func (set Set) Fragment(of, name string, content any) ([]byte, error) {
	var body bytes.Buffer
	if err := set()[of].ExecuteTemplate(&body, name, content); err != nil {
		return nil, fmt.Errorf("write %s of the page %s: %w", name, of, err)
	}
	return []byte(plaintext.Lines(body.String())), nil
}

// Write renders the page into memory first, so that a template that fails
// becomes an error page and not half a page. Names in it may come from files and
// workers: templates escape their markup, and plaintext what hides or turns text.
// The JSON in a page keeps its value, since the escapes are JSON's own.
func (set Set) Write(p Page) ([]byte, error) { return set.Fragment(p.Template, "layout", p) }

// Page returns the handler of a page that build makes for each request.
func (s *Base) Page(build func(r *http.Request) (Page, error)) http.Handler {
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		p, err := build(r)
		if err != nil {
			return err
		}
		return s.Show(w, r, p)
	})
}

// Fixed returns the handler of a page that is the same for everyone: it is
// built and rendered once. The API reference is long enough for this to matter.
// Such a page has no PublicURL.
func (s *Base) Fixed(build func() (Page, error)) http.Handler {
	type written struct {
		Page
		body []byte
	}
	once := sync.OnceValues(func() (written, error) {
		p, err := build()
		if err != nil {
			return written{}, err
		}
		body, err := s.set.Write(p)
		return written{p, body}, err
	})
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		p, err := once()
		if err != nil {
			return err
		}
		send(w, r, p.Page, p.body)
		return nil
	})
}

// Show sends a page, or redirects the browser. The cookie is set in both cases,
// since signing out redirects.
func (s *Base) Show(w http.ResponseWriter, r *http.Request, p Page) error {
	if p.Cookie != nil {
		http.SetCookie(w, p.Cookie)
	}
	if p.Location != "" {
		http.Redirect(w, r, p.Location, http.StatusSeeOther)
		return nil
	}
	p.PublicURL, p.Theme = s.Links.PublicURL, ThemeOf(r)
	if p.Reload > 0 && len(p.Scripts) > 0 && r.Method == http.MethodGet { // the answer to a form has no address to read again
		p.Reread = r.URL.RequestURI()
	}
	body, err := s.set.Write(p)
	if err != nil {
		return err
	}
	send(w, r, p, body)
	return nil
}

// send writes a rendered page with its ETag; a browser or script that has the same
// version gets 304. Nothing of private pages may be kept: only the script of an open
// page knows their tag. Errors have none.
func send(w http.ResponseWriter, r *http.Request, p Page, body []byte) {
	h := w.Header()
	SetHeaders(h, p)
	if p.Status != 0 {
		w.WriteHeader(p.Status)
		_, _ = w.Write(body) // a failed write means the browser is gone
		return
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	// Next to words of a stranger, the size of a compressed page reveals what else it shows.
	// So another site must not be able to have a page of a workspace compressed. It can open one
	// with its words in the address, and some pages read themselves again.
	rereads := p.Reload > 0 && r.URL.RawQuery != ""
	zips := (!p.Private || front.OwnRequest(r) && !rereads) && front.Zips(r, body)
	if zips {
		tag = `"` + hex.EncodeToString(sum[:16]) + `-gzip"` // other bytes need another strong tag
	}
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if zips {
		front.WriteText(w, r, body)
		return
	}
	if !p.Private {
		h.Add("Vary", "Accept-Encoding")
	}
	_, _ = w.Write(body) // a failed write means the browser is gone
}

// Card is what other sites show of a shared page.
type Card struct {
	Title, Text, URL string
	Picture          string // its address
}

// Tab is a choice of what a page shows.
type Tab struct {
	Name, Path string
	Here       bool
}

// CutQuery bounds a search text to 200 bytes, the limit of the API's search. A
// longer text would find nothing more.
func CutQuery(text string) string {
	const longest = 200
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "")
	}
	return text
}
