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
		Name: "workspace", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.Workspace) ([]query.Workspace, error) {
			return tx.WorkspaceAfter(ctx, last.WorkspaceID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.Workspace, sum string) error {
			return tx.WorkspaceSum(ctx, query.WorkspaceSumParams{RowSum: sum, WorkspaceID: r.WorkspaceID})
		},
	}
	people = rowsum.Table[query.Person]{
		Name: "person", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.Person) ([]query.Person, error) {
			return tx.PersonAfter(ctx, last.PersonID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.Person, sum string) error {
			return tx.PersonSum(ctx, query.PersonSumParams{RowSum: sum, PersonID: r.PersonID})
		},
	}
	logins = rowsum.Table[query.PersonLogin]{
		Name: "person_login", Key: 2,
		After: func(ctx context.Context, tx *db.Tx, last query.PersonLogin) ([]query.PersonLogin, error) {
			return tx.LoginAfter(ctx, query.LoginAfterParams{Issuer: last.Issuer, Subject: last.Subject})
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.PersonLogin, sum string) error {
			return tx.LoginSum(ctx, query.LoginSumParams{RowSum: sum, Issuer: r.Issuer, Subject: r.Subject})
		},
	}
	accountKeys = rowsum.Table[query.AccountKey]{
		Name: "account_key", Key: 1, Except: []string{"LastUsedAt"},
		After: func(ctx context.Context, tx *db.Tx, last query.AccountKey) ([]query.AccountKey, error) {
			return tx.AccountKeyAfter(ctx, last.KeyID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.AccountKey, sum string) error {
			return tx.AccountKeySum(ctx, query.AccountKeySumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
	agentKeys = rowsum.Table[query.AgentKey]{
		Name: "agent_key", Key: 1, Except: []string{"LastUsedAt"},
		After: func(ctx context.Context, tx *db.Tx, last query.AgentKey) ([]query.AgentKey, error) {
			return tx.AgentKeyAfter(ctx, last.KeyID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.AgentKey, sum string) error {
			return tx.AgentKeySum(ctx, query.AgentKeySumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
	nodeKeys = rowsum.Table[query.NodeKey]{
		Name: "node_key", Key: 1, Except: []string{"LastUsedAt"},
		After: func(ctx context.Context, tx *db.Tx, last query.NodeKey) ([]query.NodeKey, error) {
			return tx.NodeKeyAfter(ctx, last.KeyID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.NodeKey, sum string) error {
			return tx.NodeKeySum(ctx, query.NodeKeySumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
	sessions = rowsum.Table[query.Session]{
		Name: "session", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.Session) ([]query.Session, error) {
			return tx.SessionAfter(ctx, last.TokenSha256)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.Session, sum string) error {
			return tx.SessionSum(ctx, query.SessionSumParams{RowSum: sum, TokenSha256: r.TokenSha256})
		},
	}
	operators = rowsum.Table[query.Operator]{
		Name: "operator", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.Operator) ([]query.Operator, error) {
			return tx.OperatorAfter(ctx, last.PersonID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.Operator, sum string) error {
			return tx.OperatorSum(ctx, query.OperatorSumParams{RowSum: sum, PersonID: r.PersonID})
		},
	}
	signInLinks = rowsum.Table[query.SignInLink]{
		Name: "sign_in_link", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.SignInLink) ([]query.SignInLink, error) {
			return tx.SignInLinkAfter(ctx, last.TokenSha256)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.SignInLink, sum string) error {
			return tx.SignInLinkSum(ctx, query.SignInLinkSumParams{RowSum: sum, TokenSha256: r.TokenSha256})
		},
	}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{workspaces, people, logins, accountKeys, agentKeys, nodeKeys, sessions, signInLinks, operators}
