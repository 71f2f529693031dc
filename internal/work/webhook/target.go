package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/outbound"
)

// Target is where one job's end is told, checked and ready to be armed. The zero
// Target stands for none.
type Target struct {
	hooks  *Hooks
	url    string
	secret string
	made   bool // by the service, so that the caller must be told
}

// Target checks what a caller wants to be told by. An empty url is no target; a
// secret without one is refused. It looks names up, so call it outside of any
// transaction. Errors: invalid_webhook_url, webhook_secret_too_short,
// invalid_request.
func (h *Hooks) Target(ctx context.Context, url, secret string) (Target, error) {
	if url == "" {
		if secret != "" {
			return Target{}, fault.Field("body.webhook_secret", "stands without webhook_url")
		}
		return Target{}, nil
	}
	chosen, made, err := h.chosenSecret(secret)
	if err != nil {
		return Target{}, err
	}
	if err := h.check(ctx, url); err != nil {
		return Target{}, err
	}
	return Target{h, url, chosen, made}, nil
}

// check refuses an address that must not be called.
func (h *Hooks) check(ctx context.Context, url string) error {
	if len(url) > contract.MaxWebhookURL {
		return fault.New(fault.InvalidWebhookURL, "The webhook URL has more than %d bytes.", contract.MaxWebhookURL)
	}
	err := h.Guard.Check(ctx, url)
	if refused, ok := errors.AsType[*outbound.Refused](err); ok {
		return fault.New(fault.InvalidWebhookURL, "The webhook URL is not taken: %s.", refused.Reason)
	}
	return err
}

// Arm has a job's end told to the target, in the transaction that makes the job.
// What it returns is the secret to show, once: "" unless the service made it.
func (t Target) Arm(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (secret string, err error) {
	if t.hooks == nil {
		return "", nil
	}
	endpointID := id.New(id.Endpoint)
	// Jobs of a workspace that name the same address share its bound of open calls.
	sum := sha256.Sum256([]byte(t.url))
	err = tx.WebhookEndpointCreate(ctx, query.WebhookEndpointCreateParams{
		EndpointID: endpointID, WorkspaceID: workspaceID, JobID: jobID, Url: t.url, Lane: laneOf(workspaceID, hex.EncodeToString(sum[:16])), CreatedAt: tx.Now,
	})
	if err != nil {
		return "", fmt.Errorf("arm webhook: %w", err)
	}
	if err := t.hooks.keepSecret(ctx, tx, endpointID, t.secret); err != nil {
		return "", err
	}
	if !t.made {
		return "", nil
	}
	return t.secret, nil
}
