package web_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
)

// secretKey finds the secret of an agent key of either mode; a masked one is shorter.
var secretKey = regexp.MustCompile(`svc_agent_(?:test_)?[A-Za-z0-9_-]{20,}`)

func TestTheGuideShowsItsOwnAddressWhateverTheRequestSays(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := &person{t: t, base: w.URL}
	for _, path := range []string{"/guide/build", "/guide/install", "/guide/build.md", "/guide/first-render"} {
		page := p.ask(http.MethodGet, path, "", nil, func(r *http.Request) {
			r.Host = "evil.example.net"
			r.Header.Set("X-Forwarded-Host", "evil.example.net")
		})
		page.want(t, http.StatusOK, w.URL)
		if strings.Contains(page.text, "render.example.com") || strings.Contains(page.text, "evil") {
			t.Errorf("%s names another service", path)
		}
	}
}

func TestTheGuideFillsInTheReadersTestKeyAndNoOther(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		owner := personOf(t, w, 0)
		viewer, member := joins(t, w, owner, identity.Viewer), joins(t, w, owner, identity.Member)
		const path = "/guide/test-mode"
		(&person{t: t, base: w.URL}).open(path).want(t, http.StatusOK, "Sign in</a> to see your own test key", "svc_agent_test_…")
		owner.submit("/console/keys", "name", "live").want(t, http.StatusOK, "shown only once")
		if page := owner.open(path).want(t, http.StatusOK, "You have no test key yet", "Make a test key", "svc_agent_test_…"); page.header.Get("Cache-Control") != "no-store" {
			t.Errorf("a page of one reader is kept: %v", page.header)
		}
		for _, p := range []*person{viewer, member} {
			if page := p.open(path).want(t, http.StatusOK, "Its owners can make one"); strings.Contains(page.text, `action="`+path) {
				t.Error("a role that can make no key is offered one")
			}
			p.submit(path).want(t, http.StatusForbidden)
		}
		(&person{t: t, base: w.URL}).submit(path).want(t, http.StatusUnauthorized)
		owner.ask(http.MethodPost, path, "application/x-www-form-urlencoded", http.NoBody, func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example.net")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}).want(t, http.StatusForbidden)

		made := owner.submit(path).want(t, http.StatusOK, "on this page only")
		key := secretKey.FindString(made.text)
		if !strings.HasPrefix(key, "svc_agent_test_") || made.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("the page has the key %q, %v", key, made.header)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/node/v1/shares", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(r)
		if err != nil || errClose(t, res) != http.StatusOK {
			t.Errorf("the key opens nothing: %v, %v", res, err)
		}
		for _, p := range []*person{owner, viewer} {
			page := p.open(path).want(t, http.StatusOK, key[:len("svc_agent_test_")+8]+"…", "the beginning of your test key")
			if found := secretKey.FindString(page.text); found != "" {
				t.Errorf("a later page has a secret: %s", found)
			}
		}
		// Pages about a service of one's own keep their places.
		owner.open("/guide/install").want(t, http.StatusOK, "svc_agent_…")
		owner.submit("/guide/install").want(t, http.StatusConflict)
	})
}

// TestTheGuideShowsOneLanguageOfAStepAndRemembersIt chooses one on a page, and opens another.
func TestTheGuideShowsOneLanguageOfAStepAndRemembersIt(t *testing.T) {
	t.Parallel()
	base := worlds.On(t, "sqlite").URL
	tab, complaints := browse(t)
	shown := `[...document.querySelectorAll(".variants figure")].filter(f => f.checkVisibility()).map(f => f.dataset.tab).join(" ")`
	err := chromedp.Do(tab, chromedp.Navigate(base+"/guide/build"), chromedp.WaitVisible(chromedp.CSS("[role=tab]")))
	if err != nil {
		t.Fatal(err)
	}
	if got := look[string](tab, t, shown); got != "CLI" {
		t.Errorf("a new reader sees %q", got)
	}
	loadAxe(tab, t)
	for _, v := range axeFinds(tab, t, everyRule, 10, everyImpact) {
		t.Error(v)
	}
	look[any](tab, t, `document.querySelector("[role=tab][aria-selected=true]").focus();undefined`)
	err = chromedp.Do(tab, chromedp.KeyEvent(kb.ArrowRight))
	if err != nil {
		t.Fatal(err)
	}
	if got := look[string](tab, t, shown+` + " " + document.activeElement.textContent`); got != "Python Python" {
		t.Errorf("after an arrow: %q", got)
	}
	if err := chromedp.Do(tab, chromedp.Navigate(base+"/guide/movies"), chromedp.WaitVisible(chromedp.CSS("[role=tab]"))); err != nil {
		t.Fatal(err)
	}
	if got := look[string](tab, t, shown); got != "Python" {
		t.Errorf("the next page shows %q", got)
	}
	if said := complaints(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// TestTheGuideWithoutScriptShowsEveryLanguage reads the page as it is sent.
func TestTheGuideWithoutScriptShowsEveryLanguage(t *testing.T) {
	t.Parallel()
	page := (&person{t: t, base: worlds.On(t, "sqlite").URL}).open("/guide/build").want(t, http.StatusOK)
	names := []string{}
	for _, m := range regexp.MustCompile(`<figure class="code" data-tab="(\w+)"><figcaption>(\w+)</figcaption><pre>`).FindAllStringSubmatch(page.text, -1) {
		names = append(names, m[2])
	}
	if !slices.Equal(names, []string{"CLI", "Python", "TypeScript", "curl"}) || strings.Contains(page.text, `type="button"`) {
		t.Errorf("the page shows %v", names)
	}
	if csp := page.header.Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'self'") || strings.Contains(csp, "unsafe") {
		t.Errorf("policy %s", csp)
	}
}

// TestTheIndexOfTheGuideIsSmallAndKept loads it as a browser does.
func TestTheIndexOfTheGuideIsSmallAndKept(t *testing.T) {
	t.Parallel()
	p := &person{t: t, base: worlds.On(t, "sqlite").URL}
	named := regexp.MustCompile(`data-index="(/guide/search/guide\.[0-9a-f]{16}\.json)"`).FindStringSubmatch(p.open("/guide").text)
	if named == nil {
		t.Fatal("the guide names no index")
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+named[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	zipped, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(zipped) > 60_000 || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%d bytes, %s", len(zipped), res.Header.Get("Cache-Control"))
	}
	t.Logf("the index of the guide has %d bytes, compressed", len(zipped))
	text, err := gzip.NewReader(strings.NewReader(string(zipped)))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Pages []struct{ N string } }
	if err := json.NewDecoder(text).Decode(&index); err != nil || len(index.Pages) < 90 {
		t.Errorf("%d pages, %v", len(index.Pages), err)
	}
	p.open("/guide/search/guide.0000000000000000.json").want(t, http.StatusNotFound)
}

// TestASearchOfTheGuideFindsTheSameWithAndWithoutScript asks as readers do: a title comes
// before a heading, and that before text.
func TestASearchOfTheGuideFindsTheSameWithAndWithoutScript(t *testing.T) {
	t.Parallel()
	p := &person{t: t, base: worlds.On(t, "sqlite").URL}
	tab, complaints := browse(t)
	if err := chromedp.Do(tab, chromedp.Navigate(p.base+"/guide/price"), chromedp.KeyEvent("/"), chromedp.WaitVisible(chromedp.CSS(".guide-search input:focus"))); err != nil {
		t.Fatal(err)
	}
	hit := regexp.MustCompile(`<li><a href="([^"]*)">`)
	for query, first := range map[string]string{
		"webhook": "/guide/webhooks", "verify": "/guide/verify", "insufficient_funds": "", "refund": "/guide/refunds", "get svc": "/guide/get-svc", "postgresql": "",
		"dead letters": "/guide/observe#dead-letters", "texture missing": "", "kubern": "/guide/kubernetes", "price frame": "/guide/price", "xyzzy": "", "which key": "", "a": "",
	} {
		page := p.open("/guide/search?q="+strings.ReplaceAll(query, " ", "+")).want(t, http.StatusOK)
		var want []string
		for _, m := range hit.FindAllStringSubmatch(page.text, -1) {
			want = append(want, m[1])
		}
		if len(want) > 0 && first != "" && want[0] != first {
			t.Errorf("%q finds %v first, want %s", query, want[:min(3, len(want))], first)
		}
		if (len(want) == 0) != (query == "xyzzy" || query == "a") {
			t.Errorf("%q finds %d pages", query, len(want))
		}
		got, err := chromedp.Run(tab, chromedp.Evaluate[string](`(async () => JSON.stringify(search(await load(), "`+query+`").map(h => h.path)))()`, func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }))
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		if err := json.Unmarshal([]byte(got), &paths); err != nil || !slices.Equal(paths, want) && len(paths)+len(want) > 0 {
			t.Errorf("%q with a script: %v, without: %v", query, paths, want)
		}
	}
	err := chromedp.Do(tab, chromedp.SendKeys(chromedp.CSS(".guide-search input"), "webhook"), chromedp.WaitVisible(chromedp.CSS(".hits-box li a")))
	if err != nil {
		t.Fatal(err)
	}
	loadAxe(tab, t)
	for _, v := range axeFinds(tab, t, everyRule, 10, everyImpact) {
		t.Error(v)
	}
	if err := chromedp.Do(tab, chromedp.KeyEvent(kb.ArrowDown)); err != nil {
		t.Fatal(err)
	}
	if got := look[string](tab, t, `document.activeElement.getAttribute("href") + " " + document.querySelector(".hits-box mark").textContent.toLowerCase()`); got != "/guide/webhooks webhook" {
		t.Errorf("an arrow leads to %s", got)
	}
	if said := complaints(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}
