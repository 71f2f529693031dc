package wallet

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Frozen is why and since when a workspace starts nothing.
type Frozen struct {
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

// Freeze keeps a workspace from starting jobs and ordering free looks, and says why. Jobs
// that are under way go on: they are paid. Freezing it again changes the reason. Errors:
// workspace_not_found; invalid_request for a reason that is empty or too long.
func Freeze(ctx context.Context, tx *db.Tx, workspaceID, reason string) error {
	reason, err := fault.Reason(reason)
	if err != nil {
		return err
	}
	if _, err := Get(ctx, tx, workspaceID); err != nil {
		return err
	}
	row := query.WalletFreeze{WorkspaceID: workspaceID, Reason: reason, FrozenAt: tx.Now}
	row.RowSum = freezeRows.Of(row)
	if _, err := tx.FreezeSet(ctx, query.FreezeSetParams(row)); err != nil {
		return fmt.Errorf("freeze workspace: %w", err)
	}
	return nil
}

// Unfreeze lets a workspace start jobs again. Where it is not frozen, nothing changes.
// Error: workspace_not_found.
func Unfreeze(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if _, err := Get(ctx, tx, workspaceID); err != nil {
		return err
	}
	if _, err := tx.FreezeLift(ctx, workspaceID); err != nil {
		return fmt.Errorf("unfreeze workspace: %w", err)
	}
	return nil
}

// FreezeOf reads the freeze of a workspace; nil where there is none.
func FreezeOf(ctx context.Context, tx *db.Tx, workspaceID string) (*Frozen, error) {
	row, err := tx.FreezeGet(ctx, workspaceID)
	if db.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read freeze: %w", err)
	}
	return &Frozen{row.Reason, db.Time(row.FrozenAt)}, nil
}

// RequireUnfrozen refuses what a frozen workspace may not do. Error: workspace_frozen.
func RequireUnfrozen(ctx context.Context, tx *db.Tx, workspaceID string) error {
	frozen, err := FreezeOf(ctx, tx, workspaceID)
	if err == nil && frozen != nil {
		err = fault.New(fault.WorkspaceFrozen, "The operator has frozen this workspace: %s", frozen.Reason)
	}
	return err
}

// EraseFreeze removes the words of an erased workspace's freeze. An erased workspace
// starts nothing anyway.
func EraseFreeze(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if _, err := tx.FreezeLift(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase freeze: %w", err)
	}
	return nil
}
