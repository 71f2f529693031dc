package operate

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// recorded is an act of the record with the name of its workspace; "" for none.
type recorded struct {
	operator.Done
	Workspace string
}

// recordOf adds the names of workspaces to acts.
func recordOf(ctx context.Context, tx *db.Tx, acts []operator.Done, err error) ([]recorded, error) {
	if err != nil {
		return nil, err
	}
	names, err := namesOf(ctx, tx, acts, func(a operator.Done) string { return a.WorkspaceID })
	all := make([]recorded, 0, len(acts))
	for _, a := range acts {
		all = append(all, recorded{a, names[a.WorkspaceID]})
	}
	return all, err
}

// namesOf reads the names of the workspaces that rows belong to, by their ids.
func namesOf[T any](ctx context.Context, tx *db.Tx, rows []T, workspace func(T) string) (map[string]string, error) {
	var ids []string
	for _, row := range rows {
		if id := workspace(row); id != "" {
			ids = append(ids, id)
		}
	}
	return identity.Names(ctx, tx, ids)
}
