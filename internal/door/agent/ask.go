package agent

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
)

// asking is an input whose call a person is asked about first, where the client can ask one
// (MCP elicitation). Elsewhere the tool's own rule holds: legal_acceptance is never filled
// in for an agent, and it must be the person's word.
type asking interface {
	// question returns the question for the person; "" if there is none. The call
	// itself reports its errors.
	question(ctx context.Context, s *server) (string, error)
}

// answerName is the name of the one question that a call asks.
const answerName = "consent"

// question asks for the price that would be spent. A quote that a job has accepted spends
// nothing more.
func (in startIn) question(ctx context.Context, s *server) (text string, err error) {
	err = s.DB.Write(ctx, func(tx *db.Tx) error {
		q, err := quote.Take(ctx, tx, callerOf(ctx).WorkspaceID, string(in.UploadID), string(in.QuoteID))
		if err != nil || q.JobID != "" {
			return err
		}
		name, _ := escapeText(q.Filename, longName)
		text = fmt.Sprintf("Render %s of \"%s\" for %s? The price is set aside now and charged when all frames are there. Yes accepts the terms: %s",
			framesOf(q.FrameCount), name, wallet.Money(q.PriceCents), s.Links.Terms())
		return nil
	})
	return text, err
}

// ask returns the question that a call has to wait for; nil when it can continue, because
// the person has said yes, or because this client cannot ask. Error: price_not_accepted
// for a no.
func (s *server) ask(ctx context.Context, in any, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a, asks := in.(asking)
	if !asks || !canAsk(req) {
		return nil, nil
	}
	if said, is := req.Params.InputResponses[answerName].(*mcp.ElicitResult); is {
		if said.Action != "accept" {
			return nil, fault.New(fault.PriceNotAccepted, "The person did not agree to the price.").
				WithAction("Start nothing. Ask the person what they want instead, such as fewer frames.")
		}
		return nil, nil
	}
	text, err := a.question(ctx, s)
	if err != nil || text == "" {
		return nil, nil // the call itself says what is wrong
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{answerName: &mcp.ElicitParams{
		Message: text, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}}}, nil
}

// canAsk reports whether the client can ask a person while a call waits. Without a session,
// only the protocol of 2026-07-28 has a way for it: the client calls again with the answer.
func canAsk(req *mcp.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && req.ProtocolVersion() >= askVersion
}

// askVersion is the protocol version from which on a result can be a question.
const askVersion = "2026-07-28"
