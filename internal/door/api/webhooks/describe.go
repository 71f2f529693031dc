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
	"svc.example/internal/work/webhook"
)

// Describe adds the calls that the service makes to a caller's own server to doc, as
// its webhooks, and the types of events to the schema of a delivery. Their examples have
// URLs built by at.
func Describe(doc *huma.OpenAPI, at links.Links) {
	// An example of the data of each event. Its type gives the schema.
	data := map[string]any{
		contract.EventCompleted: ended(at, job.Completed),
		contract.EventFailed:    ended(at, job.Failed),
		contract.EventCancelled: ended(at, job.Cancelled),
		contract.EventWalletLow: alert.WalletLow{WorkspaceID: sample.WorkspaceID, AvailableCents: 180, BelowCents: 500, Currency: contract.Currency},
		contract.EventTest:      webhook.TestOf{EndpointID: exampleEndpoint},
	}
	types := doc.Components.Schemas.Map()["Delivery"].Properties["event_type"]
	doc.Webhooks = map[string]*huma.PathItem{}
	for _, e := range contract.Events() {
		types.Enum = append(types.Enum, e.Type)
		doc.Webhooks[e.Type] = &huma.PathItem{Post: call(e, schemaOf(doc.Components.Schemas, data[e.Type], e.EndsJob), data[e.Type])}
	}
}

// ended is a job as its event has it: it names nobody.
func ended(at links.Links, status job.Status) job.Object {
	o := sample.Job(at, job.FlowJobAPI, status)
	o.StartedBy = nil
	return o
}

// schemaOf describes data by its type. That of a job is shared with the routes. No route has
// the others: generators would drop them from the components and then miss them, so they
// stand in the webhook itself.
func schemaOf(schemas huma.Registry, data any, shared bool) *huma.Schema {
	kind := reflect.TypeOf(data)
	schema := schemas.Schema(kind, shared, "")
	if !shared {
		delete(schemas.Map(), kind.Name())
		schema.AdditionalProperties = nil
	}
	return schema
}

// call describes the call of one event: what it carries, and what its receiver's
// answer does.
func call(event contract.Event, data *huma.Schema, example any) *huma.Operation {
	text := func(name, doc, pattern string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: doc, Schema: &huma.Schema{Type: huma.TypeString, Pattern: pattern}}
	}
	answer := func(doc string) *huma.Response { return &huma.Response{Description: doc} }
	return &huma.Operation{
		OperationID: event.Operation, Method: http.MethodPost, Tags: []string{"Webhooks"}, Summary: event.Summary,
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
					"type":      {Type: huma.TypeString, Enum: []any{event.Type}},
					"timestamp": {Type: huma.TypeString, Format: "date-time", Description: "When it happened."},
					"data":      data,
				},
			},
			Example: map[string]any{"type": event.Type, "timestamp": sample.Time(0), "data": example},
		}}},
		Responses: map[string]*huma.Response{
			"2XX":     answer("The event is taken."),
			"410":     answer("No more is sent; an endpoint of the workspace is disabled."),
			"default": answer("Anything else, a redirect too, or no answer within 15 seconds: it is tried again, up to nine times over three days. Retry-After is honoured."),
		},
	}
}
