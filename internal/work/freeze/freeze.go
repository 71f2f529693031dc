// Package freeze keeps a workspace from starting anything: it owes money, or it breaks the
// terms.
//
// What always holds: a frozen workspace starts no job and orders no free preview; its
// running jobs continue, and everything stays readable. The reason is for its people. A
// freeze for a debt ends with the debt; an operator's ends when an operator lifts it, and
// an operator may lift either. Packages operator and wallet decide whom to freeze. Start
// reading at Require.
package freeze

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	why "svc.example/internal/ground/reason"
	"svc.example/internal/ground/rowsum"
)

// Origins of a freeze. The texts are stored.
const (
	byOperator = "operator"
	byDebt     = "debt"
)

// debtReason is what the people of a workspace read that owes money.
const debtReason = "a payment was taken back after its money was spent; add the owed amount to continue"

// Frozen is why and since when a workspace starts nothing.
type Frozen struct {
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

// Set freezes a workspace, and says why. Freezing it again changes the reason. Errors:
// workspace_not_found; invalid_request for a reason that is empty or too long.
func Set(ctx context.Context, tx *db.Tx, workspaceID, reason string) error {
	reason, err := why.Of(reason)
	if err == nil {
		err = exists(ctx, tx, workspaceID)
	}
	if err != nil {
		return err
	}
	row := query.WorkspaceFreeze{WorkspaceID: workspaceID, Reason: reason, FrozenAt: tx.Now, Cause: byOperator}
	row.RowSum = rows.Of(row)
	if err := tx.FreezeSet(ctx, query.FreezeSetParams(row)); err != nil {
		return fmt.Errorf("freeze workspace: %w", err)
	}
	return nil
}

// SetDebt freezes a workspace that owes money. One that is frozen stays so for its own
// reason.
func SetDebt(ctx context.Context, tx *db.Tx, workspaceID string) error {
	row := query.WorkspaceFreeze{WorkspaceID: workspaceID, Reason: debtReason, FrozenAt: tx.Now, Cause: byDebt}
	row.RowSum = rows.Of(row)
	if err := tx.FreezeAdd(ctx, query.FreezeAddParams(row)); err != nil {
		return fmt.Errorf("freeze workspace for its debt: %w", err)
	}
	return nil
}

// LiftDebt ends the freeze of a workspace that owes nothing any more. An operator's freeze
// stays.
func LiftDebt(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.FreezeLiftCause(ctx, query.FreezeLiftCauseParams{WorkspaceID: workspaceID, Cause: byDebt}); err != nil {
		return fmt.Errorf("lift the freeze for a debt: %w", err)
	}
	return nil
}

// Lift lets a workspace start jobs again. Where it is not frozen, nothing changes. Error:
// workspace_not_found.
func Lift(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := exists(ctx, tx, workspaceID); err != nil {
		return err
	}
	return Erase(ctx, tx, workspaceID)
}

// exists returns workspace_not_found for a workspace that is not there.
func exists(ctx context.Context, tx *db.Tx, workspaceID string) error {
	_, err := tx.WorkspaceGet(ctx, workspaceID)
	if db.IsNotFound(err) {
		return fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	if err != nil {
		return fmt.Errorf("read workspace: %w", err)
	}
	return nil
}

// Of reads the freeze of a workspace; nil where there is none.
func Of(ctx context.Context, tx *db.Tx, workspaceID string) (*Frozen, error) {
	row, err := tx.FreezeGet(ctx, workspaceID)
	if db.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read freeze: %w", err)
	}
	return &Frozen{row.Reason, db.Time(row.FrozenAt)}, nil
}

// Require refuses what a frozen workspace may not do. Error: workspace_frozen.
func Require(ctx context.Context, tx *db.Tx, workspaceID string) error {
	frozen, err := Of(ctx, tx, workspaceID)
	if err == nil && frozen != nil {
		err = fault.New(fault.WorkspaceFrozen, "This workspace is frozen: %s", frozen.Reason)
	}
	return err
}

// Erase removes the reason of an erased workspace's freeze: such a workspace starts
// nothing anyway.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.FreezeLift(ctx, workspaceID); err != nil {
		return fmt.Errorf("lift freeze: %w", err)
	}
	return nil
}

// rows carry checksums: what freezes a workspace cannot be derived from
// anything else.
var rows = rowsum.Table[query.WorkspaceFreeze]{Name: "workspace_freeze", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{rows}

// Audit reports freezes that are not as they were written. An error means that the audit
// did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	return rows.Audit(ctx, tx, breach, nil)
}
