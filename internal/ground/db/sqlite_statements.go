package db

import (
	"context"
	"database/sql/driver"
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

//go:embed sqlite.sql
var sqliteText string

// namePrefix precedes a statement's name, in the code of sqlc and in sqlite.sql.
const namePrefix = "-- name: "

// sqliteStatements returns the statements of sqlite.sql by name. It cuts each one off at
// its end: the driver would prepare a text with anything after it again at every run.
var sqliteStatements = sync.OnceValue(func() map[string]string {
	own := map[string]string{}
	for _, part := range strings.Split(sqliteText, "\n"+namePrefix)[1:] {
		name, text, _ := strings.Cut(part, "\n")
		own[name] = strings.TrimRight(text, "; \n")
	}
	return own
})

// listed is how statements ask for the members of a JSON array. SQLite has another function
// for it.
var listed = regexp.MustCompile(`= ANY \(ARRAY\(SELECT json_array_elements_text\(CAST\(CAST\((\$\d+) AS text\) AS json\)\)\)\)`)

// statementName returns the name of a generated statement.
func statementName(text string) string {
	text, _ = strings.CutPrefix(text, namePrefix)
	name, _, _ := strings.Cut(text, " ")
	return name
}

// sqliteConnector opens connections that keep their statements.
type sqliteConnector struct {
	driver.Connector
	told func(name string)
}

// Connect opens a connection.
func (c sqliteConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &sqliteConn{opened.(sqliteDriverConn), map[string]sqliteStatement{}, c.told}, nil
}

// newSQLiteConnector returns the connector of a file with its options. told, unless nil, receives
// the names of statements.
func newSQLiteConnector(file string, told func(name string)) (driver.Connector, error) {
	c, err := sqlite.NewConnector(file)
	return sqliteConnector{c, told}, err
}

// sqliteDriverConn is what database/sql uses of a connection of the driver.
type sqliteDriverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// sqliteStatement is a prepared statement of the driver.
type sqliteStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// sqliteConn prepares each generated statement at its first use and keeps it: preparing
// costs more than running most of them. These are written for PostgreSQL; those that
// sqlite.sql has are replaced. Like every connection it serves one goroutine at a time, and
// generated code reads all rows of a statement before it runs it again.
type sqliteConn struct {
	sqliteDriverConn
	kept map[string]sqliteStatement
	told func(name string) // nil for nobody
}

// ExecContext runs a statement.
func (c *sqliteConn) ExecContext(ctx context.Context, text string, values []driver.NamedValue) (driver.Result, error) {
	if !strings.HasPrefix(text, namePrefix) {
		c.tell(text)
		return c.sqliteDriverConn.ExecContext(ctx, text, values)
	}
	statement, err := c.statement(text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, values)
}

// QueryContext runs a statement that reads.
func (c *sqliteConn) QueryContext(ctx context.Context, text string, values []driver.NamedValue) (driver.Rows, error) {
	if !strings.HasPrefix(text, namePrefix) {
		return c.sqliteDriverConn.QueryContext(ctx, text, values)
	}
	statement, err := c.statement(text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, values)
}

func (c *sqliteConn) tell(name string) {
	if c.told != nil {
		c.told(name)
	}
}

// statement returns a generated statement, prepared.
func (c *sqliteConn) statement(text string) (sqliteStatement, error) {
	c.tell(statementName(text))
	if kept, ok := c.kept[text]; ok {
		return kept, nil
	}
	own, ok := sqliteStatements()[statementName(text)]
	if !ok {
		own = listed.ReplaceAllString(text, "IN (SELECT value FROM json_each(${1}))")
	}
	prepared, err := c.Prepare(own)
	if err != nil {
		return nil, err
	}
	statement := prepared.(sqliteStatement)
	c.kept[text] = statement
	return statement, nil
}

// Close ends the statements and the connection.
func (c *sqliteConn) Close() error {
	for _, statement := range c.kept {
		_ = statement.Close() // the connection's own error counts
	}
	clear(c.kept)
	return c.sqliteDriverConn.Close()
}
