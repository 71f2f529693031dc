package proof_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/story"
	"svc.example/internal/work/audit"
)

// TestTheAuditSeesWhatWasDoneToTheLog changes the log without the service, each
// time in one way, and undoes it.
func TestTheAuditSeesWhatWasDoneToTheLog(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LogOrigin = "renders.example.com/log"
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(&story.Painter{})
		for range 3 {
			c.Await(c.StartFrames(1).JobID, client.StatusCompleted)
		}
		svc.Stop()
		raw := rawDatabase(t, config.Database)
		const leaf = "a receipt is its leaf in the log"
		for _, scenario := range []struct {
			name, do, undo string // undo is given the entry of leaf 2
			rules          []string
		}{
			{
				"a leaf is another", "UPDATE receipt_log_leaf SET entry = 'f' || substr(entry, 1, 63) WHERE log_index = 2",
				"UPDATE receipt_log_leaf SET entry = $1 WHERE log_index = 2", []string{"the log is whole", leaf},
			},
			{
				"the last leaf is gone", "DELETE FROM receipt_log_leaf WHERE log_index = 2",
				"INSERT INTO receipt_log_leaf (log_index, entry) VALUES (2, $1)", []string{"the log is whole", leaf},
			},
			{
				"a leaf has no owner", "UPDATE receipt SET envelope = 'x' || envelope WHERE job_id = (SELECT max(job_id) FROM job)",
				"UPDATE receipt SET envelope = substr(envelope, 2) WHERE $1 <> '' AND job_id = (SELECT max(job_id) FROM job)", []string{"a leaf belongs to a receipt"},
			},
		} {
			var entry string
			if err := raw.QueryRow("SELECT entry FROM receipt_log_leaf WHERE log_index = 2").Scan(&entry); err != nil {
				t.Fatal(err)
			}
			execute(t, raw, scenario.do)
			found, err := svc.App.Audit(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range scenario.rules {
				if !slices.ContainsFunc(found.Breaches, func(b audit.Breach) bool { return b.Rule == rule }) {
					t.Errorf("%s: the audit finds %+v, want a breach of %q", scenario.name, found.Breaches, rule)
				}
			}
			execute(t, raw, scenario.undo, entry)
		}
	})
}

// rawDatabase opens a service's database next to it.
func rawDatabase(t *testing.T, url string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if (db.Config{URL: url}).Name() == "postgres" {
		driver = "pgx"
	}
	raw, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

func execute(t *testing.T, raw *sql.DB, statement string, values ...any) {
	t.Helper()
	if _, err := raw.Exec(statement, values...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
