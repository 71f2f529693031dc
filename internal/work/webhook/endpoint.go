package webhook

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/webhook/chat"
)

// Endpoint is an endpoint of a workspace as its owner sees it: an address that gets the
// end of every job of the workspace. A secret is shown only when it is made. A disabled
// endpoint keeps its secrets and its log.
type Endpoint struct {
	EndpointID     string     `json:"endpoint_id" doc:"Begins with WHE-."`
	URL            string     `json:"url"`
	Description    string     `json:"description"`
	Enabled        bool       `json:"enabled" doc:"A disabled endpoint is told nothing."`
	DisabledAt     *time.Time `json:"disabled_at"`
	DisabledReason *Reason    `json:"disabled_reason" doc:"requested: by its owner; failing: nothing was taken for 5 days; gone: it answered 410." enum:"requested,failing,gone"`
	FailingSince   *time.Time `json:"failing_since" doc:"First failure since the last success; null while it works."`
	CreatedAt      time.Time  `json:"created_at"`
}

// endpointOf leaves out what is the service's own: the delivery queue, the workspace and
// the time of the last failure.
func endpointOf(r query.WebhookEndpoint) Endpoint {
	e := Endpoint{
		EndpointID: r.EndpointID, URL: r.Url, Description: r.Description, Enabled: r.DisabledAt == 0,
		DisabledAt: db.OptionalTime(r.DisabledAt), FailingSince: db.OptionalTime(r.FailingSince), CreatedAt: db.Time(r.CreatedAt),
	}
	if r.DisabledReason != "" {
		reason := Reason(r.DisabledReason)
		e.DisabledReason = &reason
	}
	return e
}

// NewEndpoint describes an endpoint to create. URL is required. An empty Secret makes
// the service generate one. Description is the owner's note and may be empty.
type NewEndpoint struct {
	URL         string
	Description string
	Secret      string
}

// Create adds an endpoint to a workspace. The endpoint receives every job that ends
// from now on. secret is empty unless the service generated it for an endpoint that is no
// chat; it is shown once and never again. A repeated call creates a second endpoint. Errors: invalid_webhook_url,
// webhook_secret_too_short, invalid_request, webhook_endpoint_limit_reached.
func (h *Hooks) Create(ctx context.Context, workspaceID string, n NewEndpoint) (e Endpoint, secret string, err error) {
	chosen, made, err := h.chosenSecret(n.Secret)
	if err != nil {
		return Endpoint{}, "", err
	}
	// The check resolves the host name, so it runs before the transaction begins.
	if err := h.check(ctx, n.URL); err != nil {
		return Endpoint{}, "", err
	}
	err = h.DB.Write(ctx, func(tx *db.Tx) error {
		// The workspace's lock makes the count below hold until the commit: without it
		// two calls at once could both create the last endpoint that the limit allows.
		if err := h.LockWorkspace(ctx, tx, workspaceID); err != nil {
			return err
		}
		rows, err := tx.WebhookEndpointsOf(ctx, workspaceID)
		if err != nil {
			return fmt.Errorf("list webhook endpoints: %w", err)
		}
		if len(rows) >= contract.MaxWebhookEndpoints {
			return fault.New(fault.EndpointLimitReached, "A workspace can have at most %d webhook endpoints.", contract.MaxWebhookEndpoints)
		}
		endpointID := id.New(id.Endpoint)
		err = createEndpoint(ctx, tx, query.WebhookEndpoint{
			EndpointID: endpointID, WorkspaceID: workspaceID, Url: n.URL, Description: n.Description, Lane: queueOf(workspaceID, endpointID),
		})
		if err != nil {
			return err
		}
		if err := h.keepSecret(ctx, tx, endpointID, chosen); err != nil {
			return err
		}
		e, err = read(ctx, tx, endpointID)
		return err
	})
	if !made || h.chatOf(n.URL) != chat.None {
		chosen = ""
	}
	return e, chosen, err
}

// createEndpoint stores a new endpoint: a workspace's, or a job's own target.
func createEndpoint(ctx context.Context, tx *db.Tx, row query.WebhookEndpoint) error {
	row.CreatedAt = tx.Now
	row.RowSum = endpointRows.Of(row)
	if err := tx.WebhookEndpointCreate(ctx, query.WebhookEndpointCreateParams(row)); err != nil {
		return fmt.Errorf("create webhook endpoint: %w", err)
	}
	return nil
}

// List returns the endpoints of a workspace, newest first: at most
// contract.MaxWebhookEndpoints, so there are no pages. Deleted ones and the jobs' own
// targets are not among them.
func (h *Hooks) List(ctx context.Context, workspaceID string) (all []Endpoint, err error) {
	err = h.DB.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.WebhookEndpointsOf(ctx, workspaceID)
		all = make([]Endpoint, len(rows))
		for i, r := range rows {
			all[i] = endpointOf(r)
		}
		return err
	})
	return all, err
}

// Get reads an endpoint of a workspace. Errors: webhook_endpoint_not_found.
func (h *Hooks) Get(ctx context.Context, workspaceID, endpointID string) (e Endpoint, err error) {
	err = h.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.WebhookEndpointGet(ctx, endpointID)
		e = endpointOf(row)
		return owned(row, err, workspaceID, endpointID)
	})
	return e, err
}

// Change holds the members to change; nil keeps a member.
type Change struct {
	URL         *string
	Description *string
	Enabled     *bool
}

// Change changes an endpoint. Disabling fails its waiting deliveries. Enabling starts
// with the next job; RedeliverSince sends what the endpoint missed. Errors:
// webhook_endpoint_not_found, invalid_webhook_url.
func (h *Hooks) Change(ctx context.Context, workspaceID, endpointID string, c Change) (e Endpoint, err error) {
	if c.URL != nil {
		if err := h.check(ctx, *c.URL); err != nil {
			return Endpoint{}, err
		}
	}
	err = h.withLocked(ctx, workspaceID, endpointID, func(tx *db.Tx, row query.WebhookEndpoint) error {
		p := query.WebhookEndpointChangeParams{Url: row.Url, Description: row.Description, EndpointID: endpointID}
		if c.URL != nil {
			p.Url = *c.URL
		}
		if c.Description != nil {
			p.Description = *c.Description
		}
		changed, err := tx.WebhookEndpointChange(ctx, p)
		if _, err := endpointRows.Changed(ctx, tx, changed, err); err != nil {
			return fmt.Errorf("change webhook endpoint: %w", err)
		}
		if c.Enabled != nil && *c.Enabled && row.DisabledAt != 0 {
			changed, err := tx.WebhookEndpointEnable(ctx, endpointID)
			if _, err := endpointRows.Changed(ctx, tx, changed, err); err != nil {
				return fmt.Errorf("enable webhook endpoint: %w", err)
			}
		}
		if c.Enabled != nil && !*c.Enabled && row.DisabledAt == 0 {
			if err := end(ctx, tx, row, WasDisabled); err != nil {
				return err
			}
		}
		e, err = read(ctx, tx, endpointID)
		return err
	})
	return e, err
}

// Delete removes an endpoint and its secrets. Its deliveries stay readable in their
// jobs, and those that wait end with the reason endpoint_deleted. The row stays until
// Forget has deleted the last delivery that names it. A repeated call finds nothing.
// Errors: webhook_endpoint_not_found.
func (h *Hooks) Delete(ctx context.Context, workspaceID, endpointID string) error {
	return h.withLocked(ctx, workspaceID, endpointID, func(tx *db.Tx, row query.WebhookEndpoint) error {
		if err := end(ctx, tx, row, WasDeleted); err != nil {
			return err
		}
		deleted, err := tx.WebhookEndpointDelete(ctx, query.WebhookEndpointDeleteParams{Now: tx.Now, EndpointID: endpointID})
		if _, err := endpointRows.Changed(ctx, tx, deleted, err); err != nil {
			return fmt.Errorf("delete webhook endpoint: %w", err)
		}
		return tx.WebhookSecretsDelete(ctx, endpointID)
	})
}

// Rotate gives an endpoint a new secret. Until ends, contract.WebhookSecretOverlap from
// now, requests carry a signature of each secret, so that the receiver can change over
// without losing an event. A second Rotate within the overlap does not shorten the
// first one's. secret is empty unless the service generated it. Errors:
// webhook_endpoint_not_found, webhook_secret_too_short, invalid_request.
func (h *Hooks) Rotate(ctx context.Context, workspaceID, endpointID, given string) (secret string, ends time.Time, err error) {
	chosen, made, err := h.chosenSecret(given)
	if err != nil {
		return "", time.Time{}, err
	}
	err = h.withLocked(ctx, workspaceID, endpointID, func(tx *db.Tx, _ query.WebhookEndpoint) error {
		ends = tx.Time().Add(contract.WebhookSecretOverlap)
		// Secrets that have expired go first, so that the table holds only those that
		// still sign and the new one.
		if err := tx.WebhookSecretsForget(ctx, query.WebhookSecretsForgetParams{EndpointID: endpointID, Now: tx.Now}); err != nil {
			return fmt.Errorf("forget webhook secrets: %w", err)
		}
		ended, err := tx.WebhookSecretEnd(ctx, query.WebhookSecretEndParams{ExpiresAt: db.Micros(ends), EndpointID: endpointID})
		if err != nil {
			return fmt.Errorf("end webhook secret: %w", err)
		}
		for _, row := range ended {
			if err := secretRows.Renew(ctx, tx, row); err != nil {
				return err
			}
		}
		return h.keepSecret(ctx, tx, endpointID, chosen)
	})
	if !made {
		chosen = ""
	}
	return chosen, ends, err
}

// withLocked runs do while it holds the locks of an endpoint's delivery queue and row.
// The driver takes them in the same order.
//
// It reads the row twice: the first read, without a lock, only finds the delivery queue's
// name. The row may change before the locks are held, so ownership is checked again and
// do gets the second read.
func (h *Hooks) withLocked(ctx context.Context, workspaceID, endpointID string, do func(*db.Tx, query.WebhookEndpoint) error) error {
	return h.DB.Write(ctx, func(tx *db.Tx) error {
		row, err := tx.WebhookEndpointGet(ctx, endpointID)
		if err := owned(row, err, workspaceID, endpointID); err != nil {
			return err
		}
		if err := lease.Lock(ctx, tx, Queue, row.Lane, 0); err != nil {
			return err
		}
		row, err = tx.WebhookEndpointLock(ctx, endpointID)
		if err := owned(row, err, workspaceID, endpointID); err != nil {
			return err
		}
		return do(tx, row)
	})
}

// owned refuses an endpoint of another workspace, a job's own target and a deleted
// endpoint, all with the same answer, which does not reveal what exists elsewhere.
func owned(row query.WebhookEndpoint, err error, workspaceID, endpointID string) error {
	if db.IsNotFound(err) || (err == nil && (row.WorkspaceID != workspaceID || row.JobID != "" || row.DeletedAt != 0)) {
		return fault.New(fault.EndpointNotFound, "There is no webhook endpoint %s in this workspace.", endpointID)
	}
	if err != nil {
		return fmt.Errorf("read webhook endpoint: %w", err)
	}
	return nil
}

// end disables an endpoint at its owner's request. Dropping the lease takes the delivery
// queue from a running driver, which then cannot record anything: a call that is open at
// this moment may still reach the receiver, but the log does not show it.
func end(ctx context.Context, tx *db.Tx, row query.WebhookEndpoint, deliveryReason Reason) error {
	if err := lease.Drop(ctx, tx, Queue, row.Lane); err != nil {
		return err
	}
	_, err := disable(ctx, tx, row.EndpointID, DisabledByCaller, deliveryReason)
	return err
}

// read returns an endpoint of any owner, as the transaction has left it.
func read(ctx context.Context, tx *db.Tx, endpointID string) (Endpoint, error) {
	row, err := tx.WebhookEndpointGet(ctx, endpointID)
	if err != nil {
		return Endpoint{}, fmt.Errorf("read webhook endpoint: %w", err)
	}
	return endpointOf(row), nil
}
