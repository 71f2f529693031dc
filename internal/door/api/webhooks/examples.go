package webhooks

import (
	"time"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/contract"
	"svc.example/internal/work/webhook"
)

// exampleEndpoint is the endpoint of the examples.
const exampleEndpoint = "WHE-0198c0de000070008000000000000009"

// Examples returns the bodies of these routes, by schema name.
func Examples() map[string]any {
	const address, secret = "https://example.com/svc", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	const id = exampleEndpoint
	endpoint := webhook.Endpoint{EndpointID: id, URL: address, Description: "our pipeline", Enabled: true, CreatedAt: sample.Time(0)}
	delivery := webhook.Delivery{
		DeliveryID: "WHD-0198c0de00007000800000000000000b0198c0de000070008000000000000009", EventID: "msg_0198c0de00007000800000000000000b", EventType: contract.EventCompleted,
		EndpointID: id, JobID: new(sample.JobID), URL: address, Status: "delivered", Tries: 1, CreatedAt: sample.Time(30 * time.Minute),
		EndedAt:  new(sample.Time(30 * time.Minute)),
		Attempts: []webhook.Attempt{{Number: 1, StartedAt: sample.Time(30 * time.Minute), DurationMS: 84, Status: new(204)}},
	}
	var create endpointCreateInput
	create.Body.URL, create.Body.Description = address, endpoint.Description
	var change endpointChangeInput
	change.Body.Enabled = new(false)
	var rotate rotateInput
	rotate.Body.Secret = "sixteen characters or more"
	var since redeliverSinceInput
	since.Body.Since = sample.Time(0)
	return map[string]any{
		"EndpointCreateInput": create.Body, "EndpointChangeInput": change.Body, "RotateInput": rotate.Body, "RedeliverSinceInput": since.Body,
		"WebhookEndpoint":        webhookEndpointBody{OK: true, Endpoint: endpoint},
		"WebhookEndpoints":       webhookEndpointsBody{true, []webhook.Endpoint{endpoint}},
		"WebhookEndpointDeleted": webhookEndpointDeletedBody{true, id, true},
		"WebhookSecretRotated":   webhookSecretRotatedBody{OK: true, EndpointID: id, Secret: secret, PreviousExpiresAt: sample.Time(24 * time.Hour)},
		"WebhooksRedelivered":    webhooksRedeliveredBody{true, id, 3},
		"WebhookDelivery":        webhookDeliveryBody{true, delivery},
		"WebhookDeliveries":      webhookDeliveriesBody{true, []webhook.Delivery{delivery}},
	}
}
