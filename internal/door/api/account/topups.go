package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/payment"
)

// topUpsPath is the address of the list of top-ups.
const topUpsPath = "/v1/wallet/top-ups"

// topUpInput begins a top-up.
type topUpInput struct {
	Body struct {
		AmountCents int64 `json:"amount_cents" minimum:"500" maximum:"100000" doc:"What the wallet gets, in US cents. Tax, where there is one, comes on top."`
	}
}

// TopUp is a payment into a wallet. It is exported because huma leaves out the members of
// embedded types that are not.
type TopUp struct {
	TopUpID     string         `json:"top_up_id" pattern:"^TOP-[0-9a-f]{32}$"`
	Status      payment.Status `json:"status" enum:"created,open,paid,failed,expired,refunded,disputed" doc:"The wallet has the money from paid on."`
	AmountCents int64          `json:"amount_cents" minimum:"1"`
	Currency    string         `json:"currency" const:"USD"`
	CheckoutURL *string        `json:"checkout_url" doc:"The page of the payment provider where a person pays; null unless the status is open."`
	ReceiptURL  *string        `json:"receipt_url" doc:"The provider's invoice or receipt; null until it is paid."`
	CreatedAt   time.Time      `json:"created_at"`
	PaidAt      *time.Time     `json:"paid_at" doc:"When the wallet got it; null until then."`
}

type topUpOutput struct {
	Body struct {
		OK bool `json:"ok" const:"true"`
		TopUp
	}
}

type topUpPath struct {
	TopUpID string `path:"top_up_id" maxLength:"64"`
}

// topUpsInput selects a page of the top-ups.
type topUpsInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Before string `query:"before" pattern:"^TOP-[0-9a-f]{32}$" doc:"Top-up id; the page starts after it. The Link header contains it."`
}

type topUpsOutput struct {
	Link string `header:"Link" doc:"The next page, rel=next; absent on the last one."`
	Body struct {
		OK     bool    `json:"ok" const:"true"`
		TopUps []TopUp `json:"top_ups" nullable:"false" doc:"Newest first."`
	}
}

// eventInput is an event of the payment provider. Only its signature is believed.
type eventInput struct {
	Signature string `header:"Stripe-Signature" maxLength:"2048" doc:"When the event was signed, and its HMAC-SHA256 with a secret of the endpoint."`
	RawBody   []byte `contentType:"application/json"`
}

type eventOutput struct {
	Body struct {
		OK bool `json:"ok" const:"true"`
	}
}

func shownTopUp(t payment.TopUp) TopUp {
	b := TopUp{TopUpID: t.ID, Status: t.Status, AmountCents: t.AmountCents, Currency: contract.Currency, CreatedAt: t.CreatedAt}
	if t.CheckoutURL != "" {
		b.CheckoutURL = &t.CheckoutURL
	}
	if t.ReceiptURL != "" {
		b.ReceiptURL = &t.ReceiptURL
	}
	if !t.PaidAt.IsZero() {
		b.PaidAt = &t.PaidAt
	}
	return b
}

// ofMoney is an operation on payments and invoices. Agent keys cannot use them: the program
// that spends must not be the one that pays.
func (s *Server) ofMoney(id, method, path, summary string) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Tags: []string{"Workspace"}, Summary: summary, MaxBodyBytes: contract.MaxJSONBodyBytes,
		Security:    []map[string][]string{{operation.AccountScheme: {}}, {operation.SessionScheme: {}}},
		Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKeyOrSession()},
	}
}

// topUps registers the routes of payments into the wallet.
func (s *Server) topUps(api huma.API) {
	huma.Register(api, s.ofMoney("createTopUp", http.MethodPost, topUpsPath, "Begin a payment into the wallet"), func(ctx context.Context, in *topUpInput) (*topUpOutput, error) {
		made, err := s.Payments.Create(ctx, operation.Caller(ctx), in.Body.AmountCents)
		out := &topUpOutput{}
		out.Body.OK, out.Body.TopUp = true, shownTopUp(made)
		return out, err
	})
	huma.Register(api, s.ofMoney("listTopUps", http.MethodGet, topUpsPath, "The workspace's payments, newest first"), s.listTopUps)
	huma.Register(api, s.ofMoney("getTopUp", http.MethodGet, topUpsPath+"/{top_up_id}", "Where a payment stands"), func(ctx context.Context, in *topUpPath) (*topUpOutput, error) {
		out := &topUpOutput{}
		return out, s.DB.Read(ctx, func(tx *db.Tx) error {
			found, err := payment.Get(ctx, tx, operation.Caller(ctx).WorkspaceID, in.TopUpID)
			out.Body.OK, out.Body.TopUp = true, shownTopUp(found)
			return err
		})
	})
	huma.Register(api, huma.Operation{
		OperationID: "receiveStripeEvent", Method: http.MethodPost, Path: links.StripePath, Tags: []string{"Workspace"}, Summary: "Events of the payment provider",
		Description:  "For Stripe alone. An event makes the service read the present state of the payment; nothing else of it is believed.",
		MaxBodyBytes: payment.MaxEventBytes, SkipValidateBody: true, Middlewares: huma.Middlewares{operation.KeepRequestID},
	}, func(ctx context.Context, in *eventInput) (*eventOutput, error) {
		out := &eventOutput{}
		out.Body.OK = true
		return out, s.Payments.Ring(ctx, in.RawBody, in.Signature)
	})
	body := api.OpenAPI().Paths[links.StripePath].Post.RequestBody.Content["application/json"]
	body.Schema = &huma.Schema{Type: huma.TypeObject, Description: "An event, as Stripe's reference describes it.", AdditionalProperties: true}
}

func (s *Server) listTopUps(ctx context.Context, in *topUpsInput) (*topUpsOutput, error) {
	out := &topUpsOutput{}
	out.Body.OK, out.Body.TopUps = true, []TopUp{}
	err := s.DB.Read(ctx, func(tx *db.Tx) error {
		found, err := payment.List(ctx, tx, operation.Caller(ctx).WorkspaceID, in.Before, in.Limit+1)
		if len(found) > in.Limit {
			found = found[:in.Limit]
			out.Link = operation.NextPage(s.Links, topUpsPath, found[in.Limit-1].ID, in.Limit, nil)
		}
		for _, t := range found {
			out.Body.TopUps = append(out.Body.TopUps, shownTopUp(t))
		}
		return err
	})
	return out, err
}
