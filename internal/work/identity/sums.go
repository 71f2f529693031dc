package identity

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The rows of this package carry checksums: whose a key, a session or an address is
// follows from nothing else. A sum covers the whole row but a key's last use, which
// changes with every minute of work.
var (
	workspaces = rowsum.Table[query.Workspace]{
		Name: "workspace",
		After: func(ctx context.Context, tx *db.Tx, last query.Workspace) ([]query.Workspace, error) {
			return tx.WorkspaceAfter(ctx, last.WorkspaceID)
		},
		Fields: func(r query.Workspace) []any { return []any{r.WorkspaceID, r.Name, r.CreatedAt, r.ProofPage} },
		Kept:   func(r query.Workspace) string { return r.RowSum },
		ID:     func(r query.Workspace) string { return r.WorkspaceID },
		Store: func(ctx context.Context, tx *db.Tx, r query.Workspace, sum string) error {
			return tx.WorkspaceSum(ctx, query.WorkspaceSumParams{RowSum: sum, WorkspaceID: r.WorkspaceID})
		},
	}
	people = rowsum.Table[query.Person]{
		Name: "person",
		After: func(ctx context.Context, tx *db.Tx, last query.Person) ([]query.Person, error) {
			return tx.PersonAfter(ctx, last.PersonID)
		},
		Fields: func(r query.Person) []any { return []any{r.PersonID, r.Email, r.WorkspaceID, r.CreatedAt} },
		Kept:   func(r query.Person) string { return r.RowSum },
		ID:     func(r query.Person) string { return r.PersonID },
		Store: func(ctx context.Context, tx *db.Tx, r query.Person, sum string) error {
			return tx.PersonSum(ctx, query.PersonSumParams{RowSum: sum, PersonID: r.PersonID})
		},
	}
	logins = rowsum.Table[query.PersonLogin]{
		Name: "person_login",
		After: func(ctx context.Context, tx *db.Tx, last query.PersonLogin) ([]query.PersonLogin, error) {
			return tx.LoginAfter(ctx, query.LoginAfterParams{Issuer: last.Issuer, Subject: last.Subject})
		},
		Fields: func(r query.PersonLogin) []any { return []any{r.Issuer, r.Subject, r.PersonID, r.CreatedAt} },
		Kept:   func(r query.PersonLogin) string { return r.RowSum },
		ID:     func(r query.PersonLogin) string { return r.Issuer + " " + r.Subject },
		Store: func(ctx context.Context, tx *db.Tx, r query.PersonLogin, sum string) error {
			return tx.LoginSum(ctx, query.LoginSumParams{RowSum: sum, Issuer: r.Issuer, Subject: r.Subject})
		},
	}
	accountKeys = rowsum.Table[query.AccountKey]{
		Name: "account_key",
		After: func(ctx context.Context, tx *db.Tx, last query.AccountKey) ([]query.AccountKey, error) {
			return tx.AccountKeyAfter(ctx, last.KeyID)
		},
		Fields: func(r query.AccountKey) []any {
			return []any{r.KeyID, r.WorkspaceID, r.Name, r.SecretSha256, r.MaskedPrefix, r.CreatedAt, r.RevokedAt}
		},
		Kept: func(r query.AccountKey) string { return r.RowSum },
		ID:   func(r query.AccountKey) string { return r.KeyID },
		Store: func(ctx context.Context, tx *db.Tx, r query.AccountKey, sum string) error {
			return tx.AccountKeySum(ctx, query.AccountKeySumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
	agentKeys = rowsum.Table[query.AgentKey]{
		Name: "agent_key",
		After: func(ctx context.Context, tx *db.Tx, last query.AgentKey) ([]query.AgentKey, error) {
			return tx.AgentKeyAfter(ctx, last.KeyID)
		},
		Fields: func(r query.AgentKey) []any {
			return []any{r.KeyID, r.WorkspaceID, r.Name, r.SecretSha256, r.MaskedPrefix, r.SpendLimitCents, r.CreatedAt, r.RevokedAt}
		},
		Kept: func(r query.AgentKey) string { return r.RowSum },
		ID:   func(r query.AgentKey) string { return r.KeyID },
		Store: func(ctx context.Context, tx *db.Tx, r query.AgentKey, sum string) error {
			return tx.AgentKeySum(ctx, query.AgentKeySumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
	nodeKeys = rowsum.Table[query.NodeKey]{
		Name: "node_key",
		After: func(ctx context.Context, tx *db.Tx, last query.NodeKey) ([]query.NodeKey, error) {
			return tx.NodeKeyAfter(ctx, last.KeyID)
		},
		Fields: func(r query.NodeKey) []any {
			return []any{r.KeyID, r.Name, r.SecretSha256, r.MaskedPrefix, r.CreatedAt, r.RevokedAt}
		},
		Kept: func(r query.NodeKey) string { return r.RowSum },
		ID:   func(r query.NodeKey) string { return r.KeyID },
		Store: func(ctx context.Context, tx *db.Tx, r query.NodeKey, sum string) error {
			return tx.NodeKeySum(ctx, query.NodeKeySumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
	sessions = rowsum.Table[query.Session]{
		Name: "session",
		After: func(ctx context.Context, tx *db.Tx, last query.Session) ([]query.Session, error) {
			return tx.SessionAfter(ctx, last.TokenSha256)
		},
		Fields: func(r query.Session) []any { return []any{r.TokenSha256, r.PersonID, r.CreatedAt, r.ExpiresAt} },
		Kept:   func(r query.Session) string { return r.RowSum },
		ID:     func(r query.Session) string { return r.TokenSha256 },
		Store: func(ctx context.Context, tx *db.Tx, r query.Session, sum string) error {
			return tx.SessionSum(ctx, query.SessionSumParams{RowSum: sum, TokenSha256: r.TokenSha256})
		},
	}
	signInLinks = rowsum.Table[query.SignInLink]{
		Name: "sign_in_link",
		After: func(ctx context.Context, tx *db.Tx, last query.SignInLink) ([]query.SignInLink, error) {
			return tx.SignInLinkAfter(ctx, last.TokenSha256)
		},
		Fields: func(r query.SignInLink) []any {
			return []any{r.TokenSha256, r.Email, r.CreatedAt, r.ExpiresAt, r.UsedAt}
		},
		Kept: func(r query.SignInLink) string { return r.RowSum },
		ID:   func(r query.SignInLink) string { return r.TokenSha256 },
		Store: func(ctx context.Context, tx *db.Tx, r query.SignInLink, sum string) error {
			return tx.SignInLinkSum(ctx, query.SignInLinkSumParams{RowSum: sum, TokenSha256: r.TokenSha256})
		},
	}
)

// FillSums writes the checksums of rows that an older version wrote. A service calls it
// before it serves.
func FillSums(ctx context.Context, d *db.DB) error {
	for _, fill := range []func(context.Context, *db.DB) error{
		workspaces.Fill, people.Fill, logins.Fill, accountKeys.Fill, agentKeys.Fill, nodeKeys.Fill, sessions.Fill, signInLinks.Fill,
	} {
		if err := fill(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
