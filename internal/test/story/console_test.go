package story_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// console is a browser of a caller who is signed in.
type console struct {
	caller
	base string
	tab  context.Context

	mu    sync.Mutex
	parts int      // that the browser has sent
	said  []string // by the browser, against the pages
}

// console signs a caller in, in a real Chromium.
func (svc *service) console(c caller) *console {
	svc.t.Helper()
	p := &console{caller: c, base: svc.url, tab: browse(svc.t)}
	if err := chromedp.Do(p.tab); err != nil {
		svc.t.Fatal(err)
	}
	err := chromedp.Listen(p.tab, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if strings.Contains(e.Request.URL, "/node/v1/parts/") {
				p.parts++
			}
		case *runtime.EventExceptionThrown:
			p.said = append(p.said, "exception: "+e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			// Which parts the service lacks is the answer to a request.
			if !strings.Contains(e.Entry.URL, "/node/v1/projects") && !strings.Contains(e.Entry.Text, "beforeunload") {
				p.said = append(p.said, fmt.Sprintf("log: %s %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
			}
		}
	})
	if err != nil {
		svc.t.Fatal(err)
	}
	var session identity.Opened
	svc.write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, c.workspace)
		if err != nil {
			return err
		}
		token, err := identity.CreateSignInLink(ctx, tx, emails[0])
		if err == nil {
			session, err = identity.SignIn(ctx, tx, token, "")
		}
		return err
	})
	p.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, network.SetCookie, network.SetCookieParams{Name: contract.SessionCookie, Value: session.Token, URL: p.base, HTTPOnly: new(true)})
		return err
	}))
	return p
}

func (p *console) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.tab, actions...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *console) open(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.base + path))
}

// until waits until an expression on the page holds, whatever page that is by then.
func (p *console) until(what, expression string) {
	p.t.Helper()
	for end := time.Now().Add(await.Patience); time.Now().Before(end); {
		holds, err := chromedp.Run(p.tab, chromedp.Evaluate[bool](expression, func(e *runtime.EvaluateParams) { e.AwaitPromise = new(true) }))
		if err == nil && holds {
			return
		}
		// A page that is on its way to another one answers nothing.
		_, _ = chromedp.Run(p.tab, chromedp.Evaluate[bool](`new Promise(r => setTimeout(() => r(true), 50))`, func(e *runtime.EvaluateParams) { e.AwaitPromise = new(true) }))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.t.Fatalf("%s: it never holds: %s; the browser says %q", what, look[string](p.tab, p.t, "location.href + ' ' + document.visibilityState + ' ' + document.body.innerText"), p.said)
}

// says waits until the page shows a text.
func (p *console) says(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.until("the page says "+text, fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
}

// run evaluates what leads to another page.
func (p *console) run(script string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.tab, chromedp.Evaluate[any](script+"; undefined")); err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
}

// onNewPages runs a script before those of each page that is opened from now on.
func (p *console) onNewPages(script string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// send drops a folder on New render, chooses the scene, and waits for its price. It
// returns how many parts travelled.
func (p *console) send(folder, main string) (parts int) {
	p.t.Helper()
	p.open("/console/new")
	p.mu.Lock()
	before := p.parts
	p.mu.Unlock()
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#folder"), []string{folder}))
	choice := fmt.Sprintf("[...document.querySelectorAll('.sending fieldset button')].find(b => b.textContent === %q)", main)
	p.until("the scenes of the folder", choice+" !== undefined")
	p.run(choice + ".click()")
	p.says("Before you pay", filepath.Base(main))
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parts - before
}

// A person sends a folder in which a texture is missing, mends it, looks, pays, watches the
// frames come, looks at one, and has a ZIP that verifies.
func TestAnArtistDoesEverythingInABrowser(t *testing.T) {
	path := realBlender(t)
	each(t, func(t *testing.T, config app.Config) {
		if config.Blobs != "" {
			config.Blobs += "&links=workers" // a script on a page may fetch from its own service only
		}
		made, err := glowingProject()
		if err != nil {
			t.Fatal(err)
		}
		svc := start(t, config)
		svc.worker(worker.Blender{Path: path}, onCPU)
		p := svc.console(svc.caller(credit))
		folder, missing := t.TempDir(), ""
		write := func(name string) {
			t.Helper()
			at := filepath.Join(folder, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, made.files[name], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name := range made.files {
			if missing == "" && strings.HasSuffix(name, ".png") {
				missing = name
				continue
			}
			write(name)
		}
		if sent := p.send(folder, projectMain); sent != len(made.files)-1 {
			t.Errorf("%d parts travelled, of %d files", sent, len(made.files)-1)
		}
		p.says("Missing files", filepath.Base(missing))
		write(missing)
		if sent := p.send(folder, projectMain); sent != 1 {
			t.Errorf("after one file was added, %d parts travelled", sent)
		}
		p.says("No problems found", "Render 2 frames for $0.02")

		p.run(`document.querySelector("#look form button").click()`)
		p.until("the free look", `document.querySelector("#look img")?.naturalWidth > 0`)
		p.run(`document.querySelector("[name=terms]").click(); document.querySelector("form[data-once] button").click()`)
		p.until("every frame has come", `document.querySelector("#live .state.completed") !== null && [...document.querySelectorAll("#frames img")].filter(i => i.naturalWidth > 0).length === 2`)
		jobID := filepath.Base(look[string](p.tab, t, "location.pathname"))

		p.run(`document.querySelector("#frames .grid a").click()`)
		p.until("the whole frame", `document.querySelector("h1").textContent === "Frame 1" && document.querySelector("#picture")?.naturalWidth === 64`)
		p.run(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}))`)
		p.until("the next frame", `document.querySelector("h1").textContent === "Frame 2"`)
		p.open("/console/wallet")
		p.says("$0.98", "Paid for a completed job")
		p.open("/console")
		p.says(filepath.Base(projectMain), "completed")
		p.until("the ZIP", fmt.Sprintf(`fetch("/console/jobs/%s/download").then(r => r.blob()).then(b => b.size > 1000)`, jobID))
		p.verifiedZIP(p.await(jobID, client.StatusCompleted))
		svc.wantFilesInReceipt(jobID, made.files)
		svc.wantMoney(p.workspace, credit-2, wallet.Credited, wallet.Reserved, wallet.Captured)
		if len(p.said) > 0 {
			t.Errorf("the browser says %q", p.said)
		}
	})
}

// A job that fails says so on its page, what to do, and that it cost nothing, while the page
// is open; the person renders it again from there. A second person of the workspace sees
// the same.
func TestAJobThatFailsSaysWhatToDoWhileItsPageIsOpen(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		p := svc.console(svc.caller(credit))
		job, err := p.take(p.quote(3))
		if err != nil {
			t.Fatal(err)
		}
		p.open("/console/jobs/" + job.JobID)
		p.says("queued", "0 of 3 frames", "reserved")
		svc.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := svc.app.Jobs(svc.app.Links(svc.url)).FailByOperator(ctx, tx, job.JobID, "The power is cut on Sunday.")
			return err
		})
		p.says("failed", "The power is cut on Sunday.", "You paid nothing", "not charged", "keeps no frames", "Render frames again")
		for _, path := range []string{"/console/live", "/console/jobs/" + job.JobID + "/live"} { // a stream that nobody reads ends
			p.until("HEAD "+path, fmt.Sprintf(`fetch(%q, {method: "HEAD"}).then(r => r.status === 200)`, path))
		}
		second := svc.console(p.caller)
		second.open("/console")
		second.says("failed", "The power is cut on Sunday.")
		p.run(`(() => { // in one step: the page may draw its parts again between two
			const form = document.querySelector("form[action$='/rerender']");
			form.frames.value = "2";
			form.querySelector("button").click();
		})()`)
		p.says("Render 1 frame for $0.01")
		svc.wantMoney(p.workspace, credit, wallet.Credited, wallet.Reserved, wallet.Released)
		for _, said := range append(p.said, second.said...) {
			t.Errorf("the browser says %q", said)
		}
	})
}

// A page whose stream could not be opened, because the line was gone for a moment, opens it
// later: nobody has to load the page again.
func TestAPageWhoseStreamNeverBeganOpensItAgain(t *testing.T) {
	t.Parallel()
	svc := start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: logOf(t)})
	p := svc.console(svc.caller(credit))
	job, err := p.take(p.quote(3))
	if err != nil {
		t.Fatal(err)
	}
	p.onNewPages(`
		const fetched = window.fetch;
		window.refused = 0;
		window.fetch = (...request) => window.refused > 1 ? fetched(...request) : (window.refused++, Promise.reject(new TypeError("the line is gone")));
	`)
	p.open("/console/jobs/" + job.JobID)
	p.says("queued", "0 of 3 frames")
	p.until("its stream was asked for", "window.refused > 0")
	svc.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := svc.app.Jobs(svc.app.Links(svc.url)).FailByOperator(ctx, tx, job.JobID, "The power is cut on Sunday.")
		return err
	})
	p.says("failed", "The power is cut on Sunday.")
}

// A page follows its job however late the last of its scripts comes.
func TestAPageFollowsItsJobHoweverLateItsScriptsCome(t *testing.T) {
	t.Parallel()
	svc := start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: logOf(t)})
	p := svc.console(svc.caller(credit))
	job, err := p.take(p.quote(3))
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(svc.url)
	if err != nil {
		t.Fatal(err)
	}
	late, asked, last := make(chan struct{}), make(chan struct{}), lastScript(p, "/console/jobs/"+job.JobID)
	ask := sync.OnceFunc(func() { close(asked) })
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == last:
			<-late
		case strings.HasSuffix(r.URL.Path, "/live"):
			ask()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	release := sync.OnceFunc(func() { close(late) })
	t.Cleanup(release)
	p.run(fmt.Sprintf("location.href = %q", front.URL+"/console/jobs/"+job.JobID)) // its load event is as late
	p.until("the other scripts have run, and what they put off", `new Promise((done) => {
		const others = [...document.scripts].slice(0, -1);
		const come = others.length > 0 && others.every((s) => performance.getEntriesByName(s.src).some((e) => e.responseEnd > 0));
		setTimeout(() => done(come), 300);
	})`)
	release()
	p.says("queued", "0 of 3 frames")
	await.Next(t, asked, "the request for its stream")
}

// lastScript is the path of the last script of a page.
func lastScript(p *console, path string) string {
	p.t.Helper()
	p.open(path)
	return look[string](p.tab, p.t, "new URL([...document.scripts].at(-1).src).pathname")
}

// Whatever is lost, a request, a notice or a part of an answer, a page says soon what is true.
func TestAPageIsTrueWithoutItsStream(t *testing.T) {
	t.Parallel()
	svc := start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: logOf(t)})
	p := svc.console(svc.caller(credit))
	job, err := p.take(p.quote(3))
	if err != nil {
		t.Fatal(err)
	}
	p.onNewPages(`
		const fetched = window.fetch;
		window.fetch = (path, options) => String(path).includes("/live?")
			? Promise.resolve(new Response(new ReadableStream({}), { headers: { "Content-Type": "text/event-stream" } }))
			: fetched(path, options);
	`)
	list := svc.console(p.caller)
	list.onNewPages(`
		const fetched = window.fetch;
		window.fetch = (path, options) => String(path).includes("/live?") ? new Promise(() => {}) : fetched(path, options);
	`)
	p.open("/console/jobs/" + job.JobID)
	p.says("queued", "0 of 3 frames")
	list.open("/console")
	list.says("queued")
	svc.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := svc.app.Jobs(svc.app.Links(svc.url)).FailByOperator(ctx, tx, job.JobID, "The power is cut on Sunday.")
		return err
	})
	p.says("failed", "The power is cut on Sunday.", "Render frames again")
	list.says("failed", "The power is cut on Sunday.")
}

// Over a line of 1.6 Mbit/s and 150 ms pages are painted once, where they stay. How soon is in
// the log: a busy machine says nothing of it.
func TestPagesOverASlowLineKeepTheirLayout(t *testing.T) {
	t.Parallel()
	svc := sharedOn(t, "sqlite").with(t)
	p := svc.console(svc.caller(credit))
	p.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Latency: 150, DownloadThroughput: 200_000, UploadThroughput: 94_000}},
		})
		return err
	}))
	for _, path := range []string{"/", "/console", "/console/new", "/console/wallet", "/console/keys"} {
		p.open(path)
		p.until("the first paint of "+path, `performance.getEntriesByName("first-contentful-paint").length > 0`)
		t.Logf("%s: first paint after %.0f ms", path, look[float64](p.tab, t, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
		if shift := look[float64](p.tab, t, `performance.getEntriesByType("layout-shift").reduce((n, e) => n + e.value, 0)`); shift > 0.01 {
			t.Errorf("%s: its layout shifts by %v", path, shift)
		}
	}
}
