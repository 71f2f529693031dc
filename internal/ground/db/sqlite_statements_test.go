package db_test

import (
	"database/sql"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
)

// generated returns the generated statements by their names.
func generated(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("query/*.sql.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && strings.HasPrefix(text, "-- name: ") {
					texts[db.StatementName(text)] = text
				}
			}
			return true
		})
	}
	return texts
}

func TestSQLiteStatementsMatchTheirOriginals(t *testing.T) {
	t.Parallel()
	pg, lite := open(t, "pgx", dbtest.URL(t, "postgres")), open(t, "sqlite", dbtest.URL(t, "sqlite"))
	texts := generated(t)
	own := db.SQLiteStatements()
	for name, text := range texts {
		if _, named := own[name]; !named && (strings.Contains(text, "FOR UPDATE") || strings.Contains(text, "FOR NO KEY UPDATE")) {
			t.Errorf("%s locks rows and has no text for SQLite in sqlite.sql", name)
		}
	}
	for name, text := range own {
		if strings.ContainsAny(text[len(text)-1:], "; \n") {
			t.Errorf("%s has text after its end, so SQLite's driver prepares it at every run", name)
		}
		if texts[name] == "" {
			t.Errorf("sqlite.sql has %s, which is not in queries/", name)
			continue
		}
		said := describe(t, pg, texts[name])
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
