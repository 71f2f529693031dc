package agent_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/wallet"
)

// TestAPersonIsAskedForThePriceWhereTheClientCanAsk: an agent that says that its person
// agrees does not speak for them where they can be asked.
func TestAPersonIsAskedForThePriceWhereTheClientCanAsk(t *testing.T) {
	each(t, func(t *testing.T, svc *service) {
		var says atomic.Value
		var asked atomic.Int64
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked.Add(1)
				if text := r.Params.Message; !strings.Contains(text, "2 frames") || !strings.Contains(text, "$0.02") || !strings.Contains(text, svc.base+"/terms") {
					t.Errorf("the question is %q", text)
				}
				return &mcp.ElicitResult{Action: says.Load().(string)}, nil
			},
		}).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: svc.base + "/mcp", HTTPClient: &http.Client{Transport: bearer{svc.agent}}, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		c := newClient(t, session)
		quoted := c.call("svc_quote", map[string]any{"upload_id": svc.scene().UploadID, "frame_start": 1, "frame_end": 2})
		start := terms(quoted.at("upload_id"), quoted.at("quote.quote_id"))
		for _, no := range []string{"decline", "cancel"} {
			says.Store(no)
			a := c.call("svc_start", start)
			a.wantRefusal("price_not_accepted")
			a.want("next_tool", nil)
		}
		if b := svc.balance(); b.ReservedCents != 0 {
			t.Fatalf("after a no, %d cents are reserved", b.ReservedCents)
		}
		says.Store("accept")
		first := c.call("svc_start", start)
		first.want("next_tool", "svc_status")
		if asked.Load() != 3 {
			t.Errorf("the person was asked %d times", asked.Load())
		}
		// Nothing more is spent, so the person is not asked; nor by a client that
		// cannot ask.
		c.call("svc_start", start).want("job_id", first.at("job_id"))
		svc.client(svc.agent).call("svc_start", start).want("job_id", first.at("job_id"))
		if asked.Load() != 3 || svc.balance().ReservedCents != 2 {
			t.Errorf("asked %d times, %d cents are reserved", asked.Load(), svc.balance().ReservedCents)
		}
	})
}

// TestAPersonIsShownWhereToAddCreditWhereTheClientCanOpenAPage, and is asked to agree to the
// price when the wallet covers it.
func TestAPersonIsShownWhereToAddCreditWhereTheClientCanOpenAPage(t *testing.T) {
	each(t, func(t *testing.T, svc *service) {
		var pays atomic.Bool
		var asked []string
		connect := func(can *mcp.ElicitationCapabilities) *client {
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				Capabilities: &mcp.ClientCapabilities{Elicitation: can},
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					if r.Params.URL == "" {
						asked = append(asked, "consent")
						return &mcp.ElicitResult{Action: "accept"}, nil
					}
					asked = append(asked, "credit")
					if text := r.Params.Message; r.Params.URL != svc.base+"/console/wallet" || !strings.Contains(text, "costs $1.03, and the wallet lacks $0.03.") {
						t.Errorf("of %s it says %q", r.Params.URL, text)
					}
					if !pays.Load() {
						return &mcp.ElicitResult{Action: "decline"}, nil
					}
					svc.write(func(ctx context.Context, tx *db.Tx) error {
						return wallet.Credit(ctx, tx, svc.workspace, "a payment of "+svc.workspace, 3)
					})
					return &mcp.ElicitResult{Action: "accept"}, nil
				},
			}).Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: svc.base + "/mcp", HTTPClient: &http.Client{Transport: bearer{svc.agent}}, DisableStandaloneSSE: true,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = session.Close() })
			return newClient(t, session)
		}
		form, page := &mcp.FormElicitationCapabilities{}, &mcp.URLElicitationCapabilities{}
		q := svc.client(svc.agent).call("svc_quote", map[string]any{"upload_id": svc.scene().UploadID, "frame_start": 1, "frame_end": credit + 3})
		start := terms(q.at("upload_id"), q.at("quote.quote_id"))
		for _, c := range []struct {
			can  *mcp.ElicitationCapabilities
			pays bool
			want string
		}{
			{&mcp.ElicitationCapabilities{Form: form}, false, ""},
			{&mcp.ElicitationCapabilities{Form: form, URL: page}, false, "credit"},
			{&mcp.ElicitationCapabilities{URL: page}, false, "credit"},
		} {
			asked = nil
			connect(c.can).call("svc_start", start).wantRefusal("insufficient_funds")
			if said := strings.Join(asked, ", "); said != c.want {
				t.Errorf("a client that can %+v asks %q", c.can, said)
			}
		}
		asked = nil
		pays.Store(true)
		connect(&mcp.ElicitationCapabilities{Form: form, URL: page}).call("svc_start", start).want("status", "queued")
		if said := strings.Join(asked, ", "); said != "credit, consent" || svc.balance().ReservedCents != credit+3 {
			t.Errorf("with credit it asks %q, %d cents are reserved", said, svc.balance().ReservedCents)
		}
	})
}

// TestAStartSaysThatTheWalletRunsLow, once and in the answer that spends.
func TestAStartSaysThatTheWalletRunsLow(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		upload := svc.scene().UploadID
		order := func(frames int) answer {
			q := c.call("svc_quote", map[string]any{"upload_id": upload, "frame_start": 1, "frame_end": frames})
			return c.call("svc_start", terms(upload, q.at("quote.quote_id")))
		}
		const low = "left in the wallet"
		if a := order(credit / 2); strings.Contains(a.text, low) {
			svc.t.Errorf("it covers another one, and says %q", a.text)
		}
		if a := order(credit/2 - 10); !strings.Contains(a.text, "$0.10 are "+low) {
			svc.t.Errorf("it says %q", a.text)
		}
		res, err := http.NewRequestWithContext(svc.t.Context(), http.MethodGet, svc.base+"/v1/wallet", nil)
		if err != nil {
			svc.t.Fatal(err)
		}
		answered, err := (&http.Client{Transport: bearer{svc.agent}}).Do(res)
		if err != nil {
			svc.t.Fatal(err)
		}
		body := read(svc.t, answered)
		if !strings.Contains(body, `"low_balance":{"required_cents":40,"available_cents":10}`) || !strings.Contains(body, `"alert_below_cents":null`) {
			svc.t.Errorf("the wallet is %s", body)
		}
	})
}
