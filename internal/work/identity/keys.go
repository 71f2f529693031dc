package identity

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/plaintext"
)

// NewKey is a key that was just made. Nothing stores Secret: show it in this answer or
// it is lost. MaskedPrefix is the part that lists show (decisions 2).
type NewKey struct {
	KeyID        string
	Name         string
	Secret       string
	MaskedPrefix string
	CreatedAt    time.Time
	ExpiresAt    *time.Time // nil when it works until it is revoked
}

// newKey checks the name, 1 to contract.MaxKeyName characters after trimming, and draws
// the secret. It stores nothing. Eight random characters are shown, which is enough to
// distinguish keys. The 35 others, more than 200 bits, stay secret.
func newKey(tx *db.Tx, prefix, name string) (NewKey, error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > contract.MaxKeyName || !utf8.ValidString(name) {
		return NewKey{}, fault.New(fault.InvalidKeyName, "A key's name must have 1 to %d characters; this one has %d.", contract.MaxKeyName, n)
	}
	if strings.ContainsFunc(name, plaintext.Hidden) {
		return NewKey{}, fault.New(fault.InvalidKeyName, "A key's name must have visible characters only; this one is %s.", plaintext.Line(name))
	}
	secret, err := NewSecret(prefix)
	if err != nil {
		return NewKey{}, err
	}
	return NewKey{
		KeyID: id.New(id.Key), Name: name, Secret: secret,
		MaskedPrefix: secret[:len(prefix)+8] + "…", CreatedAt: tx.Time(),
	}, nil
}

// limitKeys refuses a key above contract.MaxActiveKeys of a kind. It locks the
// workspace, so that two calls at once cannot both be the tenth. Revoked keys do not
// count.
func limitKeys(ctx context.Context, tx *db.Tx, workspaceID string, count func(context.Context, string) (int64, error)) error {
	if err := LockWorkspace(ctx, tx, workspaceID); err != nil {
		return err
	}
	active, err := count(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	if active >= contract.MaxActiveKeys {
		return fault.New(fault.KeyLimitReached, "The workspace already has %d active keys of this kind, which is the maximum.", active)
	}
	return nil
}

// CreateAccountKey makes an account key of a workspace. A repeated call makes another
// key: the answer holds a secret, so none is stored to be repeated. Errors:
// invalid_key_name, key_limit_reached.
func CreateAccountKey(ctx context.Context, tx *db.Tx, workspaceID, name string) (NewKey, error) {
	return createAccountKey(ctx, tx, workspaceID, contract.AccountKeyPrefix, name, "")
}

// CreateTestAccountKey is CreateAccountKey for a key of test mode.
func CreateTestAccountKey(ctx context.Context, tx *db.Tx, workspaceID, name string) (NewKey, error) {
	return createAccountKey(ctx, tx, workspaceID, contract.TestAccountKeyPrefix, name, "")
}

// CreateOwnAccountKey makes an account key, or one of test mode, for an owner of the
// workspace, with whom it ends. Errors: those of CreateAccountKey, insufficient_role.
func CreateOwnAccountKey(ctx context.Context, tx *db.Tx, who Principal, name string, test bool) (NewKey, error) {
	prefix := contract.AccountKeyPrefix
	if test {
		prefix = contract.TestAccountKeyPrefix
	}
	return createAccountKey(ctx, tx, who.WorkspaceID, prefix, name, who.Credential.PersonID)
}

// createAccountKey makes an account key. madeBy is the person who makes it; "" for an
// operator.
func createAccountKey(ctx context.Context, tx *db.Tx, workspaceID, prefix, name, madeBy string) (NewKey, error) {
	k, err := newKey(tx, prefix, name)
	if err != nil {
		return NewKey{}, err
	}
	if err := limitKeys(ctx, tx, workspaceID, tx.AccountKeyActive); err != nil {
		return NewKey{}, err
	}
	if err := mayMake(ctx, tx, workspaceID, madeBy, Owner); err != nil {
		return NewKey{}, err
	}
	row := query.AccountKey{
		KeyID: k.KeyID, WorkspaceID: workspaceID, Name: k.Name, SecretSha256: Hash(k.Secret), MaskedPrefix: k.MaskedPrefix, CreatedAt: tx.Now, MadeBy: madeBy,
	}
	row.RowSum = accountKeys.Of(row)
	if err := tx.AccountKeyCreate(ctx, query.AccountKeyCreateParams(row)); err != nil {
		return NewKey{}, fmt.Errorf("create account key: %w", err)
	}
	return k, nil
}

// AgentTerms is what an agent key may do. Only Name is required.
type AgentTerms struct {
	Name string
	// SpendLimitCents bounds what the key spends in a calendar month (UTC), in cents; 0
	// forbids all spending, nil leaves the wallet as the only bound.
	SpendLimitCents *int64
	// Life is how long the key works; 0 is until it is revoked.
	Life time.Duration
	// Scopes is what the key may do; none means AllScopes.
	Scopes Scopes
	// Resources are the addresses at which the key works; none means everywhere.
	Resources []string
	// Test makes a key of test mode.
	Test bool
	// MadeBy is the person who makes the key, with whom it ends; "" for an operator. It
	// takes an owner; where a program only gets tokens, a member.
	MadeBy string
	// OnlyTokens makes a key whose secret is not known to anyone: package oauth gives
	// out tokens for it.
	OnlyTokens bool
}

// prefix begins keys of these terms.
func (t AgentTerms) prefix() string {
	if t.Test {
		return contract.TestAgentKeyPrefix
	}
	return contract.AgentKeyPrefix
}

// CreateAgentKey makes an agent key of a workspace. Errors: invalid_key_name,
// key_limit_reached, insufficient_role.
func CreateAgentKey(ctx context.Context, tx *db.Tx, workspaceID string, terms AgentTerms) (NewKey, error) {
	k, err := newKey(tx, terms.prefix(), terms.Name)
	if err != nil {
		return NewKey{}, err
	}
	if err := RoomForAgentKey(ctx, tx, workspaceID); err != nil {
		return NewKey{}, err
	}
	least := Owner
	if terms.OnlyTokens {
		least = Member
	}
	if err := mayMake(ctx, tx, workspaceID, terms.MadeBy, least); err != nil {
		return NewKey{}, err
	}
	if terms.OnlyTokens {
		k.MaskedPrefix = terms.prefix() + "…"
	}
	row := query.AgentKey{
		KeyID: k.KeyID, WorkspaceID: workspaceID, Name: k.Name, SecretSha256: Hash(k.Secret), MaskedPrefix: k.MaskedPrefix,
		SpendLimitCents: noLimit, CreatedAt: tx.Now, Scopes: terms.Scopes.String(), Resources: strings.Join(terms.Resources, " "),
		MadeBy: terms.MadeBy,
	}
	if terms.SpendLimitCents != nil {
		row.SpendLimitCents = *terms.SpendLimitCents
	}
	if terms.Life > 0 {
		k.ExpiresAt = new(tx.Time().Add(terms.Life))
		row.ExpiresAt = db.Micros(*k.ExpiresAt)
	}
	row.RowSum = agentKeys.Of(row)
	if err := tx.AgentKeyCreate(ctx, query.AgentKeyCreateParams(row)); err != nil {
		return NewKey{}, fmt.Errorf("create agent key: %w", err)
	}
	return k, nil
}

// mayMake refuses a person who cannot make a key, now that the workspace is locked: one who
// was removed meanwhile would keep what they make. Error: insufficient_role.
func mayMake(ctx context.Context, tx *db.Tx, workspaceID, personID string, least Role) error {
	if personID == "" {
		return nil
	}
	role, err := roleIn(ctx, tx, workspaceID, personID)
	if err == nil && !role.Includes(least) {
		err = insufficientRole(least, role)
	}
	return err
}

// RoomForAgentKey refuses where a workspace has as many active agent keys as it may. It locks
// the workspace. Error: key_limit_reached.
func RoomForAgentKey(ctx context.Context, tx *db.Tx, workspaceID string) error {
	return limitKeys(ctx, tx, workspaceID, func(ctx context.Context, workspaceID string) (int64, error) {
		return tx.AgentKeyActive(ctx, query.AgentKeyActiveParams{WorkspaceID: workspaceID, Now: tx.Now})
	})
}

// noLimit is the stored value of a key without a spend limit: 0 is a limit too.
const noLimit = -1

// CreateNodeKey makes a worker's key. It belongs to no workspace and its number is not
// limited, because only the operator makes one. Errors: invalid_key_name.
func CreateNodeKey(ctx context.Context, tx *db.Tx, name string) (NewKey, error) {
	k, err := newKey(tx, contract.NodeKeyPrefix, name)
	if err != nil {
		return NewKey{}, err
	}
	row := query.NodeKey{
		KeyID: k.KeyID, Name: k.Name, SecretSha256: Hash(k.Secret), MaskedPrefix: k.MaskedPrefix, CreatedAt: tx.Now,
	}
	row.RowSum = nodeKeys.Of(row)
	if err := tx.NodeKeyCreate(ctx, query.NodeKeyCreateParams(row)); err != nil {
		return NewKey{}, fmt.Errorf("create node key: %w", err)
	}
	return k, nil
}

// ReplaceNodeKey revokes the node keys with that name and makes a new one. It serves
// workers that receive a new key at every start, of which no other process may use the
// name: it would be cut off. Errors: invalid_key_name.
func ReplaceNodeKey(ctx context.Context, tx *db.Tx, name string) (NewKey, error) {
	revoked, err := tx.NodeKeyRevokeNamed(ctx, query.NodeKeyRevokeNamedParams{Now: tx.Now, Name: name})
	if err != nil {
		return NewKey{}, fmt.Errorf("revoke node keys named %s: %w", name, err)
	}
	for _, row := range revoked {
		if err := nodeKeys.Renew(ctx, tx, row); err != nil {
			return NewKey{}, err
		}
	}
	return CreateNodeKey(ctx, tx, name)
}

// Revoke ends a key of any kind and workspace, for the operator. Requests that have
// passed authentication end within seconds: see package inflight. Error: key_not_found when there is no active one.
func Revoke(ctx context.Context, tx *db.Tx, keyID string) error {
	for _, revoke := range []func() (int64, error){
		func() (int64, error) {
			row, err := tx.AccountKeyRevoke(ctx, query.AccountKeyRevokeParams{Now: tx.Now, KeyID: keyID})
			return accountKeys.Changed(ctx, tx, row, err)
		},
		func() (int64, error) {
			row, err := tx.AgentKeyRevoke(ctx, query.AgentKeyRevokeParams{Now: tx.Now, KeyID: keyID})
			return agentKeys.Changed(ctx, tx, row, err)
		},
		func() (int64, error) {
			row, err := tx.NodeKeyRevoke(ctx, query.NodeKeyRevokeParams{Now: tx.Now, KeyID: keyID})
			return nodeKeys.Changed(ctx, tx, row, err)
		},
		func() (int64, error) {
			row, err := tx.OperatorKeyRevoke(ctx, query.OperatorKeyRevokeParams{Now: tx.Now, KeyID: keyID})
			return operatorKeys.Changed(ctx, tx, row, err)
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

// Key is the public part of a key: everything but its secret (spec 2.5). The door
// writes it as JSON.
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
	// SpentCents is what an agent key has spent in this calendar month (UTC); 0 of
	// another key.
	SpentCents int64
	ExpiresAt  *time.Time // when an agent key expires; nil for never
	// CreatedBy is the person who made it, or an operator. It is nil of a worker's key.
	CreatedBy *Actor
}

// Test reports whether it is a key of test mode. The key itself says so, so no column can
// contradict it.
func (k Key) Test() bool {
	return strings.HasPrefix(k.MaskedPrefix, contract.TestAgentKeyPrefix) || strings.HasPrefix(k.MaskedPrefix, contract.TestAccountKeyPrefix)
}

// Ended reports whether a key opens nothing any more.
func (k Key) Ended(now time.Time) bool {
	return k.RevokedAt != nil || (k.ExpiresAt != nil && !k.ExpiresAt.After(now))
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
		k := r.AccountKey
		keys[i] = Key{
			KeyID: k.KeyID, Name: k.Name, MaskedPrefix: k.MaskedPrefix, CreatedAt: db.Time(k.CreatedAt),
			LastUsedAt: db.OptionalTime(k.LastUsedAt), RevokedAt: db.OptionalTime(k.RevokedAt), CreatedBy: makerOf(k.MadeBy, r.Maker, k.RevokedAt),
		}
	}
	return keys, nil
}

// AgentKeys lists the agent keys of a workspace, newest first, revoked ones included.
func AgentKeys(ctx context.Context, tx *db.Tx, workspaceID string) ([]Key, error) {
	rows, err := tx.AgentKeysOf(ctx, workspaceID)
	if err != nil {
		return nil, fmt.Errorf("list agent keys: %w", err)
	}
	spent, err := tx.AgentKeysSpent(ctx, query.AgentKeysSpentParams{WorkspaceID: workspaceID, Since: db.Micros(Month(tx.Time()))})
	if err != nil {
		return nil, fmt.Errorf("add up what agent keys spent: %w", err)
	}
	cents := map[string]int64{}
	for _, s := range spent {
		cents[s.KeyID] = s.Cents
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		k := r.AgentKey
		keys[i] = Key{
			k.KeyID, k.Name, k.MaskedPrefix, db.Time(k.CreatedAt), db.OptionalTime(k.LastUsedAt), db.OptionalTime(k.RevokedAt),
			limitOf(k.SpendLimitCents), cents[k.KeyID], db.OptionalTime(k.ExpiresAt), makerOf(k.MadeBy, r.Maker, k.RevokedAt),
		}
	}
	return keys, nil
}

// Month is the beginning of the calendar month in UTC: spending limits count from it.
func Month(now time.Time) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// NodeKeys lists the workers' keys, newest first, revoked ones included. Node keys have
// no spending limit.
func NodeKeys(ctx context.Context, tx *db.Tx) ([]Key, error) {
	rows, err := tx.NodeKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list node keys: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{
			KeyID: r.KeyID, Name: r.Name, MaskedPrefix: r.MaskedPrefix, CreatedAt: db.Time(r.CreatedAt),
			LastUsedAt: db.OptionalTime(r.LastUsedAt), RevokedAt: db.OptionalTime(r.RevokedAt),
		}
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
	row, err := tx.AccountKeyRevokeOf(ctx, query.AccountKeyRevokeOfParams{Now: tx.Now, KeyID: keyID, WorkspaceID: workspaceID})
	n, err := accountKeys.Changed(ctx, tx, row, err)
	return revoked(n, err, keyID)
}

// RevokeAgentKey ends an agent key of a workspace. Error: key_not_found when the
// workspace has no such active key.
func RevokeAgentKey(ctx context.Context, tx *db.Tx, workspaceID, keyID string) error {
	row, err := tx.AgentKeyRevokeOf(ctx, query.AgentKeyRevokeOfParams{Now: tx.Now, KeyID: keyID, WorkspaceID: workspaceID})
	n, err := agentKeys.Changed(ctx, tx, row, err)
	return revoked(n, err, keyID)
}

// revoked turns a statement's count into the answer. A key of another workspace and one
// that is revoked already look like one that does not exist.
func revoked(rows int64, err error, keyID string) error {
	if err != nil {
		return fmt.Errorf("revoke key %s: %w", keyID, err)
	}
	if rows == 0 {
		return fault.New(fault.KeyNotFound, "There is no active key %s.", keyID)
	}
	return nil
}
