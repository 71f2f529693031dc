// Package identity holds workspaces, people and their credentials.
//
// Three kinds of key live in three tables: account keys, agent keys and node keys.
// None can stand in for another (spec 5). A person's browser session is the fourth
// credential. The caller with an account key, an agent key or a session is a
// Principal; a worker is identified by its NodeKey.
//
// What always holds: a secret has at least 256 random bits and is stored only as its
// SHA-256. The call that makes it returns it, and no other call does. A revoked or
// unknown secret is unauthenticated from the next call on, in every process, because
// nothing is cached.
//
// The package leaves to others what a principal may do. Start reading at Principal,
// then at Agent.
package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
)

// NodeKey is the credential of a worker. It belongs to the operator, not to a
// workspace.
type NodeKey struct {
	KeyID string
	Name  string
}

// NewKey is a key that was just made. Nothing stores Secret.
type NewKey struct {
	KeyID        string
	Name         string
	Secret       string
	MaskedPrefix string
	CreatedAt    time.Time
}

// secretLength in base62 characters carries 256 bits: 62^43 > 2^256.
const secretLength = 43

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newSecret draws a secret after prefix. rand.Int draws every character with equal
// chance, which a byte modulo 62 would not.
func newSecret(prefix string) (string, error) {
	var b strings.Builder
	b.WriteString(prefix)
	for range secretLength {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(base62))))
		if err != nil {
			return "", fmt.Errorf("draw a secret: %w", err)
		}
		b.WriteByte(base62[n.Int64()])
	}
	return b.String(), nil
}

// hash is a plain SHA-256. A slow password hash would add nothing to 256 random bits,
// and would cost every request its time.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func newKey(tx *db.Tx, prefix, name string) (NewKey, error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > contract.MaxKeyName || !utf8.ValidString(name) {
		return NewKey{}, fault.New(fault.InvalidKeyName, "A key's name has 1 to %d characters; this one has %d.", contract.MaxKeyName, n)
	}
	secret, err := newSecret(prefix)
	if err != nil {
		return NewKey{}, err
	}
	return NewKey{
		KeyID: id.New(id.Key), Name: name, Secret: secret,
		MaskedPrefix: secret[:len(prefix)+8] + "…", CreatedAt: tx.Time(),
	}, nil
}

// limitKeys refuses an eleventh active key of a kind. It locks the workspace, so that
// two calls at once cannot both be the tenth.
func limitKeys(ctx context.Context, tx *db.Tx, workspaceID string, count func(context.Context, string) (int64, error)) error {
	if _, err := tx.WorkspaceLock(ctx, workspaceID); err != nil {
		return fmt.Errorf("lock workspace: %w", err)
	}
	active, err := count(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	if active >= contract.MaxActiveKeys {
		return fault.New(fault.KeyLimitReached, "The workspace already has %d active keys of this kind, the most it may have.", active)
	}
	return nil
}

// CreateAccountKey makes an account key of a workspace. Errors: invalid_key_name,
// key_limit_reached.
func CreateAccountKey(ctx context.Context, tx *db.Tx, workspaceID, name string) (NewKey, error) {
	k, err := newKey(tx, contract.AccountKeyPrefix, name)
	if err != nil {
		return NewKey{}, err
	}
	if err := limitKeys(ctx, tx, workspaceID, tx.AccountKeyActive); err != nil {
		return NewKey{}, err
	}
	err = tx.AccountKeyCreate(ctx, query.AccountKeyCreateParams{
		KeyID: k.KeyID, WorkspaceID: workspaceID, Name: k.Name, SecretSha256: hash(k.Secret), MaskedPrefix: k.MaskedPrefix, CreatedAt: tx.Now,
	})
	if err != nil {
		return NewKey{}, fmt.Errorf("create account key: %w", err)
	}
	return k, nil
}

// CreateAgentKey makes an agent key of a workspace. limit is in cents a calendar
// month; nil means none. Errors: invalid_key_name, key_limit_reached.
func CreateAgentKey(ctx context.Context, tx *db.Tx, workspaceID, name string, limit *int64) (NewKey, error) {
	k, err := newKey(tx, contract.AgentKeyPrefix, name)
	if err != nil {
		return NewKey{}, err
	}
	if err := limitKeys(ctx, tx, workspaceID, tx.AgentKeyActive); err != nil {
		return NewKey{}, err
	}
	spend := int64(noLimit)
	if limit != nil {
		spend = *limit
	}
	err = tx.AgentKeyCreate(ctx, query.AgentKeyCreateParams{
		KeyID: k.KeyID, WorkspaceID: workspaceID, Name: k.Name, SecretSha256: hash(k.Secret), MaskedPrefix: k.MaskedPrefix,
		SpendLimitCents: spend, CreatedAt: tx.Now,
	})
	if err != nil {
		return NewKey{}, fmt.Errorf("create agent key: %w", err)
	}
	return k, nil
}

// noLimit is the stored value of a key without a spend limit: 0 is a limit too.
const noLimit = -1

// CreateNodeKey makes a worker's key. Errors: invalid_key_name.
func CreateNodeKey(ctx context.Context, tx *db.Tx, name string) (NewKey, error) {
	k, err := newKey(tx, contract.NodeKeyPrefix, name)
	if err != nil {
		return NewKey{}, err
	}
	err = tx.NodeKeyCreate(ctx, query.NodeKeyCreateParams{
		KeyID: k.KeyID, Name: k.Name, SecretSha256: hash(k.Secret), MaskedPrefix: k.MaskedPrefix, CreatedAt: tx.Now,
	})
	if err != nil {
		return NewKey{}, fmt.Errorf("create node key: %w", err)
	}
	return k, nil
}

// ReplaceNodeKey revokes the node keys with that name and makes a new one. It serves
// workers that receive a new key at every start.
func ReplaceNodeKey(ctx context.Context, tx *db.Tx, name string) (NewKey, error) {
	if _, err := tx.NodeKeyRevokeNamed(ctx, query.NodeKeyRevokeNamedParams{Now: tx.Now, Name: name}); err != nil {
		return NewKey{}, fmt.Errorf("revoke node keys named %s: %w", name, err)
	}
	return CreateNodeKey(ctx, tx, name)
}

// Revoke ends a key of any kind. Error: key_not_found when there is no active one.
func Revoke(ctx context.Context, tx *db.Tx, keyID string) error {
	for _, revoke := range []func() (int64, error){
		func() (int64, error) {
			return tx.AccountKeyRevoke(ctx, query.AccountKeyRevokeParams{Now: tx.Now, KeyID: keyID})
		},
		func() (int64, error) {
			return tx.AgentKeyRevoke(ctx, query.AgentKeyRevokeParams{Now: tx.Now, KeyID: keyID})
		},
		func() (int64, error) {
			return tx.NodeKeyRevoke(ctx, query.NodeKeyRevokeParams{Now: tx.Now, KeyID: keyID})
		},
	} {
		n, err := revoke()
		if err != nil {
			return fmt.Errorf("revoke key %s: %w", keyID, err)
		}
		if n == 1 {
			return nil
		}
	}
	return fault.New(fault.KeyNotFound, "There is no active key %s.", keyID)
}

// bearer extracts the secret of an Authorization header. It checks the kind by the
// prefix, so that a key of another kind is refused without a query.
func bearer(header, prefix string) (string, error) {
	scheme, secret, _ := strings.Cut(header, " ")
	secret = strings.TrimSpace(secret)
	if header == "" {
		return "", fault.New(fault.Unauthenticated, "This route needs a key that begins with %s.", prefix)
	}
	if !strings.EqualFold(scheme, "Bearer") || len(secret) != len(prefix)+secretLength || !strings.HasPrefix(secret, prefix) {
		return "", fault.New(fault.Unauthenticated, "This is not a key of the kind that this route takes: it begins with %s.", prefix)
	}
	return secret, nil
}

// touchEvery is the precision of a key's last-used time. It saves a write per
// request.
const touchEvery = time.Minute

// keyState is what every kind of key's row says about its use.
type keyState struct{ revokedAt, lastUsedAt int64 }

// authenticate finds the key of the header's secret and records its use.
func authenticate(ctx context.Context, d *db.DB, header, prefix string,
	find func(ctx context.Context, tx *db.Tx, secretHash string) (keyState, error), touch func(tx *db.Tx) error,
) error {
	secret, err := bearer(header, prefix)
	if err != nil {
		return err
	}
	var stale bool
	err = d.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) error {
		s, err := find(ctx, tx, hash(secret))
		if db.IsNotFound(err) || (err == nil && s.revokedAt != 0) {
			return fault.New(fault.Unauthenticated, "The key is unknown or revoked.")
		}
		if err != nil {
			return fmt.Errorf("look up key: %w", err)
		}
		stale = tx.Now-s.lastUsedAt > touchEvery.Microseconds()
		return nil
	})
	if err != nil || !stale {
		return err
	}
	if err := d.Write(ctx, touch); err != nil {
		return fmt.Errorf("record the key's use: %w", err)
	}
	return nil
}

// Agent authenticates an Authorization header as an agent key. Error:
// unauthenticated.
func Agent(ctx context.Context, d *db.DB, header string) (p Principal, err error) {
	err = authenticate(ctx, d, header, contract.AgentKeyPrefix, func(ctx context.Context, tx *db.Tx, secret string) (keyState, error) {
		row, err := tx.AgentKeyBySecret(ctx, secret)
		p = Principal{row.WorkspaceID, Credential{Kind: AgentCredential, KeyID: row.KeyID}, AllScopes(), limitOf(row.SpendLimitCents)}
		return keyState{row.RevokedAt, row.LastUsedAt}, err
	}, func(tx *db.Tx) error {
		return tx.AgentKeyTouch(ctx, query.AgentKeyTouchParams{Now: tx.Now, KeyID: p.Credential.KeyID, Before: tx.Now})
	})
	return p, err
}

// Account authenticates an Authorization header as an account key. Error:
// unauthenticated.
func Account(ctx context.Context, d *db.DB, header string) (p Principal, err error) {
	err = authenticate(ctx, d, header, contract.AccountKeyPrefix, func(ctx context.Context, tx *db.Tx, secret string) (keyState, error) {
		row, err := tx.AccountKeyBySecret(ctx, secret)
		p = Principal{row.WorkspaceID, Credential{Kind: AccountCredential, KeyID: row.KeyID}, AllScopes(), nil}
		return keyState{row.RevokedAt, row.LastUsedAt}, err
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
		return keyState{row.RevokedAt, row.LastUsedAt}, err
	}, func(tx *db.Tx) error {
		return tx.NodeKeyTouch(ctx, query.NodeKeyTouchParams{Now: tx.Now, KeyID: key.KeyID, Before: tx.Now})
	})
	return key, err
}
