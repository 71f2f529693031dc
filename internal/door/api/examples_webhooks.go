package api

import (
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/webhook"
)

// exampleWebhooks adds those of the webhooks.
func exampleWebhooks(all map[string]any) {
	const address, secret = "https://example.com/svc", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	const id = "WHE-0198c0de000070008000000000000009"
	endpoint := webhook.Endpoint{EndpointID: id, URL: address, Description: "our pipeline", Enabled: true, CreatedAt: exampleTime(0)}
	delivery := webhook.Delivery{
		DeliveryID: "WHD-0198c0de00007000800000000000000a", EventID: "msg_0198c0de00007000800000000000000b", EventType: contract.EventCompleted,
		EndpointID: id, JobID: new(exampleJob), URL: address, Status: "delivered", Tries: 1, CreatedAt: exampleTime(30 * time.Minute),
		EndedAt:  new(exampleTime(30 * time.Minute)),
		Attempts: []webhook.Attempt{{Number: 1, StartedAt: exampleTime(30 * time.Minute), DurationMS: 84, Status: new(204)}},
	}
	var create endpointCreateInput
	create.Body.URL, create.Body.Description = address, endpoint.Description
	var change endpointChangeInput
	change.Body.Enabled = new(false)
	var rotate rotateInput
	rotate.Body.Secret = "sixteen characters or more"
	var since redeliverSinceInput
	since.Body.Since = exampleTime(0)
	all["EndpointCreateInput"], all["EndpointChangeInput"], all["RotateInput"], all["RedeliverSinceInput"] = create.Body, change.Body, rotate.Body, since.Body
	all["WebhookEndpoint"] = webhookEndpointBody{OK: true, Endpoint: endpoint}
	all["WebhookEndpoints"] = webhookEndpointsBody{true, []webhook.Endpoint{endpoint}}
	all["WebhookEndpointDeleted"] = webhookEndpointDeletedBody{true, id, true}
	all["WebhookSecretRotated"] = webhookSecretRotatedBody{OK: true, EndpointID: id, Secret: secret, PreviousExpiresAt: exampleTime(24 * time.Hour)}
	all["WebhooksRedelivered"] = webhooksRedeliveredBody{true, id, 3}
	all["WebhookDelivery"] = webhookDeliveryBody{true, delivery}
	all["WebhookDeliveries"] = webhookDeliveriesBody{true, []webhook.Delivery{delivery}}
}
