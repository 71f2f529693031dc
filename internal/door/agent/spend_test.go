package agent_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
)

// terms are the arguments of a start.
func terms(upload, quote any, more ...any) map[string]any {
	a := map[string]any{"upload_id": upload, "quote_id": quote, "legal_acceptance": "SVC_LEGAL_V1"}
	for i := 0; i < len(more); i += 2 {
		a[more[i].(string)] = more[i+1]
	}
	return a
}

func TestNothingIsSpentWithoutAQuoteTwiceOrAboveAMaximum(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		i := svc.scene()
		upload := i.UploadID
		for name, arguments := range map[string]map[string]any{
			"without a quote":   {"upload_id": upload, "legal_acceptance": "SVC_LEGAL_V1"},
			"without the terms": {"upload_id": upload, "quote_id": i.Quote.QuoteID},
			"with other terms":  terms(upload, i.Quote.QuoteID, "legal_acceptance", "yes"),
			"with a price":      terms(upload, i.Quote.QuoteID, "price_cents", 1),
			"with a guess":      terms(upload, "QTE-00000000000000000000000000000000"),
			"with more":         terms(upload, i.Quote.QuoteID, "api_key", "svc_agent_x"),
			"above the maximum": terms(upload, i.Quote.QuoteID, "max_price_cents", i.Quote.PriceCents-1),
			"for nothing":       terms(upload, i.Quote.QuoteID, "max_price_cents", 0),
		} {
			if a := c.call("svc_start", arguments); !a.refused {
				svc.t.Errorf("%s: started %v", name, a.object)
			}
		}
		c.call("svc_start", terms(upload, i.Quote.QuoteID, "max_price_cents", 1)).wantRefusal("price_above_max")
		if b := svc.balance(); b.AvailableCents != credit {
			svc.t.Fatalf("the wallet has %+v before any start", b)
		}
		first := c.call("svc_start", terms(upload, i.Quote.QuoteID, "max_price_cents", i.Quote.PriceCents))
		again := c.call("svc_start", terms(upload, i.Quote.QuoteID))
		again.want("job_id", first.at("job_id"))
		if b := svc.balance(); b.ReservedCents != i.Quote.PriceCents || b.AvailableCents != credit-i.Quote.PriceCents {
			svc.t.Errorf("the wallet has %+v after starting a quote twice", b)
		}
		c.call("svc_inspect", map[string]any{"upload_id": upload}).want("next_tool", "svc_status") // never leads to a second start
	})
}

// TestASpendLimitHoldsOverAllDoorsUnderRace starts many quotes at once by one
// key, half by the tools and half by the Job API.
func TestASpendLimitHoldsOverAllDoorsUnderRace(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		const starts, limit = 100, 7
		most := int64(limit)
		key := svc.key(&most)
		c := svc.client(key)
		upload := svc.scene().UploadID
		quotes := make([]any, starts)
		for i := range quotes {
			quotes[i] = c.call("svc_quote", map[string]any{"upload_id": upload, "frame_start": i + 1, "frame_end": i + 1}).at("quote.quote_id")
		}
		var all sync.WaitGroup
		said := make([]string, starts)
		for i, id := range quotes {
			all.Go(func() {
				if i%2 == 0 {
					if a := c.call("svc_start", terms(upload, id)); a.refused {
						said[i] = fmt.Sprint(a.at("error.code"))
					}
					return
				}
				res, body := svc.post("/node/v1/uploads/"+upload+"/start", key, "application/json", fmt.Sprintf(`{"quote_id":%q,"legal_acceptance":"SVC_LEGAL_V1"}`, id))
				if res.StatusCode != http.StatusOK {
					said[i] = fmt.Sprint(body["error"].(map[string]any)["code"])
				}
			})
		}
		all.Wait()
		started := 0
		for _, code := range said {
			switch code {
			case "":
				started++
			case "spend_limit_reached":
			default:
				svc.t.Errorf("refused with %s", code)
			}
		}
		if b := svc.balance(); started != limit || b.ReservedCents != limit {
			svc.t.Errorf("%d of %d started, %d cents reserved, with a limit of %d", started, starts, b.ReservedCents, limit)
		}
		err := svc.app.DB.Read(svc.t.Context(), func(tx *db.Tx) error {
			keys, err := identity.AgentKeys(svc.t.Context(), tx, svc.workspace)
			for _, k := range keys {
				if k.SpendLimitCents != nil && k.SpentCents != limit || k.SpendLimitCents == nil && k.SpentCents != 0 {
					svc.t.Errorf("the list says that %s has spent %d cents", k.Name, k.SpentCents)
				}
			}
			return err
		})
		if err != nil {
			svc.t.Error(err)
		}
	})
}

func TestAStartIsToldToAWebhook(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		i := svc.scene()
		for _, address := range []string{"https://127.0.0.1/hook", "https://169.254.169.254/hook", "https://user:word@192.0.2.1/"} {
			c.call("svc_start", terms(i.UploadID, i.Quote.QuoteID, "webhook_url", address)).wantRefusal("invalid_webhook_url")
		}
		if b := svc.balance(); b.ReservedCents != 0 {
			svc.t.Fatalf("a refused webhook spent %+v", b)
		}
		start := terms(i.UploadID, i.Quote.QuoteID, "webhook_url", "https://1.1.1.1/hook")
		a := c.call("svc_start", start)
		a.want("webhook_configured", true)
		secret, _ := a.at("webhook_secret").(string)
		if len(secret) < 16 {
			svc.t.Errorf("the secret is %q", secret)
		}
		// The answer may have been lost: the same call returns it again, no other one
		// does.
		c.call("svc_start", start).want("webhook_secret", secret)
		c.call("svc_start", terms(i.UploadID, i.Quote.QuoteID)).want("webhook_secret", nil)
		c.call("svc_start", terms(i.UploadID, i.Quote.QuoteID, "webhook_url", "https://1.1.1.1/other")).want("webhook_secret", nil)
		c.call("svc_status", map[string]any{"job_id": a.at("job_id")}).want("webhook_secret", nil)
	})
}
