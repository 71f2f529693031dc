package dbtest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // opens PostgreSQL in parallel with the service

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Unseen damages one cell after the other of the named tables, each in a transaction that
// is rolled back: a number grows by one, a text gets a letter more. It returns the
// columns, as "table.column", of which audit finds no breach. Each table needs a row. A
// column whose damage the schema refuses counts as seen.
func Unseen(t *testing.T, url string, audit func(tx *db.Tx) (breaches int, err error), tables ...string) (unseen []string) {
	t.Helper()
	pool := Raw(t, url)
	for _, table := range tables {
		for _, column := range columnsOf(t, pool, url, table) {
			seen, err := seesDamage(t, pool, url, table, column, audit)
			if err != nil {
				t.Fatalf("%s.%s: %v", table, column, err)
			}
			if !seen {
				unseen = append(unseen, table+"."+column)
			}
		}
	}
	return unseen
}

// Raw opens a database next to the service, without foreign keys: manual changes can turn them off.
func Raw(t *testing.T, url string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if isPostgres(url) {
		driver = "pgx"
	}
	pool, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func isPostgres(url string) bool { return (db.Config{URL: url}).Name() == "postgres" }

// columnsOf lists a table's columns.
func columnsOf(t *testing.T, pool *sql.DB, url, table string) (all []string) {
	t.Helper()
	statement := "SELECT name FROM pragma_table_info('" + table + "') ORDER BY cid"
	if isPostgres(url) {
		statement = "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '" + table + "' ORDER BY ordinal_position"
	}
	rows, err := pool.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%s has %d columns: %v", table, len(all), err)
	}
	return all
}

// seesDamage damages one cell and reports whether the audit finds it.
func seesDamage(t *testing.T, pool *sql.DB, url, table, column string, audit func(tx *db.Tx) (int, error)) (seen bool, err error) {
	t.Helper()
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	row := "rowid"
	if isPostgres(url) {
		row = "ctid"
		if _, err := tx.ExecContext(t.Context(), dropForeignKeys); err != nil {
			return false, err
		}
	}
	var kind string
	if err := tx.QueryRowContext(t.Context(), fmt.Sprintf("SELECT %s FROM %s LIMIT 1", typeOf(url, column), table)).Scan(&kind); err != nil {
		return false, fmt.Errorf("is there a row? %w", err)
	}
	damage := column + " || 'x'"
	if strings.HasPrefix(kind, "int") || kind == "bigint" {
		damage = column + " + 1"
	}
	statement := fmt.Sprintf("UPDATE %[1]s SET %[2]s = %[3]s WHERE %[4]s = (SELECT min(%[4]s) FROM %[1]s)", table, column, damage, row)
	if _, err := tx.ExecContext(t.Context(), statement); err != nil {
		return true, nil // the schema refuses it
	}
	breaches, err := audit(&db.Tx{Queries: query.New(tx), Now: time.Now().UnixMicro()})
	return breaches > 0, err
}

// dropForeignKeys is undone with its transaction.
const dropForeignKeys = `DO $$ DECLARE statement text; BEGIN
  FOR statement IN SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
    FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
  LOOP EXECUTE statement; END LOOP;
END $$`

func typeOf(url, column string) string {
	if isPostgres(url) {
		return "CAST(pg_typeof(" + column + ") AS text)"
	}
	return "typeof(" + column + ")"
}
