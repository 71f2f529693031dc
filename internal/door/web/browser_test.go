package web_test

import (
	"context"
	"encoding/json"
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

// house is a running service with a leaderboard.
type house struct {
	t     *testing.T
	base  string
	app   *app.App
	fleet *leaderboardtest.Fleet
	days  atomic.Int64 // how far the service's clock has been moved
}

func start(t *testing.T, with ...func(*app.Config)) *house {
	t.Helper()
	h := &house{t: t}
	config := app.Config{AllowSynthetic: true, Skew: func() time.Duration { return time.Duration(h.days.Load()) * 24 * time.Hour }}
	for _, set := range with {
		set(&config)
	}
	h.app, h.base = apptest.Start(t, config)
	var err error
	if h.fleet, err = leaderboardtest.NewFleet(t.Context(), h.app.Board(h.app.Links(h.base))); err != nil {
		t.Fatal(err)
	}
	return h
}

// measure hands in results of several GPUs and a CPU, the same each time, over
// some months, and gives one GPU's and the CPU's.
func (h *house) measure() (gpu, cpu string) {
	h.t.Helper()
	chance := rand.New(rand.NewPCG(1, 2))
	submit := func(name string, gb int64, score float64) string {
		h.days.Add(1)
		score, at := math.Round(score), time.Now().Add(time.Duration(h.days.Load())*24*time.Hour)
		r := leaderboardtest.Run(name, gb, score, at)
		if name == "" {
			r = leaderboardtest.CPURun("AMD Ryzen 9 7950X 16-Core Processor", score, at)
		}
		done, err := h.fleet.Submit(h.t.Context(), r)
		if err != nil || done.Reason != "" {
			h.t.Fatalf("%+v, %v", done, err)
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
	return gpu, submit("", 0, 212)
}

// browse gives a tab of a real Chromium, and what its console complained about.
// A machine without one fails the test: scripts/install-tools chromium.
func browse(t *testing.T) (tab context.Context, complaints func() []string) {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir())) // it may run as root, on pages of our own
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(stop)
	allocated, stopAll := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stopAll)
	tab, closeTab := chromedp.NewContext(allocated)
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

// keep writes a picture of the open page where SVC_TEST_SCREENSHOTS says.
func keep(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("SVC_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil || len(picture) == 0 {
		t.Fatalf("screenshot of %s: %d bytes, %v", name, len(picture), err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		t.Error(err)
	}
}

// violations are what axe-core finds on the open page that is serious or worse.
func violations(ctx context.Context, t *testing.T) []string {
	t.Helper()
	axe, err := os.ReadFile("../../../.tools/npm/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: run scripts/install-npm", err)
	}
	look[any](ctx, t, string(axe)+";undefined")
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](
		`axe.run(document).then(r => JSON.stringify({passes: r.passes.length, violations: r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.target + " " + n.failureSummary).join("; "))}))`,
		func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Passes     int
		Violations []string
	}
	if err := json.Unmarshal([]byte(found), &report); err != nil || report.Passes < 10 {
		t.Fatalf("axe looked at nothing: %s, %v", found, err)
	}
	return report.Violations
}

type screen struct {
	name        string
	wide, high  int64
	dark, phone bool
}

func screens() []screen {
	return []screen{{"desktop", 1280, 900, false, false}, {"phone", 360, 780, false, true}, {"dark", 1280, 900, true, false}}
}

// TestPagesReadWellOnEveryScreen opens each page as a person does, on a desktop,
// a phone and in the dark.
func TestPagesReadWellOnEveryScreen(t *testing.T) {
	t.Parallel()
	tab, complaints := browse(t)
	empty := start(t)
	for name, path := range map[string]string{"empty": links.LeaderboardPath, "compare-empty": links.ComparePath, "missing": links.GPUPath + "nothing"} {
		empty.inspect(tab, screens()[0], name, path, complaints)
		if text := look[string](tab, t, "document.body.innerText"); name != "missing" && !strings.Contains(text, "svc bench --server "+empty.base) {
			t.Errorf("%s does not say how to hand in a result: %s", name, text)
		}
	}
	h := start(t)
	gpu, cpu := h.measure()
	for name, path := range map[string]string{
		"start": "/", "board": links.LeaderboardPath, "search": links.LeaderboardPath + "?q=rtx", "gpu": links.GPUPath + "nvidia-geforce-rtx-4090",
		"gpu-few": links.GPUPath + "nvidia-geforce-gtx-1060-6gb", "compare": links.ComparePath + "?a=nvidia-geforce-rtx-4090&b=amd-radeon-rx-7900-xtx",
		"compare-choose": links.ComparePath, "result": links.ResultPath + gpu, "result-cpu": links.ResultPath + cpu,
	} {
		for _, s := range screens() {
			h.inspect(tab, s, name, path, complaints)
		}
	}
	for _, s := range screens()[1:] { // it is long
		h.inspect(tab, s, "docs", "/docs", complaints)
	}
}

// inspect opens a page and holds it against what every page promises.
func (h *house) inspect(tab context.Context, s screen, name, path string, complaints func() []string) {
	t := h.t
	t.Helper()
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	var options []chromedp.EmulateViewportOption
	if s.phone {
		options = append(options, chromedp.EmulateMobile)
	}
	err := chromedp.Do(tab, chromedp.EmulateViewport(s.wide, s.high, options...), prefer(scheme), chromedp.Navigate(h.base+path))
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
	if loaded := look[string](tab, t, `performance.getEntriesByType("resource").map(e => e.name.replace(location.origin, "")).filter(n => !/^\/assets\/[a-z]+\.[0-9a-f]{16}\.(css|svg)$/.test(n)).join(" ")`); loaded != "" {
		t.Errorf("%s: the page loads %s", name, loaded)
	}
	if n := look[int](tab, t, `document.scripts.length`); n != 0 {
		t.Errorf("%s: the page has %d scripts", name, n)
	}
	keep(tab, t, name)
	for _, v := range violations(tab, t) {
		t.Errorf("%s: %s", name, v)
	}
	complaints() // axe has its own words
}
