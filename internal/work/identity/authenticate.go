package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity/inflight"
)

// NodeKey is the credential of a worker. It belongs to the operator, not to a
// workspace. Name is what the operator called it, not what the worker reports.
type NodeKey struct {
	KeyID string
	Name  string
}

// bearer extracts the secret of an Authorization header. It checks the kind by the
// prefix, so that a key of another kind is refused without a query, although it may be
// valid elsewhere (decisions 2). The length distinguishes account keys from the other
// kinds, whose prefixes begin with theirs.
func bearer(header, prefix string) (string, error) {
	scheme, secret, _ := strings.Cut(header, " ")
	secret = strings.TrimSpace(secret)
	if header == "" {
		return "", fault.New(fault.Unauthenticated, "This route needs a key that begins with %s.", prefix)
	}
	if !strings.EqualFold(scheme, "Bearer") || len(secret) != len(prefix)+contract.KeySecretLength || !strings.HasPrefix(secret, prefix) {
		return "", invalidToken("This is not a key of the kind that this route takes: it begins with %s.", prefix)
	}
	return secret, nil
}

// invalidToken refuses a key that came and is not good here. Programs renew it or sign in
// again when they read so (RFC 6750 3.1).
func invalidToken(format string, args ...any) *fault.Error {
	refused := fault.New(fault.Unauthenticated, format, args...)
	return refused.Challenged("error", "invalid_token").Challenged("error_description", refused.Message)
}

// touchEvery is the precision of a key's last-used time. It saves a write per request:
// a busy key writes once a minute.
const touchEvery = time.Minute

// keyState is what every kind of key's row says about its owner and its use, in
// microseconds; 0 means never.
type keyState struct {
	keyID, workspaceID    string // no workspace has a worker's key
	revokedAt, lastUsedAt int64
	expiresAt             int64 // 0 is never
}

// authenticate finds the key of the header's secret, records its use, and ties the request
// of ctx to it (package inflight). An unknown and
// a revoked key get the same answer. Errors: unauthenticated, rate_limited. find runs as a single statement and nothing is
// cached, so a revocation counts from the next request on. touch runs in a transaction
// of its own and changes the row only if it is still older, so that concurrent requests
// of a key write once. When the write fails, so does the request.
func authenticate(ctx context.Context, d *db.DB, header, prefix string,
	find func(ctx context.Context, tx *db.Tx, secretHash string) (keyState, error), touch func(tx *db.Tx) error,
) error {
	secret, err := bearer(header, prefix)
	if err != nil {
		return err
	}
	var key keyState
	var stale bool
	err = d.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) error {
		s, err := find(ctx, tx, Hash(secret))
		if db.IsNotFound(err) || (err == nil && (s.revokedAt != 0 || (s.expiresAt != 0 && s.expiresAt <= tx.Now))) {
			return invalidToken("The key is unknown, revoked or expired.")
		}
		if fault.Is(err, fault.Unauthenticated) {
			return err
		}
		if err != nil {
			return fmt.Errorf("look up key: %w", err)
		}
		key, stale = s, tx.Now-s.lastUsedAt > touchEvery.Microseconds()
		return nil
	})
	if err != nil {
		return err
	}
	if err := inflight.Hold(ctx, key.keyID, key.workspaceID); err != nil {
		return err
	}
	if !stale {
		return nil
	}
	if err := d.Write(ctx, touch); err != nil {
		return fmt.Errorf("record the key's use: %w", err)
	}
	return nil
}

// Agent authenticates an Authorization header as an agent key, at the resource that the
// request is for: a key that was made for others does not work there. Error:
// unauthenticated.
func Agent(ctx context.Context, d *db.DB, header, resource string) (p Principal, err error) {
	return agent(ctx, d, header, contract.AgentKeyPrefix, resource)
}

// agent is Agent for keys with a prefix.
func agent(ctx context.Context, d *db.DB, header, prefix, resource string) (p Principal, err error) {
	err = authenticate(ctx, d, header, prefix, func(ctx context.Context, tx *db.Tx, secret string) (keyState, error) {
		row, err := tx.AgentKeyBySecret(ctx, secret)
		if err == nil && row.Resources != "" && !slices.Contains(strings.Fields(row.Resources), resource) {
			return keyState{}, invalidToken("This key is for %s.", row.Resources)
		}
		p = Principal{WorkspaceID: row.WorkspaceID, Credential: Credential{Kind: AgentCredential, KeyID: row.KeyID, MadeBy: row.MadeBy}, Scopes: scopesOf(row.Scopes), SpendLimitCents: limitOf(row.SpendLimitCents)}
		return keyState{row.KeyID, row.WorkspaceID, row.RevokedAt, row.LastUsedAt, endOf(row.ExpiresAt, row.TokenUntil)}, err
	}, func(tx *db.Tx) error {
		return tx.AgentKeyTouch(ctx, query.AgentKeyTouchParams{Now: tx.Now, KeyID: p.Credential.KeyID, Before: tx.Now})
	})
	return p, err
}

// endOf is the earlier of two ends; 0 is none.
func endOf(a, b int64) int64 {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// Account authenticates an Authorization header as an account key. Error:
// unauthenticated.
func Account(ctx context.Context, d *db.DB, header string) (p Principal, err error) {
	return account(ctx, d, header, contract.AccountKeyPrefix)
}

// account is Account for keys with a prefix.
func account(ctx context.Context, d *db.DB, header, prefix string) (p Principal, err error) {
	err = authenticate(ctx, d, header, prefix, func(ctx context.Context, tx *db.Tx, secret string) (keyState, error) {
		row, err := tx.AccountKeyBySecret(ctx, secret)
		p = Principal{WorkspaceID: row.WorkspaceID, Credential: Credential{Kind: AccountCredential, KeyID: row.KeyID, MadeBy: row.MadeBy}, Scopes: AllScopes()}
		return keyState{row.KeyID, row.WorkspaceID, row.RevokedAt, row.LastUsedAt, 0}, err
	}, func(tx *db.Tx) error {
		return tx.AccountKeyTouch(ctx, query.AccountKeyTouchParams{Now: tx.Now, KeyID: p.Credential.KeyID, Before: tx.Now})
	})
	return p, err
}

// Node authenticates an Authorization header as a worker's key. Error:
// unauthenticated.
func Node(ctx context.Context, d *db.DB, header string) (key NodeKey, err error) {
	err = authenticate(ctx, d, header, contract.NodeKeyPrefix, func(ctx context.Context, tx *db.Tx, secret string) (keyState, error) {
		row, err := tx.NodeKeyBySecret(ctx, secret)
		key = NodeKey{KeyID: row.KeyID, Name: row.Name}
		return keyState{row.KeyID, "", row.RevokedAt, row.LastUsedAt, 0}, err
	}, func(tx *db.Tx) error {
		return tx.NodeKeyTouch(ctx, query.NodeKeyTouchParams{Now: tx.Now, KeyID: key.KeyID, Before: tx.Now})
	})
	return key, err
}
