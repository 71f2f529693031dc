package web_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/links"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/settings"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// in gives the browser the session of a person.
func (p *person) in(tab context.Context) {
	p.t.Helper()
	err := chromedp.Do(tab, chromedp.Func(func(ctx context.Context, at *chromedp.Target) (err error) {
		for name, value := range p.cookies() {
			_, failed := cdp.Call(ctx, at, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: p.base, HTTPOnly: new(true)})
			err = errors.Join(err, failed)
		}
		return err
	}))
	if err != nil {
		p.t.Fatal(err)
	}
}

// mostPageBytes bounds what a page of the console makes a browser load, renders aside.
const mostPageBytes = 60_000

// TestPagesOfTheConsoleReadWellOnEveryScreen opens each page as a person does, on a desktop,
// a phone and in the dark, with a job that is done and one that waits.
func TestPagesOfTheConsoleReadWellOnEveryScreen(t *testing.T) {
	t.Parallel()
	inside := &app.EmbeddedWorker{Renderer: synthetic.Renderer{}, Device: blender.CPU}
	if os.Getenv(screenshots) != "" { // screenshots should show frames
		path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
		if err != nil {
			t.Fatal(err)
		}
		inside = &app.EmbeddedWorker{Renderer: worker.Blender{Path: path}, Device: blender.CPU, Denoise: blender.Off, AllowBlenderVersion: true}
	}
	provider := stripetest.New(t)
	started, base := apptest.Start(t, app.Config{
		AllowSynthetic: true, Embedded: inside, Stripe: &app.Stripe{Key: stripetest.Key, Secrets: []string{stripetest.Secret}, URL: provider.URL},
	})
	w := &apptest.World{App: started, URL: base}
	artist := w.WorkspaceOf(t, "artist@example.com", 30)
	p := signIn(t, w, artist)
	order := func(p *person, frames string) (job string) {
		priced := p.upload("demo.blend", demo.Scene())
		priced = p.submit(priced.path+"/frames", "frames", frames)
		begun := p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).want(t, http.StatusOK)
		return begun.path
	}
	done := order(p, "1-9")
	again := order(p, "1-2") // another job to compare with
	tester := signIn(t, w, w.WorkspaceOf(t, "tester@example.com", 0))
	tester.test = true
	tested := order(tester, "1-6")
	p.submit("/console/wallet/top-ups", "amount", "25")
	if err := provider.Pay(provider.Newest()); err != nil {
		t.Fatal(err)
	}
	ring(t, base, provider)
	p.submit("/console/wallet/top-ups", "amount", "10")
	p.submit("/console/wallet/alert", "below", "5")
	empty := personOf(t, w, 0)
	boss := operating(t, w, signIn(t, w, w.WorkspaceOf(t, "operator@example.com", 0)))
	tab, _ := browse(t)
	p.in(tab)
	completed := func(job string) {
		if err := chromedp.Do(tab, chromedp.Navigate(base+job), chromedp.WaitVisible(chromedp.CSS("#live .state.completed"))); err != nil {
			t.Fatal(err)
		}
	}
	completed(done)
	completed(again)
	link := regexp.MustCompile(`/s/[0-9A-Za-z]{43}`).FindString(p.submit(done+"/share", "days", "7", "comments", "yes").want(t, http.StatusOK, "comment on frames").text)
	visitor := &person{t: t, base: base}
	visitor.submit(link+"/comments", "frame", "2", "comment", "The hand clips through the table.\n\nCan it move up?", "name", "A director with a rather long name").want(t, http.StatusOK, "The hand clips")
	visitor.submit(link+"/comments", "frame", "2", "comment", strings.Repeat("wide", 100)).want(t, http.StatusOK, "widewide")
	tester.in(tab)
	completed(tested)
	priced := p.upload("scene.blend", demo.Scene())
	p.submit("/console/keys", "name", "render farm", "limit", "10")
	p.submit("/console/members", "email", "animator.with.a.rather.long.address@studio.example.com", "role", "member")
	viewer := joins(t, w, p, identity.Viewer)
	apptest.Join(t, started.DB, empty.ID, p.Email, identity.Viewer) // the pages offer to switch
	boss.submit("/admin/acts", "act", "freeze", "subject", empty.ID, "reason", "Its payment is disputed.", "yes", "yes")
	p.submit("/console/webhooks", "url", "https://studio.example.com/hooks", "description", "the studio")
	operators := map[string]string{
		"admin": "/admin", "admin-jobs": "/admin/jobs", "admin-job": "/admin/jobs/" + strings.TrimPrefix(done, "/console/jobs/"), "admin-workers": "/admin/workers", "admin-worker": "/admin/workers/" + workerOf(t, w),
		"admin-workspaces": "/admin/workspaces", "admin-workspace": "/admin/workspaces/" + empty.ID, "admin-dead-letters": "/admin/dead-letters", "admin-results": "/admin/results", "admin-keys": "/admin/keys", "admin-acts": "/admin/acts",
	}
	pages := map[string]string{
		"home": "/", "webhooks": "/console/webhooks", "leaderboard": "/leaderboard",
		"jobs": "/console", "jobs-none": "/console?status=failed", "new": "/console/new", "upload": priced.path, "job": done, "frame": done + "/frames/2",
		"_shared": link + "/frames/2", "_share": done + "/share", "_shares": "/console/shares", "_comments": done + "/comments", "_open-comments": "/console/comments",
		"compare": done + "/frames/2?with=5", "_choose": done + "/frames/2/compare", "wallet": "/console/wallet", "_invoices": "/console/wallet/invoices", "keys": "/console/keys", "settings": "/console/settings", "_members": "/console/members",
		"guide": "/guide", "_guide-build": "/guide/build", "_guide-search": "/guide/search?q=webhook", "_first-render": "/guide/first-render", "_warnings": "/guide/warnings", "terms": "/terms", "_sdks": "/sdk/", "_blender": "/blender/", "sign-in": "/sign-in",
		"consent": questionOf("http://127.0.0.1:1/"), "device": "/oauth/device", "device-consent": "/oauth/device?user_code=" + deviceCode(t, base),
		"hand-over": handOver(t, base, artist.Agent.Secret),
	}
	for _, s := range screens() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tab, complaints := browse(t)
			p.in(tab)
			svc := &site{t: t, base: base, app: started, signed: true}
			for name, path := range pages {
				svc.inspect(tab, s, name, path, complaints)
				if n := look[int](tab, t, `performance.getEntries().filter(e => e.encodedBodySize && !/\.jpg$|\/(small|file|sheet|loop|thumbnail)(\?|$)|\/look\//.test(e.name)).reduce((n, e) => n + e.encodedBodySize, 0)`); strings.HasPrefix(path, "/console") && n > mostPageBytes {
					t.Errorf("%s loads %d bytes, more than %d", name, n, mostPageBytes)
				}
			}
			boss.in(tab)
			for name, path := range operators {
				svc.inspect(tab, s, name, path, complaints)
			}
			empty.in(tab)
			svc.inspect(tab, s, "jobs-first", "/console", complaints)
			viewer.in(tab)
			svc.inspect(tab, s, "_jobs-viewer", "/console", complaints)
			tester.in(tab)
			svc.inspect(tab, s, "test-job", tested, complaints)
			p.in(tab)
			svc.inspect(tab, s, "_jobs-cards", "/console?layout=cards", complaints)
			if cards := look[int](tab, t, `new Set([...document.querySelectorAll(".cards .jobs li")].map(li => li.offsetTop)).size`); !s.phone && cards > 1 {
				t.Errorf("%s: the cards of few jobs are in %d rows", s.name, cards)
			}
		})
	}
}

// handOver is the path of a link that an agent shows to its person.
func handOver(t *testing.T, base, key string) (path string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc_inspect","arguments":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var said struct {
		Result struct {
			StructuredContent struct {
				Upload struct {
					URL string `json:"url"`
				} `json:"upload"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.NewDecoder(res.Body).Decode(&said); err != nil || said.Result.StructuredContent.Upload.URL == "" {
		t.Fatalf("there is no link: %v, %+v", err, said)
	}
	return strings.TrimPrefix(said.Result.StructuredContent.Upload.URL, base)
}

// workerOf is the worker of a service that has one.
func workerOf(t *testing.T, w *apptest.World) (workerID string) {
	t.Helper()
	err := w.App.DB.Read(t.Context(), func(tx *db.Tx) error {
		all, err := dispatch.ListWorkers(t.Context(), tx, time.Hour)
		if err == nil {
			workerID = all[0].WorkerID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return workerID
}

// A page that is open when its session ends says what to do, and so does each form on it.
func TestAPageThatIsOpenWhenItsSessionEndsLeadsToTheSignIn(t *testing.T) {
	t.Parallel()
	p := personOf(t, worlds.On(t, "sqlite"), 100)
	priced := p.upload("demo.blend", demo.Scene())
	quoteID := priced.hidden(t, "quote_id")
	p.submit("/console/sign-out").want(t, http.StatusOK, "Render a scene")
	for _, path := range []string{priced.path + "/start", priced.path + "/look", "/console/keys"} {
		p.submit(path, "quote_id", quoteID, "terms", contract.LegalAcceptance, "name", "x").want(t, http.StatusUnauthorized, "Sign in to see yours", `action="/console/sign-in"`)
	}
	p.upload("demo.blend", demo.Scene()).want(t, http.StatusUnauthorized, "Sign in to see yours")
}

// The session ends before a file has come: the page says so, keeps what was sent, and continues
// when the person has signed in again in another tab.
func TestAnUploadSurvivesTheEndOfItsSession(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 100)
		tab, _ := browse(t)
		p.in(tab)
		folder := t.TempDir()
		for name, content := range map[string][]byte{demo.Filename: demo.Scene(), "scene.zip": zipped(t, demo.Filename, demo.Scene())} {
			file := filepath.Join(folder, name)
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := chromedp.Do(tab, chromedp.Navigate(p.base+"/console/new")); err != nil {
				t.Fatal(err)
			}
			p.submit("/console/sign-out")
			err := chromedp.Do(tab, chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}), chromedp.WaitVisible(chromedp.CSS("[data-sign-in] a")))
			if err != nil {
				t.Fatal(err)
			}
			if text := look[string](tab, t, `document.querySelector("main").innerText`); !strings.Contains(text, "Your session has ended") || strings.Contains(text, "svc_agent_") {
				t.Errorf("%s: it says %q", name, text)
			}
			p = signIn(t, w, p.Workspace)
			p.in(tab)
			if err := chromedp.Do(tab, chromedp.WaitVisible(chromedp.CSS("#price"))); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}

// zipped is an archive of one file.
func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	file, err := archive.Create(name)
	if err == nil {
		_, err = file.Write(content)
	}
	if err = errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestThePriceFollowsTheFramesAsTheyAreTyped orders what the field says, at the price on the
// button.
func TestThePriceFollowsTheFramesAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 500)
		priced := p.upload("demo.blend", demo.Scene())
		tab, _ := browse(t)
		p.in(tab)
		if err := chromedp.Do(tab, chromedp.Navigate(w.URL+priced.path)); err != nil {
			t.Fatal(err)
		}
		field, button := chromedp.CSS("[name=frames]"), `document.querySelector("#price button.big")`
		typed := func(frames, wants string, on bool) {
			t.Helper()
			look[bool](tab, t, `document.querySelector("[name=frames]").select() === undefined`)
			err := chromedp.Do(tab, chromedp.SendKeys(field, frames))
			if err == nil {
				_, err = chromedp.Run(tab, chromedp.Poll[bool](fmt.Sprintf("%s.textContent === %q && %s.disabled === %t", button, wants, button, !on)))
			}
			if err != nil {
				t.Fatalf("frames %s: %v", frames, err)
			}
		}
		typed("1 – 3, 7", "Render 4 frames for $0.04", true)
		typed("1-3,x", "Render", false)
		typed("30", "Render 1 frame for $0.01", true)
		chosen := func(name, value, sees string) {
			t.Helper()
			err := chromedp.Do(tab, chromedp.SendKeys(chromedp.CSS("[name="+name+"]"), value))
			if err == nil {
				_, err = chromedp.Run(tab, chromedp.Poll[bool](fmt.Sprintf(`document.body.textContent.includes(%q)`, sees)))
			}
			if err != nil {
				t.Fatalf("%s %s: %v", name, value, err)
			}
		}
		look[bool](tab, t, `document.querySelector(".choices details").open = true`)
		chosen("resolution_percentage", "50", "240 × 135 pixels, 24 samples")
		chosen("samples", "7", "240 × 135 pixels, 7 samples")
		chosen("camera", "Nobody", `camera "Nobody"`)
		if !look[bool](tab, t, button+".disabled") {
			t.Error("a camera that the file does not have can be ordered")
		}
		look[bool](tab, t, `document.querySelector("[name=camera]").select() === undefined`)
		if err := chromedp.Do(tab, chromedp.SendKeys(chromedp.CSS("[name=camera]"), "\b")); err != nil {
			t.Fatal(err)
		}
		if _, err := chromedp.Run(tab, chromedp.Poll[bool](button+`.disabled === false`)); err != nil {
			t.Fatal(err)
		}
		err := chromedp.Do(tab, chromedp.WaitVisible(chromedp.CSS("#warnings li")), chromedp.Click(chromedp.CSS("#price [name=outside]")), // beyond the scene's range
			chromedp.Click(chromedp.CSS("#price [name=terms]")), chromedp.Click(chromedp.CSS("#price button.big")), chromedp.WaitVisible(chromedp.CSS("#live")))
		if err != nil {
			t.Fatal(err)
		}
		p.open("/console/wallet").want(t, http.StatusOK, "$4.99")
		o, err := w.App.Jobs(links.Links{}).Get(t.Context(), p.ID, path.Base(look[string](tab, t, "location.pathname")))
		if want := (settings.Settings{Samples: 7, ResolutionPercentage: 50}); err != nil || o.Settings != want {
			t.Errorf("the job has %+v, %v", o.Settings, err)
		}
	})
}
