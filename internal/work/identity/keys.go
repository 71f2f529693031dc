package identity

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Key is what may be told of a key: all but its secret (spec 2.5).
type Key struct {
	KeyID        string
	Name         string
	MaskedPrefix string
	CreatedAt    time.Time
	// LastUsedAt is exact to a minute; nil when the key was never used.
	LastUsedAt *time.Time
	RevokedAt  *time.Time // nil while active
	// SpendLimitCents is an agent key's bound for a calendar month; nil = none.
	SpendLimitCents *int64
}

// AccountKeys lists the account keys of a workspace, revoked ones too, the
// newest first.
func AccountKeys(ctx context.Context, tx *db.Tx, workspaceID string) ([]Key, error) {
	rows, err := tx.AccountKeysOf(ctx, workspaceID)
	if err != nil {
		return nil, fmt.Errorf("list account keys: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{r.KeyID, r.Name, r.MaskedPrefix, db.Time(r.CreatedAt), moment(r.LastUsedAt), moment(r.RevokedAt), nil}
	}
	return keys, nil
}

// AgentKeys lists the agent keys of a workspace, revoked ones too, the newest
// first.
func AgentKeys(ctx context.Context, tx *db.Tx, workspaceID string) ([]Key, error) {
	rows, err := tx.AgentKeysOf(ctx, workspaceID)
	if err != nil {
		return nil, fmt.Errorf("list agent keys: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{r.KeyID, r.Name, r.MaskedPrefix, db.Time(r.CreatedAt), moment(r.LastUsedAt), moment(r.RevokedAt), limitOf(r.SpendLimitCents)}
	}
	return keys, nil
}

// NodeKeys lists the workers' keys, revoked ones too, the newest first.
func NodeKeys(ctx context.Context, tx *db.Tx) ([]Key, error) {
	rows, err := tx.NodeKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list node keys: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{r.KeyID, r.Name, r.MaskedPrefix, db.Time(r.CreatedAt), moment(r.LastUsedAt), moment(r.RevokedAt), nil}
	}
	return keys, nil
}

// moment is a stored time; nil where there is none.
func moment(us int64) *time.Time {
	if us == 0 {
		return nil
	}
	t := db.Time(us)
	return &t
}

// limitOf is a stored spend limit; nil where there is none.
func limitOf(cents int64) *int64 {
	if cents == noLimit {
		return nil
	}
	return &cents
}

// RevokeAccountKey ends an account key of a workspace; key_not_found when it
// has no such active one.
func RevokeAccountKey(ctx context.Context, tx *db.Tx, workspaceID, keyID string) error {
	n, err := tx.AccountKeyRevokeOf(ctx, query.AccountKeyRevokeOfParams{Now: tx.Now, KeyID: keyID, WorkspaceID: workspaceID})
	return revoked(n, err, keyID)
}

// RevokeAgentKey ends an agent key of a workspace; key_not_found when it has no
// such active one.
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
