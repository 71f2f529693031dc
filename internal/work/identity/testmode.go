package identity

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/wallet"
)

// Keys of test mode are in the same tables as all others: made, listed, limited and revoked
// alike. They are no keys of the real service, because their prefix is another one. A test
// world is a service with a store of its own; Enter makes its caller known there, under the
// secret without the word test.

// testWord is what the prefix of a test key has more than that of a real one.
const testWord = "test_"

// IsTestKey reports whether an Authorization header has a key of test mode, by its form.
func IsTestKey(header string) bool {
	secret := secretOf(header)
	return strings.HasPrefix(secret, contract.TestAgentKeyPrefix) || strings.HasPrefix(secret, contract.TestAccountKeyPrefix)
}

// secretOf is what follows the scheme in an Authorization header.
func secretOf(header string) string {
	_, secret, _ := strings.Cut(header, " ")
	return strings.TrimSpace(secret)
}

// TestKey authenticates an Authorization header as a key of test mode. Error:
// unauthenticated.
func TestKey(ctx context.Context, d *db.DB, header string) (Principal, error) {
	if strings.HasPrefix(secretOf(header), contract.TestAgentKeyPrefix) {
		return agent(ctx, d, header, contract.TestAgentKeyPrefix, "")
	}
	return account(ctx, d, header, contract.TestAccountKeyPrefix)
}

// WorldHeader returns the Authorization header that opens in a test world what a test key
// opens.
func WorldHeader(header string) string {
	return "Bearer " + strings.Replace(secretOf(header), testWord, "", 1)
}

// Guest is a caller whom a test world does not know yet.
type Guest struct {
	Principal // as the real store knows it
	// Secret is the secret that the world sees: of WorldHeader, or a session's token.
	Secret string
}

// noEnd is the end of a session in a test world: the real store decides when it ends, not
// a moved clock.
var noEnd = db.Micros(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))

// Enter makes a caller known in the store of its workspace's test world: the workspace with
// an empty wallet, the person of a session, the key or the session. The caller has
// authenticated in the real store, which alone knows whether a credential has ended.
// Repeating it changes nothing.
func Enter(ctx context.Context, tx *db.Tx, g Guest) error {
	err := enterWorkspace(ctx, tx, g.WorkspaceID)
	if err != nil {
		return err
	}
	switch g.Credential.Kind {
	case AgentCredential:
		err = enterAgent(ctx, tx, g)
	case AccountCredential:
		err = enterAccount(ctx, tx, g)
	case SessionCredential:
		err = enterSession(ctx, tx, g)
	default:
		err = fmt.Errorf("a %q enters no test world", g.Credential.Kind)
	}
	return err
}

// EnteredAs reports whether the test world still knows a guest with the role that they have in
// the real store. A person's role can change after they entered. Keys have no role.
func EnteredAs(ctx context.Context, tx *db.Tx, g Guest) (bool, error) {
	if g.Credential.Kind != SessionCredential {
		return true, nil
	}
	known, err := tx.SessionGet(ctx, Hash(g.Secret))
	if db.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up session: %w", err)
	}
	return Role(known.Role) == g.Role, nil
}

func enterWorkspace(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if _, err := tx.WorkspaceGet(ctx, workspaceID); !db.IsNotFound(err) {
		return err
	}
	row := query.Workspace{WorkspaceID: workspaceID, Name: "test mode", CreatedAt: tx.Now, ProofPage: 1}
	row.RowSum = workspaces.Of(row)
	if err := tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams(row)); err != nil {
		return fmt.Errorf("create workspace: %w", err)
	}
	return wallet.Open(ctx, tx, workspaceID)
}

func enterAgent(ctx context.Context, tx *db.Tx, g Guest) error {
	if _, err := tx.AgentKeyBySecret(ctx, Hash(g.Secret)); !db.IsNotFound(err) {
		return err
	}
	row := query.AgentKey{
		KeyID: g.Credential.KeyID, WorkspaceID: g.WorkspaceID, Name: "test key", SecretSha256: Hash(g.Secret), MaskedPrefix: contract.TestAgentKeyPrefix + "…",
		SpendLimitCents: noLimit, CreatedAt: tx.Now, Scopes: g.Scopes.String(),
	}
	if g.SpendLimitCents != nil {
		row.SpendLimitCents = *g.SpendLimitCents
	}
	row.RowSum = agentKeys.Of(row)
	return tx.AgentKeyCreate(ctx, query.AgentKeyCreateParams(row))
}

func enterAccount(ctx context.Context, tx *db.Tx, g Guest) error {
	if _, err := tx.AccountKeyBySecret(ctx, Hash(g.Secret)); !db.IsNotFound(err) {
		return err
	}
	row := query.AccountKey{
		KeyID: g.Credential.KeyID, WorkspaceID: g.WorkspaceID, Name: "test key", SecretSha256: Hash(g.Secret), MaskedPrefix: contract.TestAccountKeyPrefix + "…", CreatedAt: tx.Now,
	}
	row.RowSum = accountKeys.Of(row)
	return tx.AccountKeyCreate(ctx, query.AccountKeyCreateParams(row))
}

func enterSession(ctx context.Context, tx *db.Tx, g Guest) error {
	known, err := tx.SessionGet(ctx, Hash(g.Secret))
	if err == nil { // with the role of then
		return enterRole(ctx, tx, g, known.PersonID)
	}
	if !db.IsNotFound(err) {
		return err
	}
	person, err := tx.PersonByEmail(ctx, g.Credential.Email)
	if db.IsNotFound(err) {
		person = query.Person{PersonID: id.New(id.Person), Email: g.Credential.Email, WorkspaceID: g.WorkspaceID, CreatedAt: tx.Now}
		person.RowSum = people.Of(person)
		var n int64
		if n, err = tx.PersonCreate(ctx, query.PersonCreateParams(person)); err == nil && n == 0 {
			return fault.New(fault.Unavailable, "Another sign-in with this address is in progress. Try again.")
		}
	}
	if err != nil {
		return fmt.Errorf("enter as a person: %w", err)
	}
	if err := enterRole(ctx, tx, g, person.PersonID); err != nil {
		return err
	}
	row := query.Session{TokenSha256: Hash(g.Secret), PersonID: person.PersonID, CreatedAt: tx.Now, ExpiresAt: noEnd, WorkspaceID: g.WorkspaceID}
	row.RowSum = sessions.Of(row)
	return tx.SessionCreate(ctx, query.SessionCreateParams(row))
}

// guest is who added the members of a test world.
const guest = "test mode"

// enterRole gives a person the role in the world that they have in the workspace.
func enterRole(ctx context.Context, tx *db.Tx, g Guest, personID string) error {
	joined, err := join(ctx, tx, g.WorkspaceID, personID, g.Role, guest)
	if err != nil || joined {
		return err
	}
	row, err := tx.MemberSetRole(ctx, query.MemberSetRoleParams{WorkspaceID: g.WorkspaceID, PersonID: personID, Role: string(g.Role)})
	_, err = members.Changed(ctx, tx, row, err)
	return err
}

// NodeSecret returns the secret of a worker's key that follows from 32 bytes of a key.
func NodeSecret(key []byte) string {
	digits := new(big.Int).SetBytes(key).Text(len(base62))
	return contract.NodeKeyPrefix + strings.Repeat("0", contract.KeySecretLength-len(digits)) + digits
}

// EnterNode makes the key of a test world's worker known in the world. Repeating it changes
// nothing.
func EnterNode(ctx context.Context, tx *db.Tx, secret string) error {
	if _, err := tx.NodeKeyBySecret(ctx, Hash(secret)); !db.IsNotFound(err) {
		return err
	}
	row := query.NodeKey{KeyID: id.New(id.Key), Name: "test mode", SecretSha256: Hash(secret), MaskedPrefix: contract.NodeKeyPrefix + "…", CreatedAt: tx.Now}
	row.RowSum = nodeKeys.Of(row)
	return tx.NodeKeyCreate(ctx, query.NodeKeyCreateParams(row))
}
