package public

import (
	"html"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// exampleURL is the address of a service in the documents. The pages show this service's own,
// as its operator has configured it: what a request says of the host is anyone's word.
const exampleURL = "https://render.example.com"

// addressed puts this service's address in the place of the example's.
func (s *Site) addressed(text string) string {
	return strings.NewReplacer(exampleURL, s.Links.PublicURL, strings.TrimPrefix(exampleURL, "https://"), s.Links.Host()).Replace(text)
}

// guideKeyLife is how long a key works that a page of the guide has made: long enough to try
// what the page shows.
const guideKeyLife = 7 * 24 * time.Hour

// keyView is what a page says of the key in its commands.
type keyView struct {
	// Signed says that the reader is signed in, and Makes that they can make a key.
	Signed, Makes bool
	// Shown is the key of test mode that the commands show without its secret; nil for none.
	Shown *identity.Key
	// Made says that the commands contain a key that was made just now.
	Made bool
	// Problem is why none was made; nil when none was asked for.
	Problem *fault.Wire
}

// documentPage builds the page of a document for its reader. secret is a key of test mode that was
// made for it just now, "" for none.
func (s *Site) documentPage(r *http.Request, g guide, secret string, problem *fault.Wire) (page.Page, error) {
	p := guidePage("guide", g.Title, nil)
	who, known := s.Greet(r, &p)
	body := string(g.Body)
	v := guideView{g, keyView{Signed: known, Problem: problem}}
	if v.Keyed = g.Keyed && s.TestMode; v.Keyed && known {
		v.Key.Makes, v.Key.Made = who.RequireRole(identity.Owner) == nil, secret != ""
		key := secret
		if key == "" {
			var err error
			if v.Key.Shown, err = s.testKeyOf(r, who); err != nil {
				return page.Page{}, err
			}
			if v.Key.Shown != nil {
				key = v.Key.Shown.MaskedPrefix
			}
		}
		if key != "" {
			key = html.EscapeString(key)
			body = strings.NewReplacer(keyPlace+"svc_agent_test_…", keyPlace+key, keyPlace+"svc_agent_…", keyPlace+key).Replace(body)
		}
	}
	v.Body = template.HTML(s.addressed(body)) //nolint:gosec // the documents are ours, and the key is escaped
	p.Content = v
	return p, nil
}

// testKeyOf finds the newest key of test mode that works; nil for none. A key of real jobs is
// never shown.
func (s *Site) testKeyOf(r *http.Request, who identity.Principal) (*identity.Key, error) {
	var keys []identity.Key
	var now time.Time
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		now = tx.Time()
		keys, err = identity.AgentKeys(r.Context(), tx, who.WorkspaceID)
		return err
	})
	i := slices.IndexFunc(keys, func(k identity.Key) bool { return k.Test() && !k.Ended(now) })
	if err != nil || i < 0 {
		return nil, err
	}
	return &keys[i], nil
}

// makeGuideKey makes a key of test mode and answers with the page that has it in its commands.
// It does not redirect: the secret must not be in an address, or be shown twice.
func (s *Site) makeGuideKey(r *http.Request, who identity.Principal) (page.Page, error) {
	g, err := findGuide(r.PathValue("name"))
	if err != nil {
		return page.Page{}, err
	}
	if !g.Keyed || !s.TestMode {
		return page.Page{}, fault.New(fault.WrongMode, "This page shows no key of test mode.")
	}
	var made identity.NewKey
	err = s.DB.Write(r.Context(), func(tx *db.Tx) (err error) {
		terms := identity.AgentTerms{Name: "Guide: " + g.Title, Test: true, Life: guideKeyLife, MadeBy: who.Credential.PersonID}
		made, err = identity.CreateAgentKey(r.Context(), tx, who.WorkspaceID, terms)
		return err
	})
	status, problem := 0, (*fault.Wire)(nil)
	if err != nil {
		if status, problem = page.Refused(err); status >= http.StatusInternalServerError {
			return page.Page{}, err
		}
	}
	p, err := s.documentPage(r, g, made.Secret, problem)
	p.Status, p.NoScript = status, true
	return p, err
}
