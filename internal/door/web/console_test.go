package web_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/docs"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
)

// person is a person with a browser that runs no script.
type person struct {
	t       *testing.T
	base    string
	session string
	test    bool // their browser is in test mode
	apptest.Workspace
}

// personOf signs a new person in, whose wallet has so many cents.
func personOf(t *testing.T, w *apptest.World, cents int64) *person {
	t.Helper()
	return signIn(t, w, w.Workspace(t, cents))
}

// signIn gives the person of a workspace a session.
func signIn(t *testing.T, w *apptest.World, of apptest.Workspace) *person {
	t.Helper()
	p := &person{t: t, base: w.URL, Workspace: of}
	err := w.App.DB.Write(t.Context(), func(tx *db.Tx) error {
		token, err := identity.CreateSignInLink(t.Context(), tx, p.Email)
		if err != nil {
			return err
		}
		opened, err := identity.SignIn(t.Context(), tx, token, "")
		p.session = opened.Token
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// seen is what a browser shows in the end.
type seen struct {
	status     int
	path, text string
	header     http.Header
}

// cookies are those that their browser has.
func (p *person) cookies() map[string]string {
	all := map[string]string{}
	if p.session != "" {
		all[contract.SessionCookie] = p.session
	}
	if p.test {
		all[contract.ModeCookie] = contract.ModeTest
	}
	return all
}

// ask sends a request as a browser does, and follows where the answer leads.
func (p *person) ask(method, path, kind string, body io.Reader, change ...func(*http.Request)) seen {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	if method == http.MethodPost {
		r.Header.Set("Origin", p.base)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Content-Type", kind)
	}
	for _, c := range change {
		c(r)
	}
	known := func(r *http.Request) {
		for name, value := range p.cookies() {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
	}
	known(r)
	browser := &http.Client{CheckRedirect: func(next *http.Request, _ []*http.Request) error {
		if next.Header.Get("Cookie") == "" {
			known(next)
		}
		return nil
	}}
	res, err := browser.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return seen{res.StatusCode, res.Request.URL.RequestURI(), string(text), res.Header}
}

func (p *person) open(path string) seen {
	p.t.Helper()
	return p.ask(http.MethodGet, path, "", nil)
}

// submit sends a form of a page.
func (p *person) submit(path string, fields ...string) seen {
	p.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		if fields[i] != "job" { // jobs are selected; of others the last one counts
			form.Del(fields[i])
		}
		form.Add(fields[i], fields[i+1])
	}
	return p.ask(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// upload sends a file by the form of New render.
func (p *person) upload(name string, content []byte, change ...func(*http.Request)) seen {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return p.ask(http.MethodPost, "/console/new", form.FormDataContentType(), &body, change...)
}

func (s seen) want(t *testing.T, status int, texts ...string) seen {
	t.Helper()
	if s.status != status {
		t.Errorf("%s: status %d, want %d: %s", s.path, s.status, status, s.text)
	}
	for _, want := range texts {
		if !strings.Contains(s.text, want) {
			t.Errorf("%s does not say %q: %s", s.path, want, s.text)
		}
	}
	return s
}

// hidden is the value of a hidden field of a form.
func (s seen) hidden(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(s.text)
	if m == nil {
		t.Fatalf("%s has no field %s: %s", s.path, name, s.text)
	}
	return m[1]
}

func TestAPersonWithoutScriptGetsFromAFileToAJob(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 500)
		p.open("/console").want(t, http.StatusOK, "No jobs yet", `href="/console/new"`)
		p.open("/console/new").want(t, http.StatusOK, `enctype="multipart/form-data"`)
		priced := p.upload("demo.blend", demo.Scene()).want(t, http.StatusOK, "demo.blend", "Before you pay", "In your wallet", "$5.00")
		if !strings.HasPrefix(priced.path, "/console/uploads/UPL-") {
			t.Fatalf("the upload leads to %s", priced.path)
		}
		priced = p.submit(priced.path+"/frames", "frames", "1-3,7").want(t, http.StatusOK, "Render 4 frames for $0.04", "locked until")
		if strings.Contains(priced.text, `name="reuse"`) {
			t.Error("frames of earlier jobs are offered where there are none")
		}
		reused := p.submit(priced.path+"/frames", "frames", "1-3,7", "reuse", "yes").want(t, http.StatusOK, "0 of 4 frames unchanged", `value="yes" checked`, "Render 4 frames for $0.04")
		priced = p.submit(reused.path+"/frames", "frames", "1-3,7").want(t, http.StatusOK, "Render 4 frames for $0.04")
		p.submit(priced.path+"/frames", "frames", "one to three").want(t, http.StatusBadRequest, `role="alert"`, `value="one to three"`, "disabled>Render</button>")
		quoteID := priced.hidden(t, "quote_id")
		p.open("/console").want(t, http.StatusOK, "No jobs yet", "Not started", `<a href="`+priced.path+`">demo.blend</a> 4 frames for $0.04 <small>24 h left`)
		p.submit(priced.path+"/start", "quote_id", quoteID).want(t, http.StatusBadRequest, "Accept the terms")
		begun := p.submit(priced.path+"/start", "quote_id", quoteID, "terms", contract.LegalAcceptance).want(t, http.StatusOK, "queued", "0 of 4 frames", "$0.04, reserved", "no machine is online", "Cancel and release $0.04")
		if again := p.submit(priced.path+"/start", "quote_id", quoteID, "terms", contract.LegalAcceptance); again.path != begun.path {
			t.Errorf("the same order again leads to %s, the first one to %s", again.path, begun.path)
		}
		p.open(priced.path).want(t, http.StatusOK, "Already rendered", begun.path)
		p.open("/console").want(t, http.StatusOK, "demo.blend", "queued", begun.path)
		if strings.Contains(p.open("/console").text, "Not started") {
			t.Error("a price that was accepted is listed as not started")
		}
		p.open("/console?before="+strings.TrimPrefix(begun.path, "/console/jobs/")).want(t, http.StatusOK, `href="/console">Newer jobs`)
		p.open("/console?status=failed").want(t, http.StatusOK, "No jobs in this state")
		for _, q := range []string{"DEMO", "mo.bl", strings.TrimPrefix(begun.path, "/console/jobs/")} {
			p.open("/console?q="+url.QueryEscape(q)).want(t, http.StatusOK, begun.path)
		}
		for _, q := range []string{"d%o", "_emo", `\`, "<b>"} {
			p.open("/console?q="+url.QueryEscape(q)).want(t, http.StatusOK, "No job matches")
		}
		err := w.App.DB.Write(t.Context(), func(tx *db.Tx) error { return identity.SetDailyCents(t.Context(), tx, p.ID, 30) })
		if err != nil {
			t.Fatal(err)
		}
		p.open("/console/wallet").want(t, http.StatusOK, "$4.96", "$0.04", "Reserved for a job", "−$0.04", "up to $0.30 a day", "Spent today: $0.04")
		p.submit(begun.path+"/cancel").want(t, http.StatusOK, "cancelled", "not charged", "Render again")
		p.open("/console/wallet").want(t, http.StatusOK, "$5.00", "Given back by a job", ">demo.blend</a>")
		ledger := p.open("/console/wallet/ledger.csv").want(t, http.StatusOK, "transaction_id,created_at,kind,job_id,amount_cents,available_after_cents,currency,amount,filename", ",release,", ",4,500,USD,0.04,demo.blend", ",reserve,", ",4,496,USD,-0.04,demo.blend", ",credit,,500,500,USD,5.00,,operator,,,\n")
		if kind := ledger.header.Get("Content-Type"); kind != "text/csv; charset=utf-8" {
			t.Errorf("the ledger is %s", kind)
		}
		again := p.submit(begun.path+"/rerender", "frames", "7").want(t, http.StatusOK, "Render 1 frame for $0.01")
		if again.path != priced.path {
			t.Errorf("rendering again leads to %s", again.path)
		}
		p.submit(begun.path+"/rerender", "frames", "8").want(t, http.StatusBadRequest, `role="alert"`)
		p.open(begun.path+"/frames?frames=one").want(t, http.StatusBadRequest, `role="alert"`, "begin at 1")
		p.open(begun.path+"/frames?frames=4-7,1").want(t, http.StatusNotFound, "keeps no frames")
		p.open(begun.path+"/frames.zip?frames=4-7").want(t, http.StatusNotFound, "are not rendered: 4-7")
	})
}

func TestWhoCannotPayIsToldWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 3)
	priced := p.upload("demo.blend", demo.Scene())
	priced = p.submit(priced.path+"/frames", "frames", "1-5").want(t, http.StatusOK, "You need $0.02 more", "disabled")
	p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).want(t, http.StatusPaymentRequired, `role="alert"`)
}

func TestAFileThatCannotBeRenderedIsRefusedOnThePage(t *testing.T) {
	t.Parallel()
	p := personOf(t, worlds.On(t, "sqlite"), 0)
	for name, content := range map[string][]byte{"notes.txt": []byte("hello"), "broken.blend": demo.Scene()[:1000], "empty.zip": []byte("PK"), "": demo.Scene()} {
		got := p.upload(name, content)
		if got.status < 400 || got.status >= 500 || !strings.Contains(got.text, `role="alert"`) || !strings.Contains(got.text, "Drop a .blend") {
			t.Errorf("%q: %d, %s", name, got.status, got.text)
		}
	}
}

func TestAPageOfAWorkspaceIsNobodyElses(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	owner, other, stranger := personOf(t, w, 100), personOf(t, w, 100), &person{t: t, base: w.URL}
	priced := owner.upload("demo.blend", demo.Scene())
	begun := owner.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance)
	keys := owner.open("/console/keys")
	keyID := regexp.MustCompile(`/console/keys/(key_[0-9a-f]{32})/revoke`).FindStringSubmatch(keys.text)[1]
	for _, path := range []string{begun.path, begun.path + "/frames/1", begun.path + "/frames/1/small", begun.path + "/frames/1/file", begun.path + "/sheet", begun.path + "/loop", begun.path + "/log", begun.path + "/frames.zip?frames=1", begun.path + "/frames/1/compare", begun.path + "/download", begun.path + "/receipt", begun.path + "/live", priced.path, priced.path + "/look"} {
		if got := other.open(path); got.status != http.StatusNotFound && !(strings.HasSuffix(path, "/look") && !strings.Contains(got.text, "<img")) {
			t.Errorf("%s of another workspace: %d", path, got.status)
		}
		if got := stranger.open(path); got.status != http.StatusUnauthorized {
			t.Errorf("%s without a session: %d", path, got.status)
		}
	}
	for path, fields := range map[string][]string{
		begun.path + "/cancel": nil, begun.path + "/pause": nil, begun.path + "/resume": nil, begun.path + "/priority": {"priority", "1"}, begun.path + "/tags": {"tags", "mine"}, begun.path + "/rerender": {"frames", "1"}, priced.path + "/frames": {"frames", "1"}, priced.path + "/look": nil,
		priced.path + "/start": {"quote_id", "QTE-0", "terms", contract.LegalAcceptance}, "/console/keys/" + keyID + "/revoke": nil,
	} {
		if got := other.submit(path, fields...); got.status != http.StatusNotFound {
			t.Errorf("POST %s of another workspace: %d, %s", path, got.status, got.text)
		}
		if got := stranger.submit(path, fields...); got.status != http.StatusUnauthorized {
			t.Errorf("POST %s without a session: %d", path, got.status)
		}
	}
	owner.open(begun.path).want(t, http.StatusOK, "queued")
}

// Each form of the console is refused when a page of another site sends it with the
// person's cookie.
func TestNoFormOfTheConsoleIsTakenFromAnotherSite(t *testing.T) {
	t.Parallel()
	p := personOf(t, worlds.On(t, "sqlite"), 100)
	from := func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	for _, path := range []string{"/console/uploads/UPL-0/frames", "/console/uploads/UPL-0/look", "/console/uploads/UPL-0/start", "/console/jobs/JOB-0/cancel", "/console/jobs/JOB-0/pause", "/console/jobs/JOB-0/resume", "/console/jobs/JOB-0/priority", "/console/jobs/JOB-0/tags", "/console/jobs", "/console/jobs/JOB-0/rerender", "/console/keys", "/console/keys/key_0/revoke", "/console/settings/proof-pages", "/console/sign-out"} {
		got := p.ask(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader("name=x"), from)
		if got.status != http.StatusForbidden || !strings.Contains(got.text, string(fault.CrossOriginRefused)) {
			t.Errorf("%s: %d, %s", path, got.status, got.text)
		}
	}
	if got := p.upload("demo.blend", demo.Scene(), from); got.status != http.StatusForbidden {
		t.Errorf("an upload: %d", got.status)
	}
	p.open("/console/keys").want(t, http.StatusOK)
}

// Compressed, a page that repeats words of a stranger reveals by its size what else is on it.
func TestNoOtherSiteHasAPageOfAWorkspaceCompressed(t *testing.T) {
	t.Parallel()
	p := personOf(t, worlds.On(t, "sqlite"), 100)
	for site, zipped := range map[string]bool{"same-origin": true, "none": true, "same-site": false, "cross-site": false, "": false} {
		got := p.ask(http.MethodGet, "/console", "", nil, func(r *http.Request) {
			r.Header.Set("Accept-Encoding", "gzip")
			r.Header.Del("Sec-Fetch-Site")
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
		})
		if is := got.header.Get("Content-Encoding") == "gzip"; got.status != http.StatusOK || is != zipped {
			t.Errorf("from %q: %d, compressed: %t, want %t", site, got.status, is, zipped)
		}
	}
	// Another site can open an address with words of its own, and the page reads it again.
	got := p.ask(http.MethodGet, "/console?text=guess", "", nil, func(r *http.Request) {
		r.Header.Set("Accept-Encoding", "gzip")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	})
	if is := got.header.Get("Content-Encoding"); got.status != http.StatusOK || is != "" {
		t.Errorf("an address with words: %d, encoding %q", got.status, is)
	}
}

func TestAKeyIsShownOnceAndEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 0)
	made := p.submit("/console/keys", "name", "render <farm>", "limit", "2.50", "days", "30").want(t, http.StatusOK, "render &lt;farm&gt;", "shown only once", "svc config set key svc_agent_", "$0.00 of $2.50", ", ends ")
	secret := regexp.MustCompile(`svc_agent_[0-9A-Za-z]{43}`).FindString(made.text)
	again := p.open("/console/keys")
	if secret == "" || strings.Contains(again.text, secret) {
		t.Errorf("the secret %q is shown again", secret)
	}
	uses := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/node/v1/jobs/JOB-0", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return errClose(t, res)
	}
	if got := uses(); got != http.StatusNotFound {
		t.Errorf("the key's first use: %d", got)
	}
	row := again.text[strings.Index(again.text, "render &lt;farm&gt;"):]
	keyID := regexp.MustCompile(`/console/keys/(key_[0-9a-f]{32})/revoke`).FindStringSubmatch(row)[1]
	p.submit("/console/keys/"+keyID+"/revoke").want(t, http.StatusOK, "ended")
	if got := uses(); got != http.StatusUnauthorized {
		t.Errorf("a use of the ended key: %d", got)
	}
	for _, limit := range []string{"lots", "-1", "1e99", "0.001", "NaN"} {
		p.submit("/console/keys", "name", "x", "limit", limit).want(t, http.StatusBadRequest, `role="alert"`)
	}
	for _, days := range []string{"0", "-1", "3651", "soon"} {
		p.submit("/console/keys", "name", "x", "days", days).want(t, http.StatusBadRequest, `role="alert"`)
	}
	p.submit("/console/keys", "name", "studio", "kind", "account").want(t, http.StatusOK, "shown only once", "svc_")
}

func errClose(t *testing.T, res *http.Response) (status int) {
	t.Helper()
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

func TestEveryGuideHasItsPageAndItsLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	p := &person{t: t, base: worlds.On(t, "sqlite").URL}
	index := p.open("/guide").want(t, http.StatusOK, "Your first render")
	pages := regexp.MustCompile(`href="(/guide/[a-z-]+)"`).FindAllStringSubmatch(index.text, -1)
	documents, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	ours := []string{"README.md", "screenshots.md"} // for people who change the code
	for _, d := range documents {
		if path := "/guide/" + strings.TrimSuffix(d, ".md"); !slices.Contains(ours, d) && strings.Count(index.text, `"`+path+`"`) != 1 {
			t.Errorf("the guide links to %s %d times", path, strings.Count(index.text, `"`+path+`"`))
		}
	}
	ids := regexp.MustCompile(` id="([^"]*)"`)
	links := regexp.MustCompile(`href="(/[^"#]*)?(#[^"]*)?"`)
	for _, page := range pages {
		text := p.open(page[1]).want(t, http.StatusOK).text
		if strings.Contains(text, "do not edit") {
			t.Errorf("%s speaks to its maintainers", page[1])
		}
		_, text, _ = strings.Cut(text, `class="prose"`)
		text, _, _ = strings.Cut(text, "</main>")
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			if link[1] == "" && link[2] == "" {
				continue
			}
			if link[1] == "/guide" {
				t.Errorf("%s has a link that leads to the first page of the guide", page[1])
			}
			target := text
			if link[1] != "" {
				got := p.open(link[1])
				if target = got.text; got.status != http.StatusOK {
					t.Errorf("%s links to %s: %d", page[1], link[1], got.status)
				}
			}
			found := link[2] == ""
			for _, id := range ids.FindAllStringSubmatch(target, -1) {
				found = found || "#"+id[1] == link[2]
			}
			if !found {
				t.Errorf("%s links to %s%s, which has no such section", page[1], link[1], link[2])
			}
		}
	}
	p.open("/guide/adr").want(t, http.StatusNotFound, "Back to the guide")
}

func TestTheTermsNameWhatProgramsAccept(t *testing.T) {
	t.Parallel()
	p := &person{t: t, base: worlds.On(t, "sqlite").URL}
	p.open("/terms").want(t, http.StatusOK, contract.LegalAcceptance, "$0.01", "30 days", "7 days")
	if got := p.open("/favicon.ico"); got.status != http.StatusOK || got.header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("the icon: %d, %s", got.status, got.header.Get("Content-Type"))
	}
}

// A job's page holds back what a file's name may contain.
func TestTextOfFilesIsEscapedOnThePages(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 100)
	priced := p.upload(`<img src=x onerror=alert(1)>.blend`, demo.Scene())
	priced.want(t, http.StatusOK, "&lt;img src=x onerror=alert(1)&gt;.blend")
	begun := p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance)
	for _, path := range []string{"/console", begun.path, priced.path, "/console/wallet"} {
		got := p.open(path)
		if strings.Contains(got.text, "<img src=x") {
			t.Errorf("%s: %s", path, got.text)
		}
		if csp := got.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %s", path, csp)
		}
		if cache := got.header.Get("Cache-Control"); cache != "no-store" {
			t.Errorf("%s: Cache-Control %s", path, cache)
		}
	}
	err := w.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		_, err := job.Find(t.Context(), tx, p.ID, strings.TrimPrefix(begun.path, "/console/jobs/"))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A job that failed lately comes first, until the person looks for something else.
func TestWhatNeedsThePersonComesFirst(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p, operator := personOf(t, w, 100), operatorOf(t, w)
	priced := p.upload("demo.blend", demo.Scene())
	begun := p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance)
	if strings.Contains(p.open("/console").want(t, http.StatusOK).text, "Needs attention") {
		t.Error("a job that waits for a worker needs attention")
	}
	operator.confirm("act", "fail", "subject", strings.TrimPrefix(begun.path, "/console/jobs/"), "reason", "The hall is too hot.")
	p.open("/console").want(t, http.StatusOK, "Needs attention", "The hall is too hot.")
	if strings.Contains(p.open("/console?status=failed").want(t, http.StatusOK).text, "Needs attention") {
		t.Error("it is listed twice on the page of failed jobs")
	}
}

// TestTheOperatorsTermsStandInPlaceOfOurs: as Markdown, without HTML of its own and without
// links that run something.
func TestTheOperatorsTermsStandInPlaceOfOurs(t *testing.T) {
	t.Parallel()
	_, base := apptest.Start(t, app.Config{Data: t.TempDir(), Terms: []byte("## Who we are\n\nA *studio*. <script>alert(1)</script> [more](javascript:alert(1))\n")})
	p := &person{t: t, base: base}
	got := p.open("/terms").want(t, http.StatusOK, contract.LegalAcceptance, `Who we are</h2>`, "A <em>studio</em>.")
	for _, never := range []string{"alert(1)</script>", "javascript:", "The price is locked", "set aside in your wallet"} {
		if strings.Contains(got.text, never) {
			t.Errorf("the page has %q", never)
		}
	}
}
