package story_test

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
func (svc *service) connectAs(h *hosted, ask func(address string) error) session {
	svc.t.Helper()
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
		svc.t.Fatal(err)
	}
	return connect(svc.t, &mcp.StreamableClientTransport{Endpoint: svc.url + "/mcp", OAuthHandler: handler, DisableStandaloneSSE: true})
}

// ring delivers the events of a payment provider that wait.
func (svc *service) ring(p *stripetest.Provider) {
	svc.t.Helper()
	for _, e := range p.Events() {
		r, err := http.NewRequestWithContext(patient(svc.t), http.MethodPost, svc.url+"/v1/payments/stripe", bytes.NewReader(e.Body))
		if err != nil {
			svc.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Stripe-Signature", stripetest.Sign(e.Body, stripetest.Secret, time.Now()))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			svc.t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			svc.t.Fatalf("the event %s: %d", e.Type, res.StatusCode)
		}
	}
}

// TestFromAnEmptyWalletToAFrameByAnAgentThatSignsIn is the whole way, with a real browser
// and a real Blender: a person pays, an agent that knows one address asks to be let in, the
// person reads who asks and chooses what it may spend, the agent renders, the person sees
// what it spent and ends it.
func TestFromAnEmptyWalletToAFrameByAnAgentThatSignsIn(t *testing.T) {
	t.Parallel()
	path := realBlender(t)
	provider, program := stripetest.New(t), newHosted(t)
	svc := start(t, app.Config{
		Listen: freeAddress(t), Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: logOf(t), Programs: program.guard,
		Stripe: &app.Stripe{Key: stripetest.Key, Secrets: []string{stripetest.Secret}, URL: provider.URL},
	})
	svc.worker(worker.Blender{Path: path}, onCPU)
	began := time.Now()
	c := svc.caller(0)
	p := svc.console(c)

	p.open("/console/wallet")
	p.says("Add credit", "$0.00")
	p.run(`document.querySelector("[name=amount]").value = "5"; document.querySelector("form[action$='/top-ups'] button").click()`)
	p.says("$5.00 to pay")
	topUp := provider.Newest()
	if err := provider.Pay(topUp); err != nil {
		t.Fatal(err)
	}
	svc.ring(provider)
	p.open("/console/wallet?top_up=" + topUp)
	p.says("The payment of $5.00: Paid", "Receipt")
	p.until("the invoice is linked", `document.querySelector("a[href^='https://invoice.stripe.com/']") !== null`)

	asked, gone := 0, false
	host := strings.TrimPrefix(strings.TrimSuffix(program.id, "/client.json"), "https://")
	s := svc.connectAs(program, func(address string) error {
		if asked++; gone {
			return errors.New("the person lets nobody in any more")
		}
		p.open(strings.TrimPrefix(address, svc.url))
		p.says("Let this program in?", host, "“Assistant”, which nobody verifies", "Start renders, which spend money", "Limit a month")
		p.run(`document.querySelector("[name=limit]").value = "2.50"; document.querySelector("button[value=allow]").click()`)
		return nil
	})
	artist := &artist{t: t, blender: path, path: filepath.Join(t.TempDir(), demo.Filename), budget: 2}
	scene, err := quickScene()
	if err == nil {
		err = os.WriteFile(artist.path, scene, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "a worker", func() bool { // without one the agent decides without a look
		can, err := c.Capabilities(patient(t))
		return err == nil && can.Availability.QueueState != "no_workers"
	})
	a := newScripted(s, artist)
	a.run()
	if asked != 1 || a.end["charged_cents"] != 2.0 || a.end["render_device"] != "CPU" || len(artist.seen) != 1 {
		t.Fatalf("the person was asked %d times and saw %d pictures; it ended with %v", asked, len(artist.seen), a.end)
	}
	wantPictures(t, a.zip, 2, 96, 54)
	a.verifyOffline(a.end, a.zip)

	p.open("/console/keys")
	p.says("Assistant", "$0.02 of $2.50")
	p.run(`[...document.querySelectorAll("tr")].find(r => r.innerText.includes("Assistant")).querySelector("form[action$='/revoke'] button").click()`)
	p.until("the key has ended", `![...document.querySelectorAll("tr")].some(r => r.innerText.includes("$0.02 of $2.50") && r.querySelector("form[action$='/revoke']"))`)
	gone = true
	if _, err := s.CallTool(patient(t), &mcp.CallToolParams{Name: "svc_inspect"}); err == nil || asked != 2 {
		t.Errorf("after its end it is asked for %d times, and called: %v", asked, err)
	}
	p.open("/console/wallet")
	p.says("$4.98", "Paid for a completed job")
	svc.wantMoney(p.workspace, 498, wallet.TopUp, wallet.Reserved, wallet.Captured)
	found, err := svc.app.Reconcile(t.Context(), began.Add(-time.Minute), time.Now().Add(time.Minute))
	if err != nil || len(found.Differences) > 0 || found.PaidCents != 500 {
		t.Errorf("the books and the provider: %+v, %v", found, err)
	}
	for _, said := range p.said {
		t.Errorf("the browser says %q", said)
	}
}
