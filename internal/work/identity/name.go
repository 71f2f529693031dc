package identity

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/plaintext"
)

// MaxName bounds the name of a workspace, in characters.
const MaxName = 80

// Names are the names of workspaces by their ids; the id itself where a workspace was erased.
// Ids that are unknown here are left out.
func Names(ctx context.Context, tx *db.Tx, ids []string) (map[string]string, error) {
	names := map[string]string{}
	for _, id := range ids {
		if names[id] != "" {
			continue
		}
		w, err := tx.WorkspaceGet(ctx, id)
		if db.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the name of %s: %w", id, err)
		}
		names[id] = cmp.Or(w.Name, id)
	}
	return names, nil
}

// Rename gives a workspace a name, for its people and for operators. Errors:
// workspace_not_found, also of an erased one; invalid_request for a name that is empty, too
// long or more than a line of plain text.
func Rename(ctx context.Context, tx *db.Tx, workspaceID, name string) error {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > MaxName || plaintext.Line(name) != name {
		return fault.Field("name", "must be 1 to %d characters on one line", MaxName)
	}
	row, err := tx.WorkspaceRename(ctx, query.WorkspaceRenameParams{WorkspaceID: workspaceID, Name: name})
	n, err := workspaces.Changed(ctx, tx, row, err)
	if err != nil {
		return fmt.Errorf("rename %s: %w", workspaceID, err)
	}
	if n == 0 {
		return fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	return nil
}
