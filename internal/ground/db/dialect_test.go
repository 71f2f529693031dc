package db_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/dbtest"
)

// recorder keeps the text of each statement that it prepares, by its name.
type recorder struct {
	query.DBTX
	texts map[string]string
}

func (r recorder) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	r.texts[db.StatementName(text)] = text
	return r.DBTX.PrepareContext(ctx, text)
}

func TestSQLiteStatementsMatchTheirOriginals(t *testing.T) {
	t.Parallel()
	pg, lite := open(t, "pgx", dbtest.URL(t, "postgres")), open(t, "sqlite", dbtest.URL(t, "sqlite"))
	r := recorder{pg, map[string]string{}}
	if _, err := query.Prepare(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	own := db.SQLiteStatements()
	for name, text := range r.texts {
		if _, named := own[name]; !named && (strings.Contains(text, "FOR UPDATE") || strings.Contains(text, "FOR NO KEY UPDATE")) {
			t.Errorf("%s locks rows and has no text for SQLite in sqlite.sql", name)
		}
	}
	for name, text := range own {
		if strings.ContainsAny(text[len(text)-1:], "; \n") {
			t.Errorf("%s has text behind its end, so SQLite's driver prepares it at every run", name)
		}
		if r.texts[name] == "" {
			t.Errorf("sqlite.sql has %s, which is not in queries/", name)
			continue
		}
		said := describe(t, pg, r.texts[name])
		var columns []string
		for _, f := range said.Fields {
			columns = append(columns, f.Name)
		}
		args := make([]any, len(said.ParamOIDs))
		for i := range args {
			args[i] = 0
		}
		rows, err := lite.QueryContext(t.Context(), text, args...)
		if err != nil {
			t.Errorf("%s with the %d parameters of its statement: %v", name, len(args), err)
			continue
		}
		if got, err := rows.Columns(); err != nil || !slices.Equal(got, columns) {
			t.Errorf("%s reads %v, its statement %v, error %v", name, got, columns, err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if most := strings.Count(text, "?"); strings.Contains(text, "?"+string(rune('1'+len(args)))) || most < len(args) {
			t.Errorf("%s does not use each of the %d parameters of its statement", name, len(args))
		}
	}
}

func open(t *testing.T, driver, url string) *sql.DB {
	t.Helper()
	pool, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	pool.SetMaxOpenConns(1)
	return pool
}

// describe has PostgreSQL say what a statement takes and gives.
func describe(t *testing.T, pg *sql.DB, text string) (said *pgconn.StatementDescription) {
	t.Helper()
	conn, err := pg.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	err = conn.Raw(func(c any) (err error) {
		said, err = c.(*stdlib.Conn).Conn().Prepare(t.Context(), "", text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}
