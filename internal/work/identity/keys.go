package identity

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Key is the public part of a key: everything but its secret (spec 2.5).
type Key struct {
	KeyID        string
	Name         string
	MaskedPrefix string
	CreatedAt    time.Time
	// LastUsedAt is precise to a minute; nil when the key was never used.
	LastUsedAt *time.Time
	RevokedAt  *time.Time // nil while active
	// SpendLimitCents bounds an agent key's spending in a calendar month; nil means
	// no limit.
	SpendLimitCents *int64
}

// AccountKeys lists the account keys of a workspace, newest first, revoked ones
// included: a workspace needs to see which key once had access.
func AccountKeys(ctx context.Context, tx *db.Tx, workspaceID string) ([]Key, error) {
	rows, err := tx.AccountKeysOf(ctx, workspaceID)
	if err != nil {
		return nil, fmt.Errorf("list account keys: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{r.KeyID, r.Name, r.MaskedPrefix, db.Time(r.CreatedAt), db.OptionalTime(r.LastUsedAt), db.OptionalTime(r.RevokedAt), nil}
	}
	return keys, nil
}

// AgentKeys lists the agent keys of a workspace, newest first, revoked ones included.
func AgentKeys(ctx context.Context, tx *db.Tx, workspaceID string) ([]Key, error) {
	rows, err := tx.AgentKeysOf(ctx, workspaceID)
	if err != nil {
		return nil, fmt.Errorf("list agent keys: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{r.KeyID, r.Name, r.MaskedPrefix, db.Time(r.CreatedAt), db.OptionalTime(r.LastUsedAt), db.OptionalTime(r.RevokedAt), limitOf(r.SpendLimitCents)}
	}
	return keys, nil
}

// NodeKeys lists the workers' keys, newest first, revoked ones included.
func NodeKeys(ctx context.Context, tx *db.Tx) ([]Key, error) {
	rows, err := tx.NodeKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list node keys: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{r.KeyID, r.Name, r.MaskedPrefix, db.Time(r.CreatedAt), db.OptionalTime(r.LastUsedAt), db.OptionalTime(r.RevokedAt), nil}
	}
	return keys, nil
}

// limitOf converts a stored spend limit; nil means none.
func limitOf(cents int64) *int64 {
	if cents == noLimit {
		return nil
	}
	return &cents
}

// RevokeAccountKey ends an account key of a workspace. Error: key_not_found when the
// workspace has no such active key.
func RevokeAccountKey(ctx context.Context, tx *db.Tx, workspaceID, keyID string) error {
	n, err := tx.AccountKeyRevokeOf(ctx, query.AccountKeyRevokeOfParams{Now: tx.Now, KeyID: keyID, WorkspaceID: workspaceID})
	return revoked(n, err, keyID)
}

// RevokeAgentKey ends an agent key of a workspace. Error: key_not_found when the
// workspace has no such active key.
func RevokeAgentKey(ctx context.Context, tx *db.Tx, workspaceID, keyID string) error {
	n, err := tx.AgentKeyRevokeOf(ctx, query.AgentKeyRevokeOfParams{Now: tx.Now, KeyID: keyID, WorkspaceID: workspaceID})
	return revoked(n, err, keyID)
}

func revoked(rows int64, err error, keyID string) error {
	if err != nil {
		return fmt.Errorf("revoke key %s: %w", keyID, err)
	}
	if rows == 0 {
		return fault.New(fault.KeyNotFound, "There is no active key %s.", keyID)
	}
	return nil
}
