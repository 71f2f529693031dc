package dbtest_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"svc.example/internal/test/dbtest"
)

// on runs statements on the database, and returns how many workspaces there are and
// how many rows that the migrations wrote.
func on(t *testing.T, url string, statements ...string) (workspaces, seeded int) {
	t.Helper()
	pool, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	for _, statement := range statements {
		if _, err := pool.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := pool.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM workspace), (SELECT count(*) FROM receipt_log)").Scan(&workspaces, &seeded); err != nil {
		t.Fatal(err)
	}
	return workspaces, seeded
}

// TestEveryTestFindsADatabaseAsTheMigrationsLeaveIt uses databases one after the
// other, so that most are used again, and leaves each in another disorder.
func TestEveryTestFindsADatabaseAsTheMigrationsLeaveIt(t *testing.T) {
	t.Parallel()
	for n, statements := range [][]string{
		{"INSERT INTO workspace (workspace_id, name, created_at) VALUES ('a', 'a', 1)", "INSERT INTO person (person_id, email, workspace_id, created_at) VALUES ('p', 'p', 'a', 1)"},
		{"DELETE FROM receipt_log"},
		{"INSERT INTO workspace SELECT n::text, repeat('x', 1000), 1 FROM generate_series(1, 1000) n"},
		{"ALTER TABLE workspace ADD COLUMN more text"},
		{"DROP TABLE receipt_log CASCADE", "CREATE TABLE receipt_log (a text)"},
		{"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", "CREATE TRIGGER g BEFORE INSERT ON workspace EXECUTE FUNCTION f()"},
		nil,
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			url := dbtest.URL(t, "postgres")
			if workspaces, seeded := on(t, url); workspaces != 0 || seeded != 1 {
				t.Errorf("there are %d workspaces and %d logs", workspaces, seeded)
			}
			on(t, url, statements...)
		})
	}
}

func TestTwoTestsNeverShareADatabase(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 4 {
		url := dbtest.URL(t, "postgres")
		if seen[url] || !strings.HasPrefix(url, "postgres://svc_tests:") {
			t.Errorf("%s is given twice, or to a superuser", url)
		}
		seen[url] = true
	}
}

// TestAConnectionOfTheLastTestIsEnded leaves one open with a row locked.
func TestAConnectionOfTheLastTestIsEnded(t *testing.T) {
	t.Parallel()
	var left *sql.DB
	for range 2 {
		t.Run("", func(t *testing.T) {
			url := dbtest.URL(t, "postgres")
			pool, err := sql.Open("pgx", url)
			if err != nil {
				t.Fatal(err)
			}
			tx, err := pool.BeginTx(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(context.Background(), "LOCK TABLE workspace IN ACCESS EXCLUSIVE MODE"); err != nil {
				t.Fatal(err)
			}
			left = pool
		})
	}
	t.Cleanup(func() { _ = left.Close() })
}
