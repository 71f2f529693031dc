package agent

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
)

// asking is an input whose call a person is asked about first, where the client can ask one
// (MCP elicitation). Elsewhere the tool's own rule holds: legal_acceptance is never filled
// in for an agent, and it must be the person's word.
type asking interface {
	// question returns what the person is asked. The call itself reports its errors.
	question(ctx context.Context, s *server) (question, error)
}

// question is what a person is asked before a call that spends. The zero value asks nothing.
type question struct {
	consent string // asks for the price and the terms
	// credit says what the wallet lacks; "" when it covers the price. Nobody is asked to agree
	// to a price that cannot be paid.
	credit string
}

// Names of the questions that a call asks, one at a time.
const (
	answerName = "consent"
	creditName = "credit"
)

// question asks for the price that would be spent. A quote that a job has accepted spends
// nothing more.
func (in startIn) question(ctx context.Context, s *server) (asked question, err error) {
	workspace := callerOf(ctx).WorkspaceID
	err = s.DB.Write(ctx, func(tx *db.Tx) error {
		q, err := quote.Take(ctx, tx, workspace, string(in.UploadID), string(in.QuoteID))
		if err != nil || q.JobID != "" {
			return err
		}
		balance, err := wallet.Get(ctx, tx, workspace)
		if err != nil {
			return err
		}
		name, _ := escapeText(q.Filename, longName)
		asked.consent = fmt.Sprintf("Render %s of \"%s\" for %s? The price is set aside now and charged when all frames are there. Yes accepts the terms: %s",
			framesOf(q.FrameCount), name, numbers.Dollars(q.PriceCents), s.Links.Terms())
		if missing := q.PriceCents - balance.AvailableCents; missing > 0 {
			asked.credit = fmt.Sprintf("Rendering %s of \"%s\" costs %s, and the wallet lacks %s. Add credit on this page, then return.",
				framesOf(q.FrameCount), name, numbers.Dollars(q.PriceCents), numbers.Dollars(missing))
		}
		return nil
	})
	return asked, err
}

// ask returns the question that a call has to wait for; nil when it can continue, because
// the person has said yes, or because this client cannot ask. Error: price_not_accepted
// for a no.
func (s *server) ask(ctx context.Context, in any, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a, asks := in.(asking)
	form, page := canAsk(req)
	if !asks || !form && !page {
		return nil, nil
	}
	if said, is := req.Params.InputResponses[answerName].(*mcp.ElicitResult); is {
		if said.Action != "accept" {
			return nil, fault.New(fault.PriceNotAccepted, "The person did not agree to the price.").
				WithAction("Start nothing. Ask the person what they want instead, such as fewer frames.")
		}
		return nil, nil
	}
	q, err := a.question(ctx, s)
	if err != nil {
		return nil, nil // the call itself says what is wrong
	}
	_, shown := req.Params.InputResponses[creditName]
	switch {
	case q.credit != "" && page && !shown:
		return onlyAsk(creditName, &mcp.ElicitParams{Mode: "url", Message: q.credit, URL: s.Links.Wallet(), ElicitationID: rand.Text()}), nil
	case q.credit == "" && q.consent != "" && form:
		return onlyAsk(answerName, &mcp.ElicitParams{Message: q.consent, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}), nil
	}
	return nil, nil
}

// onlyAsk is a result that asks one question.
func onlyAsk(name string, asked *mcp.ElicitParams) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{name: asked}}
}

// canAsk reports whether the client can ask a person while a call waits, and whether it can
// open a page for them. Without a session, only the protocol of 2026-07-28 has a way for it:
// the client calls again with the answer.
func canAsk(req *mcp.CallToolRequest) (form, page bool) {
	c := req.ClientCapabilities()
	if c == nil || c.Elicitation == nil || req.ProtocolVersion() < askVersion {
		return false, false
	}
	page = c.Elicitation.URL != nil
	return c.Elicitation.Form != nil || !page, page // a client that names neither has forms
}

// askVersion is the protocol version from which on a result can be a question.
const askVersion = "2026-07-28"
