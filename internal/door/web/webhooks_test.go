package web_test

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// called is what a receiver got.
type called struct {
	header http.Header
	body   []byte
}

// receiver is a customer's HTTPS server, which answers as it is told.
type receiver struct {
	*httptest.Server
	status atomic.Int64
	calls  chan called
}

func newReceiver(t *testing.T) (*receiver, *x509.CertPool) {
	t.Helper()
	r := &receiver{calls: make(chan called, 100)}
	r.status.Store(http.StatusOK)
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		status := int(r.status.Load())
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "answered by the receiver: "+http.StatusText(status))
		select {
		case r.calls <- called{q.Header, body}:
		default: // waiting here would keep the server from closing, for good
			t.Errorf("more than %d unread calls", cap(r.calls))
		}
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	roots := x509.NewCertPool()
	roots.AddCert(r.Certificate())
	return r, roots
}

// until loads the page again until an expression on it holds.
func until(ctx context.Context, t *testing.T, expression string) {
	t.Helper()
	for end := time.Now().Add(await.Patience); time.Now().Before(end); {
		if look[bool](ctx, t, expression) {
			return
		}
		if err := chromedp.Do(ctx, chromedp.Reload()); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("it never holds: %s, on %s", expression, look[string](ctx, t, "document.body.innerText"))
}

// press clicks a button that leads to another page, and waits for it.
func press(ctx context.Context, t *testing.T, selector string) (text string) {
	t.Helper()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		t.Fatalf("press %s: %v", selector, err)
	}
	return look[string](ctx, t, "document.querySelector('main, body').innerText")
}

func says(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("the page does not say %q: %s", want, text)
	}
}

// signedIn makes a person and has the browser sign in by their link's button, which leads
// back to the page that was asked for.
func (svc *site) signedIn(tab context.Context, email string) (workspaceID string) {
	svc.t.Helper()
	var token string
	err := svc.app.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
		p, err := identity.CreateWorkspace(context.Background(), tx, email)
		if err == nil {
			token, err = identity.CreateSignInLink(context.Background(), tx, email)
		}
		workspaceID = p.WorkspaceID
		return err
	})
	if err != nil {
		svc.t.Fatal(err)
	}
	if err := chromedp.Do(tab, chromedp.Navigate(svc.base+"/v1/auth/callback?token="+token)); err != nil {
		svc.t.Fatal(err)
	}
	says(svc.t, press(tab, svc.t, "main button"), "This workspace has no endpoints yet")
	svc.signed = true
	return workspaceID
}

// endJob publishes the end of a job of a workspace.
func (svc *site) endJob(workspaceID string) {
	svc.t.Helper()
	err := svc.app.DB.Write(context.Background(), func(tx *db.Tx) error {
		return webhook.Publish(context.Background(), tx, webhook.Event{WorkspaceID: workspaceID, JobID: id.New(id.Job), Type: contract.EventCompleted, Data: struct{}{}})
	})
	if err != nil {
		svc.t.Fatal(err)
	}
}

// TestAPersonManagesWebhooksInABrowser does all that the page offers, with a real
// browser and a real receiver.
func TestAPersonManagesWebhooksInABrowser(t *testing.T) {
	t.Parallel()
	tab, complaints := browse(t)
	r, roots := newReceiver(t)
	started, base := apptest.Start(t, app.Config{
		Webhooks: outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots},
	})
	svc := &site{t: t, base: base, app: started}
	for _, s := range screens() {
		svc.inspect(tab, s, "missing-session", webhook.ConsolePage, complaints)
	}
	if err := chromedp.Do(tab, chromedp.SendKeys(chromedp.CSS("[name=email]"), "you@example.com")); err != nil {
		t.Fatal(err)
	}
	says(t, press(tab, t, "main button"), "If you@example.com can receive mail, a link is on its way")

	workspaceID := svc.signedIn(tab, "owner@example.com")
	svc.inspect(tab, screens()[0], "webhooks-empty", webhook.ConsolePage, complaints)
	add := func(address string) string {
		if err := chromedp.Do(tab, chromedp.SetValue(chromedp.CSS("[name=url]"), address), chromedp.SetValue(chromedp.CSS("[name=description]"), "Render farm")); err != nil {
			t.Fatal(err)
		}
		return press(tab, t, "form.fields button")
	}
	says(t, add("https://10.0.0.1/svc"), "The webhook URL is not allowed")
	complaints() // a browser logs every 400
	says(t, add(r.URL), "shown only once")
	keep(tab, t, "webhooks-secret")
	secret := look[string](tab, t, "document.querySelector('.secret pre').innerText.trim()")
	says(t, press(tab, t, ".secret a"), "Nothing has been sent to this endpoint yet")
	if strings.Contains(look[string](tab, t, "document.documentElement.outerHTML"), secret) {
		t.Error("the secret is shown again")
	}

	says(t, press(tab, t, "form[action$='/test'] button"), "A test event is on its way")
	call := await.Next(t, r.calls, "a call")
	signer, err := standardwebhooks.NewWebhook(secret)
	if err == nil {
		err = signer.Verify(call.body, call.header)
	}
	if err != nil {
		t.Errorf("with the secret %q that was shown: %v", secret, err)
	}
	until(tab, t, "document.querySelector('td .state.delivered') !== null && document.body.innerText.includes(' ms')")

	r.status.Store(http.StatusInternalServerError)
	svc.endJob(workspaceID)
	await.Next(t, r.calls, "a call")
	until(tab, t, "document.querySelector('p .state.failing') !== null && document.querySelector('td .state.pending') !== null")
	says(t, look[string](tab, t, "document.body.innerText"), "fix the receiver")
	says(t, look[string](tab, t, "document.body.textContent"), "answered by the receiver: Internal Server Error")
	says(t, look[string](tab, t, "document.body.innerText"), "next attempt")
	for _, s := range screens() {
		svc.inspect(tab, s, "webhooks", webhook.ConsolePage, complaints)
	}
	r.status.Store(http.StatusOK)
	says(t, press(tab, t, "form[action*='/deliveries/'] button"), "The delivery is being sent again")
	await.Next(t, r.calls, "a call")
	until(tab, t, "document.querySelector('p .state.active') !== null && document.querySelectorAll('td .state.delivered').length === 2")

	says(t, press(tab, t, "form[action$='/rotate'] button"), "The previous secret also signs until")
	if fresh := look[string](tab, t, "document.querySelector('.secret pre').innerText.trim()"); fresh == secret || !strings.HasPrefix(fresh, contract.WebhookSecretPrefix) {
		t.Errorf("the new secret is %q", fresh)
	}
	says(t, press(tab, t, "form[action$='/disable'] button"), "Disabled by you on")
	svc.endJob(workspaceID) // missed
	says(t, press(tab, t, "form[action$='/enable'] button"), "each job that ends from now on")
	says(t, press(tab, t, "form[action$='/redeliver'] button"), "Deliveries to resend: 1.")
	await.Next(t, r.calls, "a call")

	r.status.Store(http.StatusGone)
	press(tab, t, "form[action$='/test'] button")
	await.Next(t, r.calls, "a call")
	until(tab, t, "document.body.innerText.includes('410 Gone')")
	for _, s := range screens() {
		svc.inspect(tab, s, "webhooks-gone", webhook.ConsolePage, complaints)
	}
	address := strings.Replace(r.URL, "127.0.0.1", "127.0.0.2", 1)
	if err := chromedp.Do(tab, chromedp.Click(chromedp.CSS(".endpoint details.edit summary")), chromedp.SetValue(chromedp.CSS("form[action$='/change'] [name=url]"), address)); err != nil {
		t.Fatal(err)
	}
	says(t, press(tab, t, "form[action$='/change'] button"), address)
	if err := chromedp.Do(tab, chromedp.Click(chromedp.CSS(".endpoint details.edit summary"))); err != nil {
		t.Fatal(err)
	}
	says(t, press(tab, t, "form[action$='/delete'] button"), "This workspace has no endpoints yet")
	says(t, press(tab, t, ".who button"), "Render a scene")
}

// TestAFormOfAnotherSiteDoesNothing sends the person's cookie from elsewhere.
func TestAFormOfAnotherSiteDoesNothing(t *testing.T) {
	t.Parallel()
	svc := shared(t)
	signIn := func(email string) (session identity.Opened) {
		t.Helper()
		err := svc.app.DB.Write(t.Context(), func(tx *db.Tx) error {
			token, err := identity.CreateSignInLink(t.Context(), tx, email)
			if err == nil {
				session, err = identity.SignIn(t.Context(), tx, token, "")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	session, other := signIn("owner@example.com"), signIn("other@example.com")
	post := func(path, site, cookie string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, svc.base+path, strings.NewReader("url=https://1.1.1.1/&email=a@example.com"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", site)
		if cookie != "" {
			r.AddCookie(&http.Cookie{Name: contract.SessionCookie, Value: cookie})
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, path := range []string{webhook.ConsolePage, webhook.ConsolePage + "/WHE-x/test", webhook.ConsolePage + "/WHE-x/deliveries/WHD-x", "/console/sign-in", "/console/sign-out"} {
		if status := post(path, "cross-site", session.Token); status != http.StatusForbidden {
			t.Errorf("%s from another site: %d", path, status)
		}
	}
	if status := post(webhook.ConsolePage, "same-origin", ""); status != http.StatusUnauthorized {
		t.Errorf("without a session: %d", status)
	}
	if status := post(webhook.ConsolePage, "same-origin", session.Token); status != http.StatusOK {
		t.Errorf("from our own page: %d", status)
	}
	// Another workspace's endpoint is not there.
	if status := post(webhook.ConsolePage, "same-origin", other.Token); status != http.StatusOK {
		t.Errorf("another workspace makes its own: %d", status)
	}
	var theirs []query.WebhookEndpoint
	err := svc.app.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		theirs, err = tx.WebhookEndpointsOf(t.Context(), other.Person.WorkspaceID)
		return err
	})
	if err != nil || len(theirs) != 1 {
		t.Fatalf("it has %d endpoints, %v", len(theirs), err)
	}
	if status := post(webhook.ConsolePage+"/"+theirs[0].EndpointID+"/disable", "same-origin", session.Token); status != http.StatusNotFound {
		t.Errorf("another workspace's endpoint: %d", status)
	}
}
