package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
)

func TestProofPagesAreSwitchedInSettings(t *testing.T) {
	t.Parallel()
	p := personOf(t, worlds.On(t, "sqlite"), 0)
	p.open("/console/settings").want(t, http.StatusOK, p.Email, p.ID, "Hide the proof pages")
	p.submit("/console/settings/proof-pages", "show", "no").want(t, http.StatusOK, "Publish the proof pages")
	p.submit("/console/settings/proof-pages", "show", "yes").want(t, http.StatusOK, "Hide the proof pages")
}

// The theme that a person chooses holds on every page that is made for them, and changes no page
// that is kept for others.
func TestTheChosenThemeHoldsOnEveryPageOfItsBrowser(t *testing.T) {
	t.Parallel()
	p := personOf(t, worlds.On(t, "sqlite"), 0)
	tab, _ := browse(t)
	p.in(tab)
	err := chromedp.Do(tab, chromedp.Navigate(p.base+"/console/settings"), chromedp.SetValue(chromedp.CSS("[name=theme]"), "dark"), chromedp.Click(chromedp.CSS("form[action$='/theme'] button")), chromedp.WaitVisible(chromedp.CSS("[data-theme=dark] [name=theme]")))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/console", "/", "/guide", "/nowhere"} {
		if err := chromedp.Do(tab, chromedp.Navigate(p.base+path)); err != nil {
			t.Fatal(err)
		}
		if colour := look[string](tab, t, `getComputedStyle(document.documentElement).backgroundColor`); colour != "rgb(17, 17, 16)" {
			t.Errorf("%s is %s", path, colour)
		}
	}
	with := func(theme string) seen {
		return p.ask(http.MethodGet, "/", "", nil, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "svc_theme", Value: theme}) })
	}
	if page := with("dark"); !strings.Contains(page.header.Get("Cache-Control"), "private") {
		t.Errorf("a page of one theme is kept for all: %v", page.header)
	}
	if page := with("pink"); strings.Contains(page.text, "data-theme") || !strings.Contains(page.header.Get("Cache-Control"), "public") {
		t.Errorf("an unknown theme: %v", page.header)
	}
}

func TestAPersonSignsOutEverywhereElse(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 0)
		here := p.session
		elsewhere := *p
		err := w.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			token, err := identity.CreateSignInLink(t.Context(), tx, p.Email)
			if err != nil {
				return err
			}
			opened, err := identity.SignIn(t.Context(), tx, token, "")
			elsewhere.session = opened.Token
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		other := personOf(t, w, 0)
		p.session = here
		p.open("/console/settings").want(t, http.StatusOK, "Sign out everywhere else", "this one")
		elsewhere.open("/console").want(t, http.StatusOK)
		if got := p.submit("/console/settings/sessions").want(t, http.StatusOK, "signed out everywhere else"); strings.Contains(got.text, "Sign out everywhere else") {
			t.Error("there still is another session")
		}
		elsewhere.open("/console").want(t, http.StatusUnauthorized, "Sign in to see yours")
		other.open("/console").want(t, http.StatusOK)
	})
}

func TestAnExportHasAllThatAWorkspaceHasAndNoSecret(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p, other := personOf(t, w, 500), personOf(t, w, 500)
	var jobs []string
	for range 3 {
		priced := p.upload("demo.blend", demo.Scene())
		begun := p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance)
		jobs = append(jobs, strings.TrimPrefix(begun.path, "/console/jobs/"))
	}
	var got struct {
		WorkspaceID string `json:"workspace_id"`
		Emails      []string
		Wallet      map[string]int64
		AgentKeys   []map[string]any `json:"agent_keys"`
		Jobs        []struct {
			JobID string `json:"job_id"`
		}
		Ledger  []map[string]any
		Filters []map[string]any `json:"saved_filters"`
	}
	p.submit("/console/filters?q=hero&status=failed", "name", "Heroes").want(t, http.StatusOK)
	text := p.open("/console/settings/export").want(t, http.StatusOK).text
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got.WorkspaceID != p.ID || len(got.Emails) != 1 || got.Emails[0] != p.Email || len(got.AgentKeys) != 1 || len(got.Jobs) != 3 || got.Jobs[0].JobID != jobs[2] || len(got.Ledger) != 4 {
		t.Errorf("%+v", got)
	}
	if len(got.Filters) != 1 || got.Filters[0]["name"] != "Heroes" || got.Filters[0]["q"] != "hero" || got.Filters[0]["status"] != "failed" {
		t.Errorf("saved filters: %v", got.Filters)
	}
	for _, secret := range []string{p.Agent.Secret, p.Account.Secret, p.session, other.ID} {
		if strings.Contains(text, secret) {
			t.Errorf("it has %s", secret)
		}
	}
}

// A person leaves: only with the address typed, not while a job runs, and then for good.
func TestAPersonLeavesForGood(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 100)
	priced := p.upload("demo.blend", demo.Scene())
	begun := p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance)
	p.open("/console/settings").want(t, http.StatusOK, "is left in the wallet", "You cannot undo this.")
	p.submit("/console/settings/leave", "email", "somebody@example.com").want(t, http.StatusConflict, "Nothing was erased. Type "+p.Email)
	p.submit("/console/settings/leave", "email", p.Email).want(t, http.StatusConflict, "a job has not ended")
	p.submit(begun.path+"/cancel").want(t, http.StatusOK, "cancelled")
	setFrozen(t, w, p, true)
	p.submit("/console/settings/leave", "email", p.Email).want(t, http.StatusConflict, "This workspace is frozen")
	setFrozen(t, w, p, false)
	if got := p.submit("/console/settings/leave", "email", " "+strings.ToUpper(p.Email)).want(t, http.StatusOK); got.path != "/" {
		t.Errorf("it leads to %s", got.path)
	}
	p.open("/console").want(t, http.StatusUnauthorized)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/v1/wallet", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Account.Secret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("an account key of a former member: %d", res.StatusCode)
	}
}

// setFrozen freezes a person's workspace, or lifts that.
func setFrozen(t *testing.T, w *apptest.World, p *person, is bool) {
	t.Helper()
	err := w.App.DB.Write(t.Context(), func(tx *db.Tx) error {
		if is {
			return freeze.Set(t.Context(), tx, p.ID, "A payment is disputed.")
		}
		return freeze.Lift(t.Context(), tx, p.ID)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A workspace's name is shown as it is written, also one that looks like a page, and
// operators find it.
func TestAPersonNamesTheWorkspace(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 100)
	p.submit("/console/settings/name", "name", " Studio <b>Ö</b> ").want(t, http.StatusOK, "The workspace has its new name.", `value="Studio &lt;b&gt;Ö&lt;/b&gt;"`)
	operatorOf(t, w).open("/admin/workspaces/"+p.ID).want(t, http.StatusOK, "Studio &lt;b&gt;Ö&lt;/b&gt;")
	for _, bad := range []string{"", "  ", strings.Repeat("x", 81), "two\nlines", "\u202ebackwards"} {
		p.submit("/console/settings/name", "name", bad).want(t, http.StatusBadRequest, "1 to 80 characters")
	}
	(&person{t: t, base: w.URL}).submit("/console/settings/name", "name", "mine").want(t, http.StatusUnauthorized)
}
