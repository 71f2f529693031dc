package identity

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Audit reports workspaces, people, keys, sessions and sign-in links that are not as they
// were written, and keys that were used at a time that cannot be. An error means that the
// audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	used := func(keyID string, createdAt, lastUsedAt int64) error {
		if lastUsedAt != 0 && (lastUsedAt < createdAt-clockSlack.Microseconds() || lastUsedAt > tx.Now+clockSlack.Microseconds()) {
			breach("a key is used between its creation and now", keyID, "created at %s, last used at %s",
				db.Time(createdAt).Format(time.RFC3339), db.Time(lastUsedAt).Format(time.RFC3339))
		}
		return nil
	}
	for _, audit := range []func() error{
		func() error { return workspaces.Audit(ctx, tx, breach, nil) },
		func() error { return people.Audit(ctx, tx, breach, nil) },
		func() error { return logins.Audit(ctx, tx, breach, nil) },
		func() error {
			return accountKeys.Audit(ctx, tx, breach, func(r query.AccountKey) error { return used(r.KeyID, r.CreatedAt, r.LastUsedAt) })
		},
		func() error {
			return agentKeys.Audit(ctx, tx, breach, func(r query.AgentKey) error { return used(r.KeyID, r.CreatedAt, r.LastUsedAt) })
		},
		func() error {
			return nodeKeys.Audit(ctx, tx, breach, func(r query.NodeKey) error { return used(r.KeyID, r.CreatedAt, r.LastUsedAt) })
		},
		func() error {
			return operatorKeys.Audit(ctx, tx, breach, func(r query.OperatorKey) error { return used(r.KeyID, r.CreatedAt, r.LastUsedAt) })
		},
		func() error { return sessions.Audit(ctx, tx, breach, nil) },
		func() error { return signInLinks.Audit(ctx, tx, breach, nil) },
		func() error { return operators.Audit(ctx, tx, breach, nil) },
		func() error { return members.Audit(ctx, tx, breach, nil) },
		func() error { return memberLimits.Audit(ctx, tx, breach, nil) },
		func() error { return memberDomains.Audit(ctx, tx, breach, nil) },
		func() error { return membersLeft.Audit(ctx, tx, breach, nil) },
		func() error { return invitations.Audit(ctx, tx, breach, nil) },
		func() error { return auditMembers(ctx, tx, breach) },
	} {
		if err := audit(); err != nil {
			return fmt.Errorf("audit who may call: %w", err)
		}
	}
	return nil
}

// auditMembers reports workspaces that nobody owns, and people who are not in the workspace
// that their sign-in opens.
func auditMembers(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	rows, err := tx.AuditMembers(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Lacks == "owner" {
			breach("a workspace has an owner", r.Subject, "none of its members is one")
		} else {
			breach("a person is in the workspace that their sign-in opens", r.Subject, "they are no member of it")
		}
	}
	return nil
}

// clockSlack is how far a clock may have been wrong when a time was written. Correcting
// a clock must not cause breaches.
const clockSlack = 24 * time.Hour
