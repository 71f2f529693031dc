package story

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/work/identity"
)

// Console is the browser of a signed-in caller.
type Console struct {
	Caller
	Base string
	Tab  context.Context

	Mu    sync.Mutex
	Parts int      // that the browser has sent
	Said  []string // by the browser, against the pages
}

// Console signs a caller in, in a real Chromium.
func (svc *Service) Console(c Caller) *Console {
	svc.T.Helper()
	p := &Console{Caller: c, Base: svc.URL, Tab: Browse(svc.T)}
	if err := chromedp.Do(p.Tab); err != nil {
		svc.T.Fatal(err)
	}
	err := chromedp.Listen(p.Tab, func(event any) {
		p.Mu.Lock()
		defer p.Mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if strings.Contains(e.Request.URL, "/node/v1/parts/") {
				p.Parts++
			}
		case *runtime.EventExceptionThrown:
			p.Said = append(p.Said, "exception: "+e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			// The answer to a request says which parts are missing.
			if !strings.Contains(e.Entry.URL, "/node/v1/projects") && !strings.Contains(e.Entry.Text, "beforeunload") {
				p.Said = append(p.Said, fmt.Sprintf("log: %s %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
			}
		}
	})
	if err != nil {
		svc.T.Fatal(err)
	}
	var session identity.Opened
	svc.Write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, c.Workspace)
		if err != nil {
			return err
		}
		token, err := identity.CreateSignInLink(ctx, tx, emails[0])
		if err == nil {
			session, err = identity.SignIn(ctx, tx, token, "")
		}
		return err
	})
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, network.SetCookie, network.SetCookieParams{Name: contract.SessionCookie, Value: session.Token, URL: p.Base, HTTPOnly: new(true)})
		return err
	}))
	return p
}

// Do runs actions of the browser.
func (p *Console) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.T.Helper()
	if err := chromedp.Do(p.Tab, actions...); err != nil {
		p.T.Fatal(err)
	}
}

// Open opens a page by its path.
func (p *Console) Open(path string) {
	p.T.Helper()
	p.Do(chromedp.Navigate(p.Base + path))
}

// Until waits until an expression on the page holds, on any page that is open by
// then.
func (p *Console) Until(what, expression string) {
	p.T.Helper()
	for end := time.Now().Add(await.Patience); time.Now().Before(end); {
		holds, err := chromedp.Run(p.Tab, chromedp.Evaluate[bool](expression, func(e *runtime.EvaluateParams) { e.AwaitPromise = new(true) }))
		if err == nil && holds {
			return
		}
		// A page that is on its way to another one answers nothing.
		_, _ = chromedp.Run(p.Tab, chromedp.Evaluate[bool](`new Promise(r => setTimeout(() => r(true), 50))`, func(e *runtime.EvaluateParams) { e.AwaitPromise = new(true) }))
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.T.Fatalf("%s: it never holds: %s; the browser says %q", what, Look[string](p.Tab, p.T, "location.href + ' ' + document.visibilityState + ' ' + document.body.innerText"), p.Said)
}

// AsksToBeNotified grants the page of a running job to notify, asks for it with the page's
// button, and hides the page. What is notified then is in the page's variable notified.
func (p *Console) AsksToBeNotified() {
	p.T.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: string(browser.PermissionTypeNotifications)}, Setting: browser.PermissionSettingGranted, Origin: p.Base,
			BrowserContextID: chromedp.FromContext(p.Tab).BrowserContextID,
		})
		return err
	}))
	p.Run(`notified = []; Notification = class extends Notification {
		constructor(title, more) { super(title, more); notified.push(title + ", " + more.body); }
	}; document.querySelector("#tell button").click()`)
	p.Until("the page says that it notifies", `document.querySelector("#tell span").textContent.includes("notifies you")`)
	p.Run(`Object.defineProperty(document, "hidden", {get: () => true}); document.dispatchEvent(new Event("visibilitychange"));
		const now = Date.now; Date.now = () => now() + (later += 60_000); var later = 0`)
}

// Says waits until the page shows a text.
func (p *Console) Says(texts ...string) {
	p.T.Helper()
	for _, text := range texts {
		p.Until("the page says "+text, fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
}

// Run evaluates what leads to another page.
func (p *Console) Run(script string) {
	p.T.Helper()
	if _, err := chromedp.Run(p.Tab, chromedp.Evaluate[any](script+"; undefined")); err != nil {
		p.T.Fatalf("%s: %v", script, err)
	}
}

// chromium is the one browser of a package's stories, which starts when one first asks for a
// tab; Run ends it.
var chromium struct {
	once   sync.Once
	ctx    context.Context
	err    error
	folder string // of its profile
	end    func()
}

func openChromium() {
	if chromium.folder, chromium.err = os.MkdirTemp("", "svc-browser-"); chromium.err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, // it runs as root here, on pages of our own
		chromedp.UserDataDir(chromium.folder))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeTab := chromedp.NewContext(allocated)
	chromium.ctx, chromium.end = ctx, func() { closeTab(); stop() }
	chromium.err = chromedp.Do(ctx)
}

// closeChromium ends the browser, if there is one, and waits for it.
func closeChromium() error {
	if chromium.ctx == nil {
		return os.RemoveAll(chromium.folder)
	}
	err := chromedp.Cancel(chromium.ctx)
	chromium.end()
	return errors.Join(err, os.RemoveAll(chromium.folder))
}

// Browse gives a tab of a real Chromium, with cookies, storage and permissions of its own. A
// machine without one fails the test: scripts/install-tools chromium.
func Browse(t *testing.T) context.Context {
	t.Helper()
	chromium.once.Do(openChromium)
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	whole, cancel := context.WithTimeout(chromium.ctx, 4*await.Patience) // many pages
	context.AfterFunc(t.Context(), cancel)                               // before what the story serves to the tab ends
	tab, closeTab := chromedp.NewContext(whole, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	return tab
}

// Look gives the value of an expression on the open page.
func Look[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}
