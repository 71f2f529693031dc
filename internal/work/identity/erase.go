package identity

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
)

// Erase removes the people of a workspace with all that signs them in, empties its name
// and those of its keys, revokes the keys, hides its proof pages and marks it as erased. A
// person has one workspace, so none of them belongs to another one. Repeating it changes
// nothing. Error: workspace_not_found.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	_, emails, err := WorkspaceOf(ctx, tx, workspaceID)
	if err != nil {
		return err
	}
	for _, email := range emails {
		if err := lease.Erase(ctx, tx, LinkQueue, email); err != nil {
			return err
		}
		if err := tx.SignInLinksErase(ctx, email); err != nil {
			return fmt.Errorf("erase sign-in links: %w", err)
		}
	}
	for _, erase := range []func(context.Context, string) error{tx.SessionsErase, tx.OperatorsErase, tx.LoginsErase, tx.PeopleErase} {
		if err := erase(ctx, workspaceID); err != nil {
			return fmt.Errorf("erase people: %w", err)
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
