package db_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
)

// TestNoMigrationRunsUnderAnOlderProcess: a program with more migrations refuses to open the
// database while a process that knows fewer is alive, unless it is told to. It changes nothing
// before. One that fell silent, or that knows as many, is in nobody's way.
func TestNoMigrationRunsUnderAnOlderProcess(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		schema, err := db.Schema()
		if err != nil {
			t.Fatal(err)
		}
		// The first release with that register did not say what it can do without.
		const beforeReach = 80
		_, do := before(t, url, beforeReach)
		seen := func(ago time.Duration) {
			do("DELETE FROM process")
			at := "strftime('%s', 'now') * 1000000"
			if (db.Config{URL: url}).Name() == "postgres" {
				at = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"
			}
			do("INSERT INTO process (process_id, host, version, schema, started_at, seen_at) SELECT 'PRC-1', 'rack-7', 'v1.2.3', 1, 1, " + at + " - " + strconv.FormatInt(ago.Microseconds(), 10))
		}
		seen(0)
		_, err = db.Open(t.Context(), db.Config{URL: url})
		if alive, ok := errors.AsType[*db.AliveError](err); !ok || len(alive.Processes) != 1 || !strings.Contains(err.Error(), "rack-7 (svc v1.2.3, schema 1,") {
			t.Fatalf("an older process is alive: %v", err)
		}
		if refused, ok := errors.AsType[*db.VersionError](db.Stored(t.Context(), db.Config{URL: url})); !ok || refused.Is >= schema {
			t.Errorf("after the refusal the database is at %v", refused)
		}
		do("UPDATE process SET schema = 99999")
		opens(t, db.Config{URL: url})
		_, do = before(t, url, beforeReach)
		seen(db.ProcessAlive + 5*time.Second)
		opens(t, db.Config{URL: url})
		_, do = before(t, url, beforeReach)
		seen(0)
		opens(t, db.Config{URL: url, MigrateAnyway: true})
	})
}

func opens(t *testing.T, cfg db.Config) {
	t.Helper()
	d, err := db.Open(t.Context(), cfg)
	if err == nil {
		err = d.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
