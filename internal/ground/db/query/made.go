package query

import (
	"context"
	"database/sql"
)

// Query runs a statement that is made of a table's name and key, as those of package rowsum
// are; every other one is in the folder queries. It begins with "-- name: NAME", as those do.
// Its parameters are $1, $2 and so on.
func (q *Queries) Query(ctx context.Context, statement string, values ...any) (*sql.Rows, error) {
	return q.db.QueryContext(ctx, statement, values...)
}

// Exec is Query for a statement without rows.
func (q *Queries) Exec(ctx context.Context, statement string, values ...any) error {
	_, err := q.db.ExecContext(ctx, statement, values...)
	return err
}
