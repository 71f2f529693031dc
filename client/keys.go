package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// AgentKey is an agent key of the workspace, without its secret.
type AgentKey struct {
	KeyID           string     `json:"key_id"`
	Name            string     `json:"name"`
	MaskedPrefix    string     `json:"masked_prefix"`
	SpendLimitCents *int64     `json:"spend_limit_cents"` // of a calendar month (UTC); nil for none
	CreatedAt       time.Time  `json:"created_at"`
	LastUsedAt      *time.Time `json:"last_used_at"` // exact to a minute; nil when never used
	RevokedAt       *time.Time `json:"revoked_at"`   // nil while the key is active
	SpentCents      int64      `json:"spent_cents"`  // in this calendar month (UTC)
	ExpiresAt       *time.Time `json:"expires_at"`   // when the key expires; nil for never
	CreatedBy       *Actor     `json:"created_by"`   // who made it; nil from an older service
}

// AgentKeys lists the workspace's agent keys, newest first, revoked ones too. It takes
// an account key, as the other methods about agent keys do.
func (c *Client) AgentKeys(ctx context.Context) ([]AgentKey, error) {
	var answer struct {
		Keys []AgentKey `json:"keys"`
	}
	if err := c.get(ctx, "/v1/agent-keys", &answer); err != nil {
		return nil, err
	}
	return answer.Keys, nil
}

// RevokeAgentKey ends a key at once. Error: *Error with key_not_found when there is no
// active key with this id.
func (c *Client) RevokeAgentKey(ctx context.Context, keyID string) error {
	var answer struct{}
	return c.do(ctx, call{method: http.MethodDelete, path: "/v1/agent-keys/" + url.PathEscape(keyID), once: true}, &answer)
}
