package clients_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// hosted is a program elsewhere that people let into their workspaces: it has a
// description, and addresses for answers on this computer.
type hosted struct {
	id      string // the address of its description
	answers chan url.Values
	back    string // where answers go, unless to mcp-remote's own listener
	guard   outbound.Config
}

func newHosted(t *testing.T) *hosted {
	t.Helper()
	h := &hosted{answers: make(chan url.Values, 1)}
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			h.answers <- r.URL.Query()
		}
		_, _ = fmt.Fprint(w, "Go on in the program.") // a failed write means that the browser is gone
	}))
	t.Cleanup(back.Close)
	h.back = back.URL + "/back"
	described := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"client_id": h.id, "client_name": "Assistant", "redirect_uris": []string{h.back, "http://localhost/oauth/callback"}})
	}))
	t.Cleanup(described.Close)
	h.id = described.URL + "/client.json"
	roots := x509.NewCertPool()
	roots.AddCert(described.Certificate())
	h.guard = outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots}
	return h
}

// connectAs connects the protocol's Go client to the tools, from nothing but their address:
// it discovers the rest, and asks by has the person open an address in their browser.
func connectAs(svc *story.Service, h *hosted, ask func(address string) error) story.Session {
	svc.T.Helper()
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: h.id}, RedirectURL: h.back,
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if err := ask(a.URL); err != nil {
				return nil, err
			}
			select {
			case q := <-h.answers:
				return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(await.Patience):
				return nil, errors.New("no answer came back")
			}
		},
	})
	if err != nil {
		svc.T.Fatal(err)
	}
	return story.Connect(svc.T, &mcp.StreamableClientTransport{Endpoint: svc.URL + "/mcp", OAuthHandler: handler, DisableStandaloneSSE: true})
}

// ring delivers the events of a payment provider that wait.
func ring(svc *story.Service, p *stripetest.Provider) {
	svc.T.Helper()
	for _, e := range p.Events() {
		r, err := http.NewRequestWithContext(story.Patient(svc.T), http.MethodPost, svc.URL+"/v1/payments/stripe", bytes.NewReader(e.Body))
		if err != nil {
			svc.T.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Stripe-Signature", stripetest.Sign(e.Body, stripetest.Secret, time.Now()))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			svc.T.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			svc.T.Fatalf("the event %s: %d", e.Type, res.StatusCode)
		}
	}
}

// TestFromAnEmptyWalletToAFrameByAnAgentThatSignsIn is the whole way, with a real browser
// and a real Blender: a person pays, an agent that knows one address asks to be let in, the
// person reads who asks and chooses what it may spend, the agent renders, the person sees
// what it spent and ends it.
func TestFromAnEmptyWalletToAFrameByAnAgentThatSignsIn(t *testing.T) {
	t.Parallel()
	path := story.RealBlender(t)
	provider, program := stripetest.New(t), newHosted(t)
	svc := story.Start(t, app.Config{
		Listen: story.FreeAddress(t), Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t), Programs: program.guard,
		Stripe: &app.Stripe{Key: stripetest.Key, Secrets: []string{stripetest.Secret}, URL: provider.URL},
	})
	svc.Worker(worker.Blender{Path: path}, story.OnCPU)
	began := time.Now()
	c := svc.Caller(0)
	p := svc.Console(c)

	p.Open("/console/wallet")
	p.Says("Add credit", "$0.00")
	p.Run(`document.querySelector("[name=amount]").value = "5"; document.querySelector("form[action$='/top-ups'] button").click()`)
	p.Says("$5.00 to pay")
	topUp := provider.Newest()
	if err := provider.Pay(topUp); err != nil {
		t.Fatal(err)
	}
	ring(svc, provider)
	p.Open("/console/wallet?top_up=" + topUp)
	p.Says("The payment of $5.00: Paid", "Receipt")
	p.Until("the invoice is linked", `document.querySelector("a[href^='https://invoice.stripe.com/']") !== null`)

	asked, gone := 0, false
	host := strings.TrimPrefix(strings.TrimSuffix(program.id, "/client.json"), "https://")
	s := connectAs(svc, program, func(address string) error {
		if asked++; gone {
			return errors.New("the person lets no program in any more")
		}
		p.Open(strings.TrimPrefix(address, svc.URL))
		p.Says("Allow this program to use your workspace?", host, "“Assistant”, which nobody verifies", "Start renders, which spend money", "Monthly limit")
		p.Run(`document.querySelector("[name=limit]").value = "2.50"; document.querySelector("button[value=allow]").click()`)
		return nil
	})
	artist := &artist{t: t, blender: path, path: filepath.Join(t.TempDir(), demo.Filename), budget: 2}
	scene, err := story.QuickScene()
	if err == nil {
		err = os.WriteFile(artist.path, scene, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "a worker", func() bool { // without one the agent decides without a look
		can, err := c.Capabilities(story.Patient(t))
		return err == nil && can.Availability.QueueState != "no_workers"
	})
	a := newScripted(s, artist)
	a.run()
	if asked != 1 || a.end["charged_cents"] != 2.0 || a.end["render_device"] != "CPU" || len(artist.seen) != 1 {
		t.Fatalf("the person was asked %d times and saw %d pictures; it ended with %v", asked, len(artist.seen), a.end)
	}
	story.WantPictures(t, a.zip, 2, 96, 54)
	verifyOffline(a.Session, a.end, a.zip)

	p.Open("/console/keys")
	p.Says("Assistant", "$0.02 of $2.50")
	p.Run(`[...document.querySelectorAll("tr")].find(r => r.innerText.includes("Assistant")).querySelector("form[action$='/revoke'] button").click()`)
	p.Until("the key has ended", `![...document.querySelectorAll("tr")].some(r => r.innerText.includes("$0.02 of $2.50") && r.querySelector("form[action$='/revoke']"))`)
	gone = true
	if _, err := s.CallTool(story.Patient(t), &mcp.CallToolParams{Name: "svc_inspect"}); err == nil || asked != 2 {
		t.Errorf("after its end it is asked for %d times, and called: %v", asked, err)
	}
	p.Open("/console/wallet")
	p.Says("$4.98", "Paid for a completed job")
	svc.WantMoney(p.Workspace, 498, wallet.TopUp, wallet.Reserved, wallet.Captured)
	found, err := svc.App.Reconcile(t.Context(), began.Add(-time.Minute), time.Now().Add(time.Minute))
	if err != nil || len(found.Differences) > 0 || found.PaidCents != 500 {
		t.Errorf("the books and the provider: %+v, %v", found, err)
	}
	for _, said := range p.Said {
		t.Errorf("the browser says %q", said)
	}
}
