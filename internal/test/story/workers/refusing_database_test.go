package workers_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
)

// TestADatabaseThatRefusesLosesNothingAndBlamesNobody: PostgreSQL answers, and refuses. Callers are
// told to come back, the probe and the metrics say so, the log says it once, and what was being
// rendered is delivered afterwards.
func TestADatabaseThatRefusesLosesNothingAndBlamesNobody(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct{ refuse, again string }{
		// After a switch-over; providers do it when a disk is full.
		"it only reads":             {"SET default_transaction_read_only = on", "RESET default_transaction_read_only"},
		"it has no connection left": {"CONNECTION LIMIT 0", "CONNECTION LIMIT -1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := dbtest.URL(t, "postgres")
			address, err := url.Parse(database)
			if err != nil {
				t.Fatal(err)
			}
			other := dbtest.Raw(t, database)
			other.SetMaxOpenConns(1) // which stays open
			become := func(setting string) {
				for _, statement := range []string{
					"SET default_transaction_read_only = off",
					"ALTER DATABASE " + strings.TrimPrefix(address.Path, "/") + " " + setting,
					"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
				} {
					if _, err := other.ExecContext(context.Background(), statement); err != nil {
						t.Errorf("%s: %v", statement, err)
					}
				}
			}
			t.Cleanup(func() { become(change.again) }) // the next test has the database
			refusing(t, database, func() { become(change.refuse) }, func() { become(change.again) })
		})
	}
}

// TestALockedDatabaseLosesNothingAndBlamesNobody is the same with SQLite, while another program keeps
// its write lock.
func TestALockedDatabaseLosesNothingAndBlamesNobody(t *testing.T) {
	t.Parallel()
	database := dbtest.URL(t, "sqlite")
	other := dbtest.Raw(t, database)
	other.SetMaxOpenConns(1) // which keeps the lock
	do := func(statement string) {
		if _, err := other.ExecContext(context.Background(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	refusing(t, database, func() { do("BEGIN IMMEDIATE") }, func() { do("ROLLBACK") })
}

// refusing has a database refuse while two workers render.
func refusing(t *testing.T, database string, begin, end func()) {
	t.Helper()
	var log logBuffer
	var metrics string
	config := app.Config{
		Listen: story.FreeAddress(t), Data: t.TempDir(), Database: database, Log: apptest.Logger(t, io.MultiWriter(t.Output(), &log)),
		MetricsListen: "127.0.0.1:0", AnnounceMetrics: func(address string) { metrics = address },
	}
	pass := story.Moved(&config)
	svc := story.StartLone(t, config)
	c := svc.Caller(story.Credit)
	finish := rendersThrough(t, svc, c)
	before := len(log.String())
	begin()
	await.Until(t, "the probe to notice", func() bool { return statusOf(t, svc.URL+"/readyz") == http.StatusServiceUnavailable })
	pass(25 * time.Second)
	wantFigures(t, metrics, "svc_store_up 0")
	for range 2 {
		whole(t, svc.URL, c.Agent.Secret).wantAway(t, "an upload")
	}
	end()
	await.Until(t, "the probe to succeed", func() bool { return statusOf(t, svc.URL+"/readyz") == http.StatusOK })
	await.Until(t, "the log to tell of the end", func() bool { return strings.Contains(log.String(), "the store answers again") })
	if n := strings.Count(log.String()[before:], "level=ERROR"); n > 1 {
		t.Errorf("the log has %d errors of one outage:\n%s", n, log.String()[before:])
	}
	wantFigures(t, metrics, "svc_store_up 1")
	finish()
}
