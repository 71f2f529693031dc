package identity

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/notice"
)

// Erase takes the people out of a workspace, empties its name and those of its keys, revokes
// the keys, hides its proof pages and marks it as erased. People who are in no other workspace
// are removed, with all that signs them in. Repeating it changes nothing. Error:
// workspace_not_found.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if _, _, err := WorkspaceOf(ctx, tx, workspaceID); err != nil {
		return err
	}
	if err := tx.SessionsErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase sessions: %w", err)
	}
	if err := eraseInvitations(ctx, tx, workspaceID); err != nil {
		return fmt.Errorf("erase invitations: %w", err)
	}
	if err := releaseBy(ctx, tx, workspaceID, ""); err != nil {
		return err
	}
	if err := tx.MemberLeftErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase who left: %w", err)
	}
	all, err := tx.MembersOf(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("list members: %w", err)
	}
	for _, m := range all {
		if err := part(ctx, tx, workspaceID, m.PersonID); err != nil {
			return err
		}
		if err := leave(ctx, tx, workspaceID, Person{m.PersonID, m.Email, m.Home}); err != nil {
			return err
		}
	}
	if err := eraseKeys(ctx, tx, workspaceID); err != nil {
		return fmt.Errorf("erase keys: %w", err)
	}
	row, err := tx.WorkspaceErase(ctx, query.WorkspaceEraseParams{Now: tx.Now, WorkspaceID: workspaceID})
	if err != nil {
		return fmt.Errorf("erase workspace: %w", err)
	}
	return workspaces.Renew(ctx, tx, row)
}

// leave removes a person who was in an erased workspace only, and otherwise has their sign-in
// open another one.
func leave(ctx context.Context, tx *db.Tx, workspaceID string, p Person) error {
	others, err := Memberships(ctx, tx, p.PersonID)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return rehome(ctx, tx, workspaceID, p.PersonID)
	}
	if err := lease.Erase(ctx, tx, LinkQueue, p.Email); err != nil {
		return err
	}
	if err := tx.InvitationsEraseTo(ctx, p.Email); err != nil {
		return fmt.Errorf("erase invitations: %w", err)
	}
	if err := tx.SignInLinksErase(ctx, p.Email); err != nil {
		return fmt.Errorf("erase sign-in links: %w", err)
	}
	if err := notice.EraseReader(ctx, tx, p.PersonID); err != nil {
		return err
	}
	if _, err := tx.OperatorRemove(ctx, p.PersonID); err != nil {
		return fmt.Errorf("erase an operator: %w", err)
	}
	if err := forgetMaker(ctx, tx, p.PersonID); err != nil {
		return err
	}
	for _, erase := range []func(context.Context, string) error{tx.PersonSessionsErase, tx.LoginsErase, tx.PersonErase} {
		if err := erase(ctx, p.PersonID); err != nil {
			return fmt.Errorf("erase a person: %w", err)
		}
	}
	return nil
}

// forgetMaker takes a person out of the keys that they made in workspaces that they left. Those
// keys have ended.
func forgetMaker(ctx context.Context, tx *db.Tx, personID string) error {
	accounts, err := tx.AccountKeysForget(ctx, personID)
	if err != nil {
		return fmt.Errorf("forget who made account keys: %w", err)
	}
	for _, row := range accounts {
		if err := accountKeys.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	agents, err := tx.AgentKeysForget(ctx, personID)
	if err != nil {
		return fmt.Errorf("forget who made agent keys: %w", err)
	}
	for _, row := range agents {
		if err := agentKeys.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}

// LockWorkspace locks a workspace, so that what is counted of it stays counted, and so
// that it is not erased meanwhile. Error: workspace_not_found, also of an erased one: a
// request that was in progress adds nothing to it.
func LockWorkspace(ctx context.Context, tx *db.Tx, workspaceID string) error {
	erasedAt, err := tx.WorkspaceLock(ctx, workspaceID)
	if db.IsNotFound(err) || (err == nil && erasedAt != 0) {
		return fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	if err != nil {
		return fmt.Errorf("lock workspace: %w", err)
	}
	return nil
}

// eraseKeys revokes a workspace's keys and empties their names. Their rows stay: jobs name
// the key that spent.
func eraseKeys(ctx context.Context, tx *db.Tx, workspaceID string) error {
	accounts, err := tx.AccountKeysErase(ctx, query.AccountKeysEraseParams{Now: tx.Now, WorkspaceID: workspaceID})
	if err != nil {
		return err
	}
	for _, row := range accounts {
		if err := accountKeys.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	agents, err := tx.AgentKeysErase(ctx, query.AgentKeysEraseParams{Now: tx.Now, WorkspaceID: workspaceID})
	if err != nil {
		return err
	}
	for _, row := range agents {
		if err := agentKeys.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}
