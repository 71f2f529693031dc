package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/webhook"
)

// WebhookFields is what a request that makes a job says about its webhook (spec
// 2.7).
type WebhookFields struct {
	WebhookURL    string `json:"webhook_url,omitempty" format:"uri" minLength:"1" maxLength:"2048" doc:"HTTPS address that is told when the job ends."`
	WebhookSecret string `json:"webhook_secret,omitempty" minLength:"16" writeOnly:"true" doc:"Signs what is sent: whsec_ and base64, or any text, at most 512 characters. Without it one is made and shown in the answer, once."`
}

// target checks the webhook of a request and looks up its host. Call it outside
// a transaction: the lookup can take seconds. Errors: invalid_webhook_url,
// webhook_secret_too_short.
func (s *server) target(ctx context.Context, f WebhookFields) (webhook.Target, error) {
	return s.Webhooks.Target(ctx, f.WebhookURL, f.WebhookSecret)
}

// webhookOf returns the fields of a request that huma does not read; nil is a field that
// did not come. An empty one is a mistake, not an absence. Errors: invalid_webhook_url,
// webhook_secret_too_short.
func webhookOf(url, secret *string) (f WebhookFields, err error) {
	if url != nil {
		if f.WebhookURL = *url; f.WebhookURL == "" {
			return f, fault.New(fault.InvalidWebhookURL, "The webhook URL is empty.")
		}
	}
	if secret != nil {
		if f.WebhookSecret = *secret; f.WebhookSecret == "" {
			return f, fault.New(fault.WebhookSecretShort, "The webhook secret is empty.")
		}
	}
	return f, nil
}

// webhookParts describes the same fields as parts of a form.
func webhookParts() map[string]*huma.Schema {
	urlMin, urlMax, secretMin := 1, contract.MaxWebhookURL, contract.MinWebhookSecret
	return map[string]*huma.Schema{
		"webhook_url":    {Type: huma.TypeString, Format: "uri", MinLength: &urlMin, MaxLength: &urlMax, Description: "HTTPS address that is told when the job ends."},
		"webhook_secret": {Type: huma.TypeString, MinLength: &secretMin, WriteOnly: true, Description: "Signs what is sent; one is made and shown once when it is left out."},
	}
}
