package db_test

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"svc.example/internal/test/dbtest"
)

// A search compares words that no index orders. It is fast with 100,000 jobs of a workspace
// because it reads job_found from its newest entry on, and none of the jobs themselves.
func TestASearchReadsItsIndexAlone(t *testing.T) {
	t.Parallel()
	text, newer := statements(t)["JobPageFound"], statements(t)["JobPageFoundNewer"]
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.Raw(t, dbtest.URL(t, "postgres"))
		tx, err := pool.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		fill(t, tx, "job", 20_000)
		exec(t, tx, "SET LOCAL plan_cache_mode = force_generic_plan")
		if plan := explain(t, tx, "JobPageFound", text); !strings.Contains(plan, "Index Only Scan Backward using job_found on job") || strings.Contains(plan, "Sort") {
			t.Error(plan)
		}
		if plan := explain(t, tx, "JobPageFoundNewer", newer); !strings.Contains(plan, "Index Only Scan using job_found on job") || strings.Contains(plan, "Sort") {
			t.Error(plan)
		}
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.Raw(t, dbtest.URL(t, "sqlite"))
		for bound, text := range map[string]string{"job_id<?": text, "job_id>?": newer} {
			var values []any
			for range len(regexp.MustCompile(`\$\d+`).FindAllString(text, -1)) {
				values = append(values, "")
			}
			plan := planOf(t, pool, regexp.MustCompile(`\$\d+`).ReplaceAllString(text, "?"), values)
			if !strings.Contains(plan, "USING COVERING INDEX job_found (workspace_id=? AND "+bound+")") || strings.Contains(plan, "TEMP B-TREE") {
				t.Error(plan)
			}
		}
	})
}

// planOf returns the plan of a statement on SQLite.
func planOf(t *testing.T, pool *sql.DB, text string, values []any) (plan string) {
	t.Helper()
	rows, err := pool.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, values...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan += detail + "\n"
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}
