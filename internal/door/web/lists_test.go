package web_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/operator"
)

// follow opens what a link of a page's list leads to; false where there is no such link.
func (p *person) follow(at seen, link string) (seen, bool) {
	p.t.Helper()
	m := regexp.MustCompile(`rel="` + link + `" href="([^"]*)"`).FindStringSubmatch(at.text)
	if m == nil {
		return seen{}, false
	}
	return p.open(html.UnescapeString(m[1])).want(p.t, http.StatusOK), true
}

// pagesOf walks a list to its end by Older, and back by Newer, and returns what the links to its
// items lead to, page by page. Each page on the way back has what it had on the way there; before
// it, the newest has what other tests have added meanwhile to a list of the whole service.
func (p *person) pagesOf(path, item string) (there [][]string) {
	p.t.Helper()
	items := func(s seen) (all []string) {
		for _, m := range regexp.MustCompile(item).FindAllString(s.text, -1) {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
		return all
	}
	at := p.open(path).want(p.t, http.StatusOK)
	there = append(there, items(at))
	for next, is := p.follow(at, "next"); is; next, is = p.follow(at, "next") {
		at = next
		there = append(there, items(at))
	}
	for i := len(there) - 2; i >= 0; i-- {
		back, is := p.follow(at, "prev")
		at = back
		now, had := items(at), there[i]
		if i == 0 {
			now = slices.DeleteFunc(now, func(item string) bool { return !slices.Contains(had, item) })
			had = had[:min(len(now), len(had))]
		}
		if !is || len(now) == 0 && len(there[i]) > 0 || !slices.Equal(now, had) {
			p.t.Fatalf("%s: page %d has %q on the way back, and had %q", path, i, now, there[i])
		}
	}
	return there
}

// wantPages wants pages that together have so many items, none of them twice, and more pages than one.
func wantPages(t *testing.T, path string, pages [][]string, items, atLeast int) {
	t.Helper()
	all := slices.Concat(pages...)
	slices.Sort(all)
	if distinct := len(slices.Compact(slices.Clone(all))); distinct != len(all) || len(pages) < atLeast || (items > 0 && len(all) != items) {
		t.Errorf("%s: %d pages with %d items, %d of them distinct; want %d", path, len(pages), len(all), distinct, items)
	}
}

// TestListsLeadToOlderAndToNewerPages: with each filter of a list, and without script.
func TestListsLeadToOlderAndToNewerPages(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		const jobs, made = 52, 105
		p, boss := personOf(t, w, 1000), operatorOf(t, w)
		priced := p.upload("demo.blend", demo.Scene())
		for i := range jobs {
			quoted := p.submit(priced.path+"/frames", "frames", fmt.Sprint(1+i%4))
			tag := []string{"even", "odd"}[i%2]
			p.submit(priced.path+"/start", "quote_id", quoted.hidden(t, "quote_id"), "terms", contract.LegalAcceptance, "tags", tag).want(t, http.StatusOK)
		}
		job, workspace := `id="JOB-[0-9a-f]{32}`, `/admin/workspaces/WSP-[0-9a-f]{32}`
		for path, want := range map[string]struct{ items, pages int }{
			"/console": {jobs, 3}, "/console?status=queued": {jobs, 3}, "/console?status=queued&tag=odd": {jobs / 2, 2}, "/console?q=demo": {jobs, 3},
		} {
			wantPages(t, path, p.pagesOf(path, job), want.items, want.pages)
		}
		wantPages(t, "admin", boss.pagesOf("/admin/jobs?status=queued&q="+p.ID, `/admin/jobs/JOB-[0-9a-f]{32}`), jobs, 2)

		rich := w.Workspace(t, 0)
		for i := range made {
			w.Workspace(t, 0)
			credited(t, w, rich.ID, fmt.Sprintf("%s-%d", rich.ID, i), int64(100+i))
		}
		wantPages(t, "workspaces", boss.pagesOf("/admin/workspaces", workspace), 0, 3)
		wantPages(t, "acts", boss.pagesOf("/admin/acts", `add \$[0-9.]+ to the wallet of `+rich.ID+`, which has \$[0-9.]+`), 0, 3)
		owner := signIn(t, w, rich)
		if ledger := owner.pagesOf("/console/wallet?month=2026-01", `<td class="n wide">\$[0-9.]+</td></tr>`); len(ledger) != 3 || len(ledger[0]) != 50 || len(ledger[2]) != made-100 {
			t.Errorf("the ledger has the pages %q", ledger)
		}
		older, _ := owner.follow(owner.open("/console/wallet?month=2026-01"), "next")
		if !strings.Contains(older.path, "month=2026-01") {
			t.Errorf("the month is forgotten at %s", older.path)
		}
		last, _ := owner.follow(older, "next")
		last.want(t, http.StatusOK, "Newest entries")
		// An address that was kept shows the newest page from an entry that was never there.
		owner.open("/console/wallet?before="+id.Behind(id.Transaction)).want(t, http.StatusOK, `href="/console/wallet">Newer entries`)
	})
}

// credited has an operator add to a wallet, which is an act and an entry.
func credited(t *testing.T, w *apptest.World, workspaceID, reference string, cents int64) {
	t.Helper()
	err := w.App.DB.Write(t.Context(), func(tx *db.Tx) error {
		act, err := operator.Credit(t.Context(), tx, workspaceID, reference, cents)
		if err != nil {
			return err
		}
		return act.Perform(t.Context(), tx, operator.Account("root"))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The list of jobs is a table or cards, as the person has chosen in this browser, and names what
// an upload of this browser did not finish.
func TestTheListOfJobsIsATableOrCardsByChoice(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 100)
		get := func(path string, cookies ...string) (*http.Response, string) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range p.cookies() {
				r.AddCookie(&http.Cookie{Name: name, Value: value})
			}
			r.Header.Add("Cookie", strings.Join(cookies, "; "))
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return res, string(text)
		}
		if _, text := get("/console", "svc_upload=robot%20%3Cb%3E.blend"); !strings.Contains(text, "robot &lt;b&gt;.blend</a> <small>The upload was interrupted.") {
			t.Errorf("the first page says %s", text)
		}
		priced := p.upload("demo.blend", demo.Scene())
		p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).want(t, http.StatusOK)
		if _, text := get("/console"); strings.Contains(text, `class="cards"`) || !strings.Contains(text, `<a href="/console?layout=cards">Cards</a>`) {
			t.Errorf("without a choice the list is %s", text)
		}
		chosen, _ := get("/console?status=queued&layout=cards")
		if to := chosen.Header.Get("Location"); to != "/console?status=queued" || len(chosen.Cookies()) != 1 {
			t.Fatalf("the choice leads to %s with %v", to, chosen.Cookies())
		}
		kept := chosen.Cookies()[0]
		if _, text := get("/console", kept.Name+"="+kept.Value); !strings.Contains(text, `<div class="cards"><div id="jobs">`) || !strings.Contains(text, "cards.") {
			t.Errorf("after the choice the list is %s", text)
		}
		if undone, _ := get("/console?layout="); len(undone.Cookies()) != 1 || undone.Cookies()[0].MaxAge >= 0 {
			t.Errorf("the table sets %v", undone.Cookies())
		}
	})
}
