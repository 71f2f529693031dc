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

// namePrefix precedes a statement's name, in the code of sqlc and in sqlite.sql.
const namePrefix = "-- name: "

// sqliteStatements returns the statements of sqlite.sql by name. It cuts each one off at
// its end: the driver would prepare a text with something behind it again at every run.
func sqliteStatements() map[string]string {
	own := map[string]string{}
	for _, part := range strings.Split(sqliteText, "\n"+namePrefix)[1:] {
		name, text, _ := strings.Cut(part, "\n")
		own[name] = strings.TrimRight(text, "; \n")
	}
	return own
}

// statementName returns the name of a generated statement.
func statementName(text string) string {
	text, _ = strings.CutPrefix(text, namePrefix)
	name, _, _ := strings.Cut(text, " ")
	return name
}

// sqliteDialect prepares the generated statements, which are written for PostgreSQL. It
// replaces those that sqlite.sql contains.
type sqliteDialect struct {
	query.DBTX
	own map[string]string
}

// PrepareContext prepares a generated statement, or its replacement.
func (d sqliteDialect) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	if own, ok := d.own[statementName(text)]; ok {
		text = own
	}
	return d.DBTX.PrepareContext(ctx, text)
}

// preparedOnce runs generated statements that read, each by the one that it has prepared.
// Like a transaction, it is not safe for concurrent use.
type preparedOnce struct {
	sqliteDialect
	statements map[string]*sql.Stmt
}

func (p preparedOnce) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	statement, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, values...)
}

func (p preparedOnce) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	statement, err := p.statement(ctx, text)
	if err != nil {
		return p.DBTX.QueryRowContext(ctx, text, values...) // which has the error as well
	}
	return statement.QueryRowContext(ctx, values...)
}

func (p preparedOnce) statement(ctx context.Context, text string) (statement *sql.Stmt, err error) {
	if p.statements[text] == nil {
		if statement, err = p.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
		p.statements[text] = statement
	}
	return p.statements[text], nil
}
