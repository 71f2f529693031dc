package db_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc.example/internal/test/dbtest"
)

// A service has a workspace with nearly all jobs, and others with few. PostgreSQL plans a
// statement once for all of them, and where it takes the statistics at their word, it looks
// for the jobs of the others among all: so `start` took 30 ms in a store of 100,000 jobs.
func TestNoPlanLooksForAWorkspaceAmongTheRowsOfAll(t *testing.T) {
	t.Parallel()
	pool := dbtest.Raw(t, dbtest.URL(t, "postgres"))
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	large := []string{"job", "upload", "quote", "ledger_transaction", "top_up", "webhook_event", "project_content"}
	for _, table := range large {
		fill(t, tx, table, 20_000)
	}
	exec(t, tx, "SET LOCAL plan_cache_mode = force_generic_plan")
	// The audit reads everything, an operator may ask for the jobs and the usage of all workspaces, and a
	// workspace is erased once.
	readsAll := regexp.MustCompile(`^(Audit.*|JobsOfAll|JobsOfAllNewer|Usage|QuotesErase)$`)
	asks := regexp.MustCompile(`\b(workspace_id|key_id|input_sha256) = `)
	scan := regexp.MustCompile(`(?m)(Seq Scan|Scan.* using \w+_pkey) on (\w+).*\n(?:.*Cond: (.*)\n)?.*Filter: (.*)$`)
	planned := 0
	for name, text := range statements(t) {
		if !asks.MatchString(text) || readsAll.MatchString(name) {
			continue
		}
		planned++
		plan := explain(t, tx, name, text)
		for _, s := range scan.FindAllStringSubmatch(plan, -1) {
			if slices.Contains(large, s[2]) && !strings.Contains(s[3], " = ") && asks.MatchString(s[4]) {
				t.Errorf("%s searches all rows of %s:\n%s", name, s[2], plan)
			}
		}
	}
	if planned < 50 {
		t.Errorf("%d statements were planned", planned)
	}
}

// fill gives a table so many rows of one workspace that differ in their keys alone.
func fill(t *testing.T, tx *sql.Tx, table string, rows int) {
	t.Helper()
	exec(t, tx, fmt.Sprintf(`DO $$ DECLARE c text; BEGIN
		FOR c IN SELECT conname FROM pg_constraint WHERE conrelid = '%[1]s'::regclass AND contype IN ('f', 'c') LOOP
			EXECUTE format('ALTER TABLE %[1]s DROP CONSTRAINT %%I', c);
		END LOOP;
	END $$`, table))
	var columns, values string
	err := tx.QueryRowContext(t.Context(), `
		SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum), string_agg(CASE
			WHEN attname = 'workspace_id' THEN '''WSP-1'''
			WHEN attname = 'status' THEN '''completed'''
			WHEN attname IN ('upload_id', 'quote_id', 'job_id') OR attnum IN (SELECT unnest(indkey) FROM pg_index WHERE indrelid = attrelid AND indisunique) THEN 'n'
			WHEN attname LIKE '%sha256' OR attname IN ('key_id', 'filename') THEN '''the one'''
			ELSE '0' END || CASE WHEN atttypid = 'text'::regtype THEN '::text' ELSE '::bigint' END, ', ' ORDER BY attnum)
		FROM pg_attribute WHERE attrelid = CAST($1 AS regclass) AND attnum > 0 AND NOT attisdropped`, table).Scan(&columns, &values)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, tx, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM generate_series(1, %d) AS n", table, columns, values, rows))
	exec(t, tx, "ANALYZE "+table)
}

// statements returns the text of every statement by its name.
func statements(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("query/*.sql.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range regexp.MustCompile("(?s)= `-- name: (\\w+) :\\w+\n(.*?)`").FindAllStringSubmatch(string(text), -1) {
			all[q[1]] = q[2]
		}
	}
	return all
}

// explain returns the plan that a statement has for any parameters.
func explain(t *testing.T, tx *sql.Tx, name, text string) string {
	t.Helper()
	exec(t, tx, "PREPARE "+name+" AS "+text)
	parameters := 0
	for _, p := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(p[1])
		parameters = max(parameters, n)
	}
	call := name
	if parameters > 0 {
		call += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", parameters), ", ") + ")"
	}
	rows, err := tx.QueryContext(t.Context(), "EXPLAIN EXECUTE "+call)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer func() { _ = rows.Close() }()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

func exec(t *testing.T, tx *sql.Tx, statement string) {
	t.Helper()
	if _, err := tx.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
