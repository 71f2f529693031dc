package agent

import (
	"context"
	"fmt"
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/job"
	"svc.example/internal/work/webhook"
)

// startDef describes svc_start. It is idempotent although it spends: a quote
// can be accepted once, and a repetition returns the job that has it.
func startDef() def {
	return def{
		name: startTool, title: "Start rendering and spend the locked price", writes: true, spends: true, idempotent: true,
		description: "The only tool that spends: takes a locked quote, reserves its price in the workspace's wallet and queues the render. " +
			"The money is charged when the job completes and comes back when it fails or is cancelled. " +
			"Starting the same quote again gives the same job and reserves nothing more. " +
			"Call it only after whoever pays has agreed to the price and the terms.",
	}
}

// startIn has no price: the locked quote is the price (decisions 6).
// MaxPriceCents only protects the caller from a wrong quote id.
type startIn struct {
	UploadID        uploadID `json:"upload_id" jsonschema:"From svc_inspect."`
	QuoteID         quoteID  `json:"quote_id" jsonschema:"From svc_inspect or svc_quote; its price is what is spent."`
	LegalAcceptance legal    `json:"legal_acceptance" jsonschema:"Accepts the terms, for whoever pays."`
	WebhookURL      *address `json:"webhook_url,omitempty" jsonschema:"Gets a signed event when the job ends."`
	MaxPriceCents   *cents   `json:"max_price_cents,omitempty" jsonschema:"Refuse a dearer quote."`
	Tags            []string `json:"tags,omitempty" jsonschema:"At most 10 labels."`
}

// start handles svc_start: the one call that reserves money. Accepting the
// quote, reserving, the job, its frames and the stored webhook secret are one
// transaction, so a crash leaves all of it or nothing.
//
// The webhook address is checked first, outside the transaction: the check
// looks up a host name, and a transaction must not wait for DNS.
func (s *server) start(ctx context.Context, in startIn) (jobStatus, error) {
	target, err := s.target(ctx, in.WebhookURL)
	if err != nil {
		return jobStatus{}, err
	}
	var tags []string
	if in.Tags != nil {
		if tags, err = job.ReadTags(in.Tags); err != nil {
			return jobStatus{}, err
		}
	}
	var o job.Object
	err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		o, err = s.Jobs.Start(ctx, tx, job.StartRequest{
			Principal: callerOf(ctx).Principal, UploadID: string(in.UploadID), QuoteID: string(in.QuoteID), Flow: job.FlowJobAPI,
			MaxPriceCents: (*int64)(in.MaxPriceCents), Webhook: target, Tags: tags,
		})
		if err != nil || in.WebhookURL == nil {
			return err
		}
		return s.repeatSecret(ctx, tx, &o, string(*in.WebhookURL))
	})
	if err != nil {
		return jobStatus{}, err
	}
	out := jobOf(o)
	if low := o.LowBalance; low != nil {
		out.SuggestedAction += fmt.Sprintf(" Tell the person that %s are left in the wallet, too little for another job like this.", numbers.Dollars(low.AvailableCents))
	}
	return out, nil
}

// secretPlace is the context that stored webhook secrets are sealed for: a
// sealed text moved here from another column does not open. The value is part
// of what is stored and must not change.
const secretPlace = "webhook secret told by svc_start"

// repeatSecret stores the webhook secret of a new job in the transaction that
// creates it, and returns it when the same call is repeated. A result can get
// lost, an agent sends no Idempotency-Key, and the secret is never shown
// elsewhere.
//
// The key is the quote, the fingerprint the address: a repetition with another
// address does not learn the secret.
func (s *server) repeatSecret(ctx context.Context, tx *db.Tx, o *job.Object, url string) error {
	call := idempotency.Request{WorkspaceID: o.WorkspaceID, Route: string(startTool), Key: o.QuoteID, Fingerprint: url}
	if o.WebhookSecret != "" {
		return idempotency.Keep(ctx, tx, call, idempotency.Answer{Status: http.StatusOK, Body: []byte(s.Sealed.Seal([]byte(o.WebhookSecret), secretPlace))})
	}
	kept, err := idempotency.Kept(ctx, tx, call)
	if err != nil || kept == nil {
		return err
	}
	secret, err := s.Sealed.Open(string(kept.Body), secretPlace)
	if err != nil {
		return fmt.Errorf("open a stored webhook secret: %w", err)
	}
	o.WebhookSecret = string(secret)
	return nil
}

// target checks the webhook address within the time that a result has. A lookup
// that takes longer is refused, not deferred: a job must not start with an
// unchecked address. Errors: invalid_webhook_url.
func (s *server) target(ctx context.Context, url *address) (webhook.Target, error) {
	if url == nil {
		return webhook.Target{}, nil
	}
	lookup, cancel := context.WithTimeout(ctx, maxFetchWait)
	defer cancel()
	target, err := s.Webhooks.Target(lookup, string(*url), "")
	if err != nil && lookup.Err() != nil && ctx.Err() == nil {
		return target, fault.New(fault.InvalidWebhookURL, "The webhook URL is not allowed: looking up its host name took too long.")
	}
	return target, err
}
