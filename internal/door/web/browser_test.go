package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"svc.example/internal/app"
	"svc.example/internal/ground/links"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/leaderboardtest"
)

// worlds are services with an empty leaderboard, which tests share that hand in no
// results and need no configuration of their own.
var worlds = apptest.Share(nil)

// registering are services at which programs register automatically.
var registering = apptest.Share(func(c *app.Config) { c.Registration = true })

func TestMain(m *testing.M) {
	code := apptest.Run(m, worlds, registering, walked)
	if err := chromium.close(); err != nil {
		fmt.Fprintln(os.Stderr, "the browser:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// site is a running service and the test that looks at its pages.
type site struct {
	t      *testing.T
	base   string
	app    *app.App
	signed bool // the browser has a session: pages of the console run scripts and show frames
}

// shared is the service without results.
func shared(t *testing.T) *site {
	t.Helper()
	w := worlds.On(t, "sqlite")
	return &site{t: t, base: w.URL, app: w.App}
}

// with is the same service for another test.
func (svc *site) with(t *testing.T) *site {
	return &site{t: t, base: svc.base, app: svc.app, signed: svc.signed}
}

// measured starts a service with results of several GPUs and a CPU, the same each
// time, over some months. It returns the id of one result of a GPU and of the CPU's.
func measured(t *testing.T) (svc *site, gpu, cpu string) {
	t.Helper()
	var days atomic.Int64 // how far the service's clock has been moved
	started, base := apptest.Start(t, app.Config{
		AllowSynthetic: true, Skew: func() time.Duration { return time.Duration(days.Load()) * 24 * time.Hour },
	})
	fleet, err := leaderboardtest.NewFleet(t.Context(), started.Board(started.Links(base)))
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	submit := func(name string, gb int64, score float64) string {
		at := time.Now().Add(time.Duration(days.Add(1)) * 24 * time.Hour)
		score = math.Round(score)
		r := leaderboardtest.Run(name, gb, score, at)
		if name == "" {
			r = leaderboardtest.CPURun("AMD Ryzen 9 7950X 16-Core Processor", score, at)
		}
		done, err := fleet.Submit(t.Context(), r)
		if err != nil || done.Reason != "" {
			t.Fatalf("%+v, %v", done, err)
		}
		return done.ResultID
	}
	type model struct {
		name  string
		gb    int64
		score float64
		runs  int
	}
	var runs []model
	for _, g := range []model{
		{"NVIDIA GeForce RTX 4090", 24, 9400, 40}, {"NVIDIA GeForce RTX 4080 SUPER", 16, 6900, 14}, {"AMD Radeon RX 7900 XTX", 24, 3900, 18},
		{"NVIDIA GeForce RTX 3080", 10, 4300, 24}, {"NVIDIA RTX 6000 Ada Generation", 48, 9100, 6}, {"NVIDIA GeForce RTX 4070 Laptop GPU", 8, 3100, 9},
		{"Apple M3 Max (GPU - 40 cores)", 0, 2900, 8}, {"Intel(R) Arc(TM) A770 Graphics", 16, 1900, 5}, {"NVIDIA GeForce GTX 1060 6GB", 6, 620, 2},
	} {
		for range g.runs {
			runs = append(runs, g)
		}
	}
	chance.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	for _, g := range runs {
		submit(g.name, g.gb, g.score*(1+0.05*chance.NormFloat64()))
	}
	gpu = submit("NVIDIA GeForce RTX 4090", 24, 9700)
	return &site{t: t, base: base, app: started}, gpu, submit("", 0, 212)
}

// chromium is the one browser of the package's tests.
var chromium browser

// browser is a real Chromium, which starts when a test first asks for a tab.
type browser struct {
	once   sync.Once
	ctx    context.Context
	err    error
	folder string // of its profile
	end    func()
}

func (b *browser) open() {
	if b.folder, b.err = os.MkdirTemp("", "svc-browser-"); b.err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(b.folder)) // it may run as root, on pages of our own
	allocated, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	b.ctx, b.end = chromedp.NewContext(allocated)
	stop := b.end
	b.end = func() { stop(); stopAll() }
	b.err = chromedp.Do(b.ctx)
}

// close ends the browser and waits for it.
func (b *browser) close() error {
	if b.ctx == nil {
		return nil // no test has asked for it
	}
	err := chromedp.Cancel(b.ctx)
	b.end()
	return errors.Join(err, os.RemoveAll(b.folder))
}

// browse gives a tab of the browser, with cookies and storage of its own, and what
// its console complained about. A machine without Chromium fails the test:
// scripts/install-tools chromium.
func browse(t *testing.T) (tab context.Context, complaints func() []string) {
	t.Helper()
	chromium.once.Do(chromium.open)
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	ctx, stop := context.WithTimeout(chromium.ctx, 3*time.Minute)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	var mu sync.Mutex
	var said []string
	err := chromedp.Listen(tab, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			said = append(said, fmt.Sprintf("console: %s %v", e.Type, e.Args))
		case *runtime.EventExceptionThrown:
			said = append(said, "exception: "+e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			said = append(said, fmt.Sprintf("log: %s %s", e.Entry.Level, e.Entry.Text))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab, func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := said
		said = nil
		return out
	}
}

// prefer sets the colour scheme that the person has chosen.
func prefer(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}

// look gives the value of an expression on the open page.
func look[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// screenshots names the folder for pictures of pages; see make screenshots.
const screenshots = "SVC_TEST_SCREENSHOTS"

// keep writes a picture of the open page where screenshots says, small enough to be kept;
// it writes none whose name begins with an underscore, and none of 4K.
func keep(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv(screenshots)
	if folder == "" || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "-4k") {
		return
	}
	// Pictures that no screen has shown yet are not loaded.
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Promise.all([...document.images].map(i => { i.loading = "eager"; return i.decode().catch(() => {}); })).then(() => true)`, func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) })); err != nil {
		t.Fatal(err)
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(45)) // a JPEG
	if err != nil || len(picture) == 0 {
		t.Fatalf("screenshot of %s: %d bytes, %v", name, len(picture), err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".jpg"), picture, 0o600); err != nil {
		t.Error(err)
	}
}

// loadAxe gives the open page axe-core.
func loadAxe(ctx context.Context, t *testing.T) {
	t.Helper()
	axe, err := os.ReadFile("../../../.tools/npm/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: run scripts/install-npm", err)
	}
	look[any](ctx, t, string(axe)+";undefined")
}

// violations are what axe-core finds on the open page that is serious or worse.
// Colours alone are all that another colour scheme changes.
func violations(ctx context.Context, t *testing.T, coloursAlone bool) []string {
	t.Helper()
	loadAxe(ctx, t)
	options, least := everyRule, 10
	if coloursAlone {
		// The articles of the API reference have the same colours, and are many.
		look[any](ctx, t, `[...document.querySelectorAll("article")].slice(5).forEach(a => a.remove());undefined`)
		options, least = `{resultTypes: ["violations"], runOnly: ["cat.color"]}`, 1
	}
	return axeFinds(ctx, t, options, least, `["serious", "critical"]`)
}

// everyRule asks axe for all that it checks.
const everyRule = `{resultTypes: ["violations"]}`

// everyImpact are the weights of what axe finds.
const everyImpact = `["minor", "moderate", "serious", "critical"]`

// axeFinds runs axe, which the page has loaded, and returns what has one of the impacts.
func axeFinds(ctx context.Context, t *testing.T, options string, least int, impacts string) []string {
	t.Helper()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](
		`axe.run(document, `+options+`).then(r => JSON.stringify({passes: r.passes.length, violations: r.violations.filter(v => `+impacts+`.includes(v.impact)).map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.target + " " + n.failureSummary).join("; "))}))`,
		func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Passes     int
		Violations []string
	}
	if err := json.Unmarshal([]byte(found), &report); err != nil || report.Passes < least {
		t.Fatalf("axe checked nothing: %s, %v", found, err)
	}
	return report.Violations
}

// cutWords are the short words, outside code, and the parts of times that a page breaks into
// several lines: a column too narrow to read.
const cutWords = `(() => {
  const found = [], range = document.createRange(), lines = (node, from, to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    return new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size;
  };
  const walk = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT, (node) => node.parentElement.closest("pre, code") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    for (const word of node.data.matchAll(/(?<!\S)[^\s\/_-]{2,12}(?!\S)/g)) {
      if (lines(node, word.index, word.index + word[0].length) > 1) found.push(word[0]);
    }
    if (node.parentElement.matches("time") && lines(node, 0, node.length) > 2) found.push(node.data);
  }
  return found.join(", ");
})()`

type screen struct {
	name        string
	wide, high  int64
	dark, phone bool
}

func screens() []screen {
	return []screen{{"desktop", 1280, 900, false, false}, {"phone", 360, 780, false, true}, {"dark", 1280, 900, true, false}, {"4k", 3840, 2160, false, false}}
}

func TestPagesWithoutResultsSayHowToHandOneIn(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		tab, complaints := browse(t)
		svc := &site{t: t, base: w.URL, app: w.App}
		for name, path := range map[string]string{"empty": links.LeaderboardPath, "compare-empty": links.ComparePath, "missing": links.GPUPath + "nothing"} {
			svc.inspect(tab, screens()[0], name, path, complaints)
			if text := look[string](tab, t, "document.body.innerText"); name != "missing" && !strings.Contains(text, "svc bench --server "+svc.base) {
				t.Errorf("%s does not say how to hand in a result: %s", name, text)
			}
		}
	})
}

// TestPagesReadWellOnEveryScreen opens each page as a person does, on a desktop,
// a phone and in the dark.
func TestPagesReadWellOnEveryScreen(t *testing.T) {
	t.Parallel()
	svc, gpu, cpu := measured(t)
	pages := map[string]string{
		"_start": "/", "board": links.LeaderboardPath, "board-search": links.LeaderboardPath + "?q=rtx", "board-gpu": links.GPUPath + "nvidia-geforce-rtx-4090",
		"_board-gpu-few": links.GPUPath + "nvidia-geforce-gtx-1060-6gb", "board-compare": links.ComparePath + "?a=nvidia-geforce-rtx-4090&b=amd-radeon-rx-7900-xtx",
		"_board-compare-choose": links.ComparePath, "board-result": links.ResultPath + gpu, "board-result-cpu": links.ResultPath + cpu,
	}
	for _, s := range screens() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tab, complaints := browse(t)
			for name, path := range pages {
				svc.with(t).inspect(tab, s, name, path, complaints)
			}
			if s.phone || s.dark { // it is long
				svc.with(t).inspect(tab, s, "_docs", "/docs", complaints)
			}
		})
	}
}

// inspect opens a page and compares it with what every page promises.
func (svc *site) inspect(tab context.Context, s screen, name, path string, complaints func() []string) {
	t := svc.t
	t.Helper()
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	var options []chromedp.EmulateViewportOption
	if s.phone {
		options = append(options, chromedp.EmulateMobile)
	}
	err := chromedp.Do(tab, chromedp.EmulateViewport(s.wide, s.high, options...), prefer(scheme), chromedp.Navigate(svc.base+path))
	if err != nil {
		t.Fatalf("open %s: %v", path, err)
	}
	name += "-" + s.name
	if said := complaints(); len(said) > 0 && !strings.Contains(name, "missing") { // a browser logs every 404
		t.Errorf("%s: the console says %q", name, said)
	}
	if wide := look[int64](tab, t, "document.documentElement.scrollWidth"); wide > s.wide {
		t.Errorf("%s: %d pixels wide on a screen of %d", name, wide, s.wide)
	}
	if cut := look[string](tab, t, cutWords); cut != "" {
		t.Errorf("%s: words are cut into several lines: %s", name, cut)
	}
	own, scripts := `css|svg|jpg|woff2`, 0
	if svc.signed && (strings.HasPrefix(path, "/console") || strings.HasPrefix(path, "/admin")) {
		own, scripts = `css|svg|jpg|woff2|js`, 2
		if strings.HasPrefix(path, "/console/jobs/") && !strings.HasSuffix(path, "/compare") && !strings.HasSuffix(path, "/comments") && !strings.HasSuffix(path, "/share") {
			scripts = 3 // the timeline or the viewer
		}
		if path == "/console/new" {
			scripts = 3 // the upload
		}
	}
	if strings.HasPrefix(path, "/s/") {
		own, scripts = `css|svg|jpg|woff2|js`, 1 // the viewer
	}
	if strings.HasPrefix(path, "/guide") {
		own, scripts = `css|svg|jpg|woff2|js`, 1
	}
	if loaded := look[string](tab, t, `performance.getEntriesByType("resource").map(e => e.name.replace(location.origin, "")).filter(n => !/^\/assets\/[a-z-]+\.[0-9a-f]{16}\.(`+own+`)$/.test(n) && !/^\/(console\/(live|jobs|uploads)|s\/)/.test(n)).join(" ")`); loaded != "" {
		t.Errorf("%s: the page loads %s", name, loaded)
	}
	if n := look[int](tab, t, `document.scripts.length`); n != scripts {
		t.Errorf("%s: the page has %d scripts, want %d", name, n, scripts)
	}
	keep(tab, t, name)
	for _, v := range violations(tab, t, s.dark) {
		t.Errorf("%s: %s", name, v)
	}
	complaints() // axe has its own words
}
