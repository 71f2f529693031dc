package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/webhook"
)

// WebhookFields is what a request that makes a job says about its webhook (spec
// 2.7).
type WebhookFields struct {
	WebhookURL    string `json:"webhook_url,omitempty" format:"uri" maxLength:"2048" doc:"HTTPS address that is told when the job ends."`
	WebhookSecret string `json:"webhook_secret,omitempty" minLength:"16" writeOnly:"true" doc:"Signs what is sent: whsec_ and base64, or any text, at most 512 characters. Without it one is made and shown in the answer, once."`
}

// target checks the webhook of a request and looks up its host. Call it outside
// a transaction: the lookup can take seconds. Errors: invalid_webhook_url,
// webhook_secret_too_short.
func (s *server) target(ctx context.Context, f WebhookFields) (webhook.Target, error) {
	return s.Webhooks.Target(ctx, f.WebhookURL, f.WebhookSecret)
}

// webhookParts describes the same fields as parts of a form.
func webhookParts() map[string]*huma.Schema {
	urlMax, secretMin := contract.MaxWebhookURL, contract.MinWebhookSecret
	return map[string]*huma.Schema{
		"webhook_url":    {Type: huma.TypeString, Format: "uri", MaxLength: &urlMax, Description: "HTTPS address that is told when the job ends."},
		"webhook_secret": {Type: huma.TypeString, MinLength: &secretMin, WriteOnly: true, Description: "Signs what is sent; one is made and shown once when it is left out."},
	}
}
