package db

import (
	"context"
	"database/sql"
	_ "embed"
	"strings"

	"svc.example/internal/ground/db/query"
)

//go:embed sqlite.sql
var sqliteText string

// nameMark stands before a statement's name, in what sqlc generates and in
// sqlite.sql.
const nameMark = "-- name: "

// sqliteStatements is sqlite.sql by the names of its statements. Nothing follows a
// statement: the driver prepares a text that goes on anew at every run.
func sqliteStatements() map[string]string {
	own := map[string]string{}
	for _, part := range strings.Split(sqliteText, "\n"+nameMark)[1:] {
		name, text, _ := strings.Cut(part, "\n")
		own[name] = strings.TrimRight(text, "; \n")
	}
	return own
}

// statementName is the name of a generated statement.
func statementName(text string) string {
	text, _ = strings.CutPrefix(text, nameMark)
	name, _, _ := strings.Cut(text, " ")
	return name
}

// sqliteDialect prepares the generated statements, which are written for
// PostgreSQL: those that sqlite.sql names as it says them.
type sqliteDialect struct {
	query.DBTX
	own map[string]string
}

// PrepareContext prepares a generated statement.
func (d sqliteDialect) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	if own, ok := d.own[statementName(text)]; ok {
		text = own
	}
	return d.DBTX.PrepareContext(ctx, text)
}
