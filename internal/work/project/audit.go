package project

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Audit reports uploads without a project, removed uploads that still have one, and
// content that no project uses. It compares rows only; whether each blob is in the
// store is for the audit package. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, thing, format string, args ...any)) error {
	uploads, err := tx.AuditProjectless(ctx)
	if err != nil {
		return fmt.Errorf("audit projects: %w", err)
	}
	for _, uploadID := range uploads {
		breach("an upload has a project until it is removed", uploadID, "it has no project, or was removed and still has one")
	}
	unused, err := tx.AuditUnusedContent(ctx)
	if err != nil {
		return fmt.Errorf("audit content: %w", err)
	}
	for _, c := range unused {
		breach("content goes with its last project", c.Sha256, "workspace %s has it, no project uses it", c.WorkspaceID)
	}
	return nil
}
