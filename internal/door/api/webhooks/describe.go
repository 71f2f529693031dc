package webhooks

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/job"
)

// Describe adds the calls that the service makes to a caller's own server to doc, as
// its webhooks. Their examples have URLs built by at.
func Describe(doc *huma.OpenAPI, at links.Links) {
	ended := doc.Components.Schemas.Schema(reflect.TypeFor[job.Object](), true, "")
	tested := &huma.Schema{
		Type: huma.TypeObject, Required: []string{"endpoint_id"},
		Properties: map[string]*huma.Schema{"endpoint_id": {Type: huma.TypeString, Description: "Begins with WHE-."}},
	}
	// No route has this schema, so that generators would drop it from the components and
	// then miss it: it stands in the webhook itself.
	low := doc.Components.Schemas.Schema(reflect.TypeFor[alert.WalletLow](), false, "")
	delete(doc.Components.Schemas.Map(), "WalletLow")
	low.AdditionalProperties = nil
	doc.Webhooks = map[string]*huma.PathItem{
		contract.EventCompleted: {Post: call(contract.EventCompleted, "renderCompleted", "A job is completed", ended, sample.Job(at, job.FlowJobAPI, job.Completed))},
		contract.EventFailed:    {Post: call(contract.EventFailed, "renderFailed", "A job has failed", ended, sample.Job(at, job.FlowJobAPI, job.Failed))},
		contract.EventCancelled: {Post: call(contract.EventCancelled, "renderCancelled", "A job is cancelled", ended, sample.Job(at, job.FlowJobAPI, job.Cancelled))},
		contract.EventWalletLow: {Post: call(contract.EventWalletLow, "walletLow", "The wallet runs low", low, alert.WalletLow{WorkspaceID: sample.WorkspaceID, AvailableCents: 180, BelowCents: 500, Currency: contract.Currency})},
		contract.EventTest:      {Post: call(contract.EventTest, "webhookTest", "You asked for a test", tested, map[string]string{"endpoint_id": exampleEndpoint})},
	}
}

// call describes the call of one event: what it carries, and what its receiver's
// answer does.
func call(event, id, summary string, data *huma.Schema, example any) *huma.Operation {
	text := func(name, doc, pattern string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: doc, Schema: &huma.Schema{Type: huma.TypeString, Pattern: pattern}}
	}
	answer := func(doc string) *huma.Response { return &huma.Response{Description: doc} }
	return &huma.Operation{
		OperationID: id, Method: http.MethodPost, Tags: []string{"Webhooks"}, Summary: summary,
		Description: "Signed by the rules of Standard Webhooks. An event can arrive twice: its webhook-id is then the same.",
		Security:    []map[string][]string{}, // the signature is the proof
		Parameters: []*huma.Param{
			text(standardwebhooks.HeaderWebhookID, "The event; equal over all tries.", "^msg_[0-9a-f]{32}$"),
			text(standardwebhooks.HeaderWebhookTimestamp, "When this try was made, in seconds since 1970.", "^[0-9]+$"),
			text(standardwebhooks.HeaderWebhookSignature, "HMAC-SHA256 over id.timestamp.body in base64; one for each secret that is valid, separated by spaces.", "^v1,[0-9A-Za-z+/=]+( v1,[0-9A-Za-z+/=]+)*$"),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {
			Schema: &huma.Schema{
				Type: huma.TypeObject, Required: []string{"type", "timestamp", "data"},
				Properties: map[string]*huma.Schema{
					"type":      {Type: huma.TypeString, Enum: []any{event}},
					"timestamp": {Type: huma.TypeString, Format: "date-time", Description: "When it happened."},
					"data":      data,
				},
			},
			Example: map[string]any{"type": event, "timestamp": sample.Time(0), "data": example},
		}}},
		Responses: map[string]*huma.Response{
			"2XX":     answer("The event is taken."),
			"410":     answer("No more is sent; an endpoint of the workspace is disabled."),
			"default": answer("Anything else, a redirect too, or no answer within 15 seconds: it is tried again, up to nine times over three days. Retry-After is honoured."),
		},
	}
}
