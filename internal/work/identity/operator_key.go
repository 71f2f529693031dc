package identity

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// MostOperatorKeys is how many operator keys can be active at the same time.
const MostOperatorKeys = 20

// OperatorScope is what an operator key may do. Each scope includes those before it.
type OperatorScope string

// Scopes of operator keys.
const (
	OperatorReads  OperatorScope = "read"  // sees the whole service and changes nothing
	OperatorWrites OperatorScope = "write" // acts, too
)

// OperatorKey is the credential of a program that operates the service. It belongs to no
// workspace. Package operator decides what it may do.
type OperatorKey struct {
	KeyID string
	Name  string
	Scope OperatorScope
}

// scopeOf is a stored scope.
func scopeOf(writes int64) OperatorScope {
	if writes == 1 {
		return OperatorWrites
	}
	return OperatorReads
}

// ListedOperatorKey is an operator key without its secret.
type ListedOperatorKey struct {
	KeyID        string        `json:"key_id"`
	Name         string        `json:"name"`
	Scope        OperatorScope `json:"scope"`
	MaskedPrefix string        `json:"masked_prefix"`
	CreatedAt    time.Time     `json:"created_at"`
	LastUsedAt   *time.Time    `json:"last_used_at"` // precise to a minute; null if never
	ExpiresAt    *time.Time    `json:"expires_at"`   // null if it works until it is revoked
	RevokedAt    *time.Time    `json:"revoked_at"`   // null while active
}

// CreateOperatorKey makes a key for the operators' API; a life of 0 lasts until it is
// revoked. Only svc admin makes one, on a machine with access to the store: a key that made
// others would survive its revocation. Errors: invalid_key_name, key_limit_reached,
// invalid_request for a scope.
func CreateOperatorKey(ctx context.Context, tx *db.Tx, name string, scope OperatorScope, life time.Duration) (NewKey, error) {
	k, err := newKey(tx, contract.OperatorKeyPrefix, name)
	if err != nil {
		return NewKey{}, err
	}
	if scope != OperatorReads && scope != OperatorWrites {
		return NewKey{}, fault.Field("scope", "must be %s or %s", OperatorReads, OperatorWrites)
	}
	// The bound is reached only where there are keys to lock.
	if _, err := tx.OperatorKeysLock(ctx); err != nil {
		return NewKey{}, fmt.Errorf("lock operator keys: %w", err)
	}
	active, err := tx.OperatorKeysActive(ctx, tx.Now)
	if err != nil {
		return NewKey{}, fmt.Errorf("count operator keys: %w", err)
	}
	if active >= MostOperatorKeys {
		return NewKey{}, fault.New(fault.KeyLimitReached, "The service already has %d active operator keys, which is the maximum.", active)
	}
	row := query.OperatorKey{KeyID: k.KeyID, Name: k.Name, SecretSha256: Hash(k.Secret), MaskedPrefix: k.MaskedPrefix, CreatedAt: tx.Now}
	if scope == OperatorWrites {
		row.CanWrite = 1
	}
	if life > 0 {
		k.ExpiresAt = new(tx.Time().Add(life))
		row.ExpiresAt = db.Micros(*k.ExpiresAt)
	}
	row.RowSum = operatorKeys.Of(row)
	if err := tx.OperatorKeyCreate(ctx, query.OperatorKeyCreateParams(row)); err != nil {
		return NewKey{}, fmt.Errorf("create operator key: %w", err)
	}
	return k, nil
}

// RevokeOperatorKey ends an operator key. Error: key_not_found, also for a key of another kind.
func RevokeOperatorKey(ctx context.Context, tx *db.Tx, keyID string) error {
	row, err := tx.OperatorKeyRevoke(ctx, query.OperatorKeyRevokeParams{Now: tx.Now, KeyID: keyID})
	n, err := operatorKeys.Changed(ctx, tx, row, err)
	return revoked(n, err, keyID)
}

// OperatorKeys lists the operator keys, the newest first, revoked ones included.
func OperatorKeys(ctx context.Context, tx *db.Tx) ([]ListedOperatorKey, error) {
	rows, err := tx.OperatorKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list operator keys: %w", err)
	}
	keys := make([]ListedOperatorKey, 0, len(rows))
	for _, r := range rows {
		keys = append(keys, ListedOperatorKey{
			r.KeyID, r.Name, scopeOf(r.CanWrite), r.MaskedPrefix, db.Time(r.CreatedAt),
			db.OptionalTime(r.LastUsedAt), db.OptionalTime(r.ExpiresAt), db.OptionalTime(r.RevokedAt),
		})
	}
	return keys, nil
}

// AuthenticateOperator authenticates an Authorization header as an operator key. Error:
// unauthenticated.
func AuthenticateOperator(ctx context.Context, d *db.DB, header string) (key OperatorKey, err error) {
	err = authenticate(ctx, d, header, contract.OperatorKeyPrefix, func(ctx context.Context, tx *db.Tx, secret string) (keyState, error) {
		row, err := tx.OperatorKeyBySecret(ctx, secret)
		key = OperatorKey{row.KeyID, row.Name, scopeOf(row.CanWrite)}
		return keyState{row.KeyID, "", row.RevokedAt, row.LastUsedAt, row.ExpiresAt}, err
	}, func(tx *db.Tx) error {
		return tx.OperatorKeyTouch(ctx, query.OperatorKeyTouchParams{Now: tx.Now, KeyID: key.KeyID, Before: tx.Now})
	})
	return key, err
}
