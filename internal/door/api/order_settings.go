package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/webhook"
)

// OrderSettings is what a request that makes a job says besides its quote (spec 2.7): the
// same members in JSON and in a form.
//
// To add one: add its field here and its row in orderSettings, a member of job.StartRequest
// that Start acts on, a member of startIn in package agent, and a row of settings in
// sdk/methods. Then run `make generate`.
type OrderSettings struct {
	WebhookURL    string `json:"webhook_url,omitempty" format:"uri" minLength:"1" maxLength:"2048" doc:"HTTPS address that is told when the job ends."`
	WebhookSecret string `json:"webhook_secret,omitempty" minLength:"16" writeOnly:"true" doc:"Signs what is sent: whsec_ and base64, or any text, at most 512 characters. Without it one is made and shown in the answer, once."`
}

// orderSetting is how a setting is read and described where huma does not do it: in forms,
// and in the JSON of a route that takes both.
type orderSetting struct {
	name   string
	field  func(*OrderSettings) *string
	schema huma.Schema
	empty  func() error // an empty one is a mistake, not an absence
}

// orderSettings are all settings, in the order in which mistakes are told.
func orderSettings() []orderSetting {
	return []orderSetting{
		{"webhook_url", func(o *OrderSettings) *string { return &o.WebhookURL },
			huma.Schema{Type: huma.TypeString, Format: "uri", MinLength: new(1), MaxLength: new(contract.MaxWebhookURL), Description: "HTTPS address that is told when the job ends."},
			func() error { return fault.New(fault.InvalidWebhookURL, "The webhook URL is empty.") }},
		{"webhook_secret", func(o *OrderSettings) *string { return &o.WebhookSecret },
			huma.Schema{Type: huma.TypeString, MinLength: new(contract.MinWebhookSecret), WriteOnly: true, Description: "Signs what is sent; one is made and shown once when it is left out."},
			func() error { return fault.New(fault.WebhookSecretShort, "The webhook secret is empty.") }},
	}
}

// settingNames are the names of all settings.
func settingNames() (names []string) {
	for _, setting := range orderSettings() {
		names = append(names, setting.name)
	}
	return names
}

// readSettings takes the settings of a request that huma does not read; sent returns nil for
// one that did not come. Errors: those of an empty setting.
func readSettings(sent func(name string) *string) (o OrderSettings, err error) {
	for _, setting := range orderSettings() {
		text := sent(setting.name)
		if text == nil {
			continue
		}
		if *text == "" {
			return o, setting.empty()
		}
		*setting.field(&o) = *text
	}
	return o, nil
}

// settingParts describes the settings as parts of a form.
func settingParts() map[string]*huma.Schema {
	parts := map[string]*huma.Schema{}
	for _, setting := range orderSettings() {
		parts[setting.name] = &setting.schema
	}
	return parts
}

// target checks the webhook of a request and looks up its host. Call it outside
// a transaction: the lookup can take seconds. Errors: invalid_webhook_url,
// webhook_secret_too_short.
func (s *server) target(ctx context.Context, o OrderSettings) (webhook.Target, error) {
	return s.Webhooks.Target(ctx, o.WebhookURL, o.WebhookSecret)
}
