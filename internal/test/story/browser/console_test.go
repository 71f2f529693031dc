package browser_test

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

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// onNewPages runs a script before those of each page that is opened from now on.
func onNewPages(p *story.Console, script string) {
	p.T.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// sendFromPage drops a folder on New render, chooses the scene, and waits for its price. It
// returns how many parts travelled.
func sendFromPage(p *story.Console, folder, main string) (parts int) {
	p.T.Helper()
	p.Open("/console/new")
	p.Mu.Lock()
	before := p.Parts
	p.Mu.Unlock()
	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#folder"), []string{folder}))
	choice := fmt.Sprintf("[...document.querySelectorAll('.sending fieldset button')].find(b => b.textContent === %q)", main)
	p.Until("the scenes of the folder", choice+" !== undefined")
	p.Run(choice + ".click()")
	p.Says("Before you pay", filepath.Base(main))
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return p.Parts - before
}

// A person uploads a folder in which a texture is missing, repairs it, orders a test frame,
// pays, watches the frames come, opens one, and has a ZIP that verifies.
func TestAnArtistDoesEverythingInABrowser(t *testing.T) {
	path := story.RealBlender(t)
	story.Each(t, func(t *testing.T, config app.Config) {
		if config.Blobs != "" {
			config.Blobs += "&links=workers" // a script on a page may fetch from its own service only
		}
		made, err := story.GlowingProject()
		if err != nil {
			t.Fatal(err)
		}
		svc := story.Start(t, config)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		p := svc.Console(svc.Caller(story.Credit))
		folder, missing := t.TempDir(), ""
		write := func(name string) {
			t.Helper()
			at := filepath.Join(folder, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, made.Files[name], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name := range made.Files {
			if missing == "" && strings.HasSuffix(name, ".png") {
				missing = name
				continue
			}
			write(name)
		}
		if sent := sendFromPage(p, folder, story.ProjectMain); sent != len(made.Files)-1 {
			t.Errorf("%d parts travelled, of %d files", sent, len(made.Files)-1)
		}
		p.Says("Missing files", filepath.Base(missing))
		write(missing)
		lacking := story.Look[string](p.Tab, t, "location.pathname")
		p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{filepath.Join(folder, filepath.FromSlash(missing))}))
		p.Until("the upload is whole", fmt.Sprintf("location.pathname !== %q", lacking))
		p.Says("No problems found", "Render 2 frames for $0.02")
		if sent := sendFromPage(p, folder, story.ProjectMain); sent != 0 {
			t.Errorf("after the missing file was added, %d parts travelled", sent)
		}
		p.Says("No problems found", "Render 2 frames for $0.02")

		// The first test frame starts without a click.
		p.Until("the free look", `document.querySelector("#look img")?.naturalWidth > 0`)
		p.Run(`document.querySelector("[name=terms]").click(); document.querySelector("form[data-once] button.big").click()`)
		p.Until("every frame has come", `document.querySelector("#live .state.completed") !== null && [...document.querySelectorAll("#frames img")].filter(i => i.naturalWidth > 0).length === 2`)
		jobID := filepath.Base(story.Look[string](p.Tab, t, "location.pathname"))

		p.Run(`document.querySelector("#frames .grid a").click()`)
		p.Until("the whole frame", `document.querySelector("h1").textContent === "Frame 1" && document.querySelector("#picture")?.naturalWidth === 64`)
		p.Run(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}))`)
		p.Until("the next frame", `document.querySelector("h1").textContent === "Frame 2"`)
		p.Open("/console/wallet")
		p.Says("$0.98", "Paid for a completed job")
		p.Open("/console")
		p.Says(filepath.Base(story.ProjectMain), "completed")
		p.Until("the ZIP", fmt.Sprintf(`fetch("/console/jobs/%s/download").then(r => r.blob()).then(b => b.size > 1000)`, jobID))
		p.VerifiedZIP(p.Await(jobID, client.StatusCompleted))
		svc.WantFilesInReceipt(jobID, made.Files)
		svc.WantMoney(p.Workspace, story.Credit-2, wallet.Credited, wallet.Reserved, wallet.Captured)
		if len(p.Said) > 0 {
			t.Errorf("the browser says %q", p.Said)
		}
	})
}

// A job that fails says so on its page, what to do, and that it cost nothing, while the page
// is open; the person renders it again from there. A second person of the workspace sees
// the same.
func TestAJobThatFailsSaysWhatToDoWhileItsPageIsOpen(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		p := svc.Console(svc.Caller(story.Credit))
		job, err := p.Take(p.QuoteFrames(3))
		if err != nil {
			t.Fatal(err)
		}
		p.Open("/console/jobs/" + job.JobID)
		p.Says("queued", "0 of 3 frames", "reserved")
		p.Until("its progress in the tab", `document.title === "0 % · demo.blend · svc"`)
		p.AsksToBeNotified()
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			_, err := svc.App.Jobs(svc.App.Links(svc.URL)).FailByOperator(ctx, tx, job.JobID, "The power is cut on Sunday.")
			return err
		})
		p.Says("failed", "The power is cut on Sunday.", "not charged", "keeps no frames", "Render again", "Try all 3 frames again")
		p.Until("its end in the tab", `document.title === "failed · demo.blend · svc"`)
		p.Until("the notification", `notified.length === 1 && notified[0] === "demo.blend: failed, 0 of 3 frames" && document.querySelector("#tell") === null`)
		for _, path := range []string{"/console/live", "/console/jobs/" + job.JobID + "/live"} { // an unread stream ends
			p.Until("HEAD "+path, fmt.Sprintf(`fetch(%q, {method: "HEAD"}).then(r => r.status === 200)`, path))
		}
		second := svc.Console(p.Caller)
		second.Open("/console")
		second.Says("failed", "The power is cut on Sunday.")
		p.Run(`(() => { // in one step: the page may draw its parts again between two
			const form = document.querySelector("form[action$='/rerender']");
			form.frames.value = "2";
			form.querySelector("button").click();
		})()`)
		p.Says("Render 1 frame for $0.01")
		svc.WantMoney(p.Workspace, story.Credit, wallet.Credited, wallet.Reserved, wallet.Released)
		for _, said := range append(p.Said, second.Said...) {
			t.Errorf("the browser says %q", said)
		}
	})
}

// A page whose stream could not be opened, because the connection was lost for a moment,
// opens it later: the page need not be loaded again.
func TestAPageWhoseStreamNeverBeganOpensItAgain(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		p := svc.Console(svc.Caller(story.Credit))
		job, err := p.Take(p.QuoteFrames(3))
		if err != nil {
			t.Fatal(err)
		}
		onNewPages(p, `
			const fetched = window.fetch;
			window.refused = 0;
			window.fetch = (...request) => window.refused > 1 ? fetched(...request) : (window.refused++, Promise.reject(new TypeError("the line is gone")));
		`)
		p.Open("/console/jobs/" + job.JobID)
		p.Says("queued", "0 of 3 frames")
		p.Until("its stream was asked for", "window.refused > 0")
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			_, err := svc.App.Jobs(svc.App.Links(svc.URL)).FailByOperator(ctx, tx, job.JobID, "The power is cut on Sunday.")
			return err
		})
		p.Says("failed", "The power is cut on Sunday.")
	})
}

// A page follows its job however late the last of its scripts comes.
func TestAPageFollowsItsJobHoweverLateItsScriptsCome(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		p := svc.Console(svc.Caller(story.Credit))
		job, err := p.Take(p.QuoteFrames(3))
		if err != nil {
			t.Fatal(err)
		}
		target, err := url.Parse(svc.URL)
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
		p.Run(fmt.Sprintf("location.href = %q", front.URL+"/console/jobs/"+job.JobID)) // its load event is as late
		p.Until("the other scripts have run, and what they put off", `new Promise((done) => {
			const others = [...document.scripts].slice(0, -1);
			const come = others.length > 0 && others.every((s) => performance.getEntriesByName(s.src).some((e) => e.responseEnd > 0));
			setTimeout(() => done(come), 300);
		})`)
		release()
		p.Says("queued", "0 of 3 frames")
		await.Next(t, asked, "the request for its stream")
	})
}

// lastScript is the path of the last script of a page.
func lastScript(p *story.Console, path string) string {
	p.T.Helper()
	p.Open(path)
	return story.Look[string](p.Tab, p.T, "new URL([...document.scripts].at(-1).src).pathname")
}

// Whatever is lost, a request, a notice or a part of an answer, a page says soon what is true.
func TestAPageIsTrueWithoutItsStream(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		p := svc.Console(svc.Caller(story.Credit))
		job, err := p.Take(p.QuoteFrames(3))
		if err != nil {
			t.Fatal(err)
		}
		onNewPages(p, `
			const fetched = window.fetch;
			window.fetch = (path, options) => String(path).includes("/live?")
				? Promise.resolve(new Response(new ReadableStream({}), { headers: { "Content-Type": "text/event-stream" } }))
				: fetched(path, options);
		`)
		list := svc.Console(p.Caller)
		onNewPages(list, `
			const fetched = window.fetch;
			window.fetch = (path, options) => String(path).includes("/live?") ? new Promise(() => {}) : fetched(path, options);
		`)
		p.Open("/console/jobs/" + job.JobID)
		p.Says("queued", "0 of 3 frames")
		list.Open("/console")
		list.Says("queued")
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			_, err := svc.App.Jobs(svc.App.Links(svc.URL)).FailByOperator(ctx, tx, job.JobID, "The power is cut on Sunday.")
			return err
		})
		p.Says("failed", "The power is cut on Sunday.", "Render again")
		list.Says("failed", "The power is cut on Sunday.")
		list.Run(`document.querySelector("#jobs input[name=job]").checked = true`)
		list.Run(`window.reached = window.fetch; window.fetch = () => Promise.reject(new TypeError("the line is gone"))`)
		list.Says("The service cannot be reached.", "failed")
		list.Run(`window.fetch = window.reached`)
		list.Until("the service is back", `document.querySelector("#away") === null`)
		list.Until("the job is still selected", `document.querySelector("#jobs input[name=job]").checked`)
	})
}

// Over a line of 1.6 Mbit/s and 150 ms pages are painted once, where they stay. How soon is in
// the log: a busy machine says nothing of it.
func TestPagesOverASlowLineKeepTheirLayout(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		p := svc.Console(svc.Caller(story.Credit))
		p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
				MatchedNetworkConditions: []*network.Conditions{{Latency: 150, DownloadThroughput: 200_000, UploadThroughput: 94_000}},
			})
			return err
		}))
		for _, path := range []string{"/", "/console", "/console/new", "/console/wallet", "/console/keys"} {
			p.Open(path)
			p.Until("the first paint of "+path, `performance.getEntriesByName("first-contentful-paint").length > 0`)
			t.Logf("%s: first paint after %.0f ms", path, story.Look[float64](p.Tab, t, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
			if shift := story.Look[float64](p.Tab, t, `performance.getEntriesByType("layout-shift").reduce((n, e) => n + e.value, 0)`); shift > 0.01 {
				t.Errorf("%s: its layout shifts by %v", path, shift)
			}
		}
	})
}
