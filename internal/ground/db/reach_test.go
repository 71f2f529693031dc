package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// Migrations of later releases.
const (
	adds  = "-- +goose Up\nCREATE TABLE later (id text PRIMARY KEY);\nALTER TABLE workspace ADD COLUMN later text NOT NULL DEFAULT '';\n"
	takes = "-- +goose Up\nUPDATE schema_reach SET oldest = 99998;\nDROP TABLE later;\n"
)

// later is the configuration of a program with more migrations than this one.
func later(t *testing.T, url string, more map[string]string) db.Config {
	t.Helper()
	own, err := db.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	err = fs.WalkDir(own, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var text []byte
			text, err = fs.ReadFile(own, path)
			files[path] = &fstest.MapFile{Data: text}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range more {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return db.WithMigrations(db.Config{URL: url}, files)
}

// TestAMigrationThatOnlyAddsRunsNextToOlderProcesses: a newer program migrates while an older
// one serves, and the older one may start again, as long as no migration takes away what it
// needs. What does more than serve must know every column.
func TestAMigrationThatOnlyAddsRunsNextToOlderProcesses(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		schema, err := db.Schema()
		if err != nil {
			t.Fatal(err)
		}
		opens(t, db.Config{URL: url})
		raw := dbtest.Raw(t, url)
		register := func(schema int64) {
			t.Helper()
			statement := "INSERT INTO process (process_id, host, version, schema, started_at, seen_at) VALUES ('PRC-1', 'rack-7', 'v1.2.3', $1, 1, $2) ON CONFLICT (process_id) DO UPDATE SET schema = $1"
			if _, err := raw.ExecContext(t.Context(), statement, schema, time.Now().Add(time.Hour).UnixMicro()); err != nil {
				t.Fatal(err)
			}
		}
		register(schema)
		opens(t, later(t, url, map[string]string{"99998_adds.sql": adds}))
		opens(t, db.Config{URL: url, AcceptNewer: true})
		for _, cfg := range []db.Config{{URL: url}, {URL: url, ReadOnly: true}} {
			if _, err := db.Open(t.Context(), cfg); !newer(err) {
				t.Errorf("a program that does more than serve opens a newer database: %v", err)
			}
		}
		next := later(t, url, map[string]string{"99998_adds.sql": adds, "99999_takes.sql": takes})
		if _, err := db.Open(t.Context(), next); !alive(err) {
			t.Fatalf("a migration took something from a process that runs: %v", err)
		}
		register(99998)
		opens(t, next)
		if _, err := db.Open(t.Context(), db.Config{URL: url, AcceptNewer: true}); !newer(err) {
			t.Errorf("a program opens a database without what it needs: %v", err)
		}
	})
}

func alive(err error) bool {
	_, ok := errors.AsType[*db.AliveError](err)
	return ok
}

// lines keeps a log. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(word string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), word)
}

// TestAMigrationLetsOthersGoFirst: while a long read keeps a table, a migration of it waits for
// a moment only, so that other statements reach the table, and tries again.
func TestAMigrationLetsOthersGoFirst(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	opens(t, db.Config{URL: url})
	raw := dbtest.Raw(t, url)
	reads, err := raw.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = reads.ExecContext(t.Context(), "SELECT count(*) FROM workspace")
	}
	if err != nil {
		t.Fatal(err)
	}
	var log lines
	cfg := later(t, url, map[string]string{"99998_adds.sql": adds})
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	opened := make(chan error, 1)
	go func() {
		d, err := db.Open(t.Context(), cfg)
		if err == nil {
			err = d.Close()
		}
		opened <- err
	}()
	await.Until(t, "the migration to step back", func() bool { return log.has("a migration waits for a table") })
	if _, err := raw.ExecContext(t.Context(), "INSERT INTO workspace (workspace_id, name, created_at) VALUES ('WSP-1', '', 1)"); err != nil {
		t.Errorf("a statement behind the migration: %v", err)
	}
	if err := reads.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := await.Next(t, opened, "the migration"); err != nil {
		t.Fatal(err)
	}
}

// TestNewMigrationsOnlyAdd checks every migration since schema_reach by the rule of
// docs/internal/migrations.md.
func TestNewMigrationsOnlyAdd(t *testing.T) {
	t.Parallel()
	files, err := db.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range breaches(name, string(text)) {
			t.Errorf("%s: %s (docs/internal/migrations.md has the rule)", name, wrong)
		}
	}
}

// TestAMigrationThatTakesSomethingAwayIsFound breaks the rule in each way.
func TestAMigrationThatTakesSomethingAwayIsFound(t *testing.T) {
	t.Parallel()
	const made = "CREATE TABLE fresh (id text PRIMARY KEY, row_sum text NOT NULL);\n"
	for _, bad := range []string{
		"DROP TABLE job", "DROP INDEX turn_next", "ALTER TABLE job DROP COLUMN filename", "ALTER TABLE job RENAME TO task", "ALTER TABLE job RENAME COLUMN a TO b",
		"ALTER TABLE job ADD COLUMN a text NOT NULL", "ALTER TABLE job ADD COLUMN a text NOT NULL UNIQUE DEFAULT ''", "ALTER TABLE job ADD COLUMN a text REFERENCES worker (worker_id)",
		"ALTER TABLE job ALTER COLUMN price_cents TYPE text", "ALTER TABLE job ALTER COLUMN filename SET NOT NULL", "ALTER TABLE job ADD CONSTRAINT c CHECK (price_cents > 0)",
		"CREATE UNIQUE INDEX one ON job (filename)", "UPDATE job SET row_sum = ''", "DELETE FROM job", "INSERT INTO job (job_id) VALUES ('')", "TRUNCATE job",
		"UPDATE schema_reach SET oldest = 99999", "UPDATE schema_reach SET oldest = 80",
	} {
		if wrong := breaches("00090_bad.sql", "-- +goose Up\n"+made+bad+";\n"); len(wrong) != 1 {
			t.Errorf("%s: %q", bad, wrong)
		}
	}
	const good = made + `CREATE UNIQUE INDEX fresh_once ON fresh (row_sum);
CREATE INDEX job_by_size ON job (input_size_bytes); -- no DROP
ALTER TABLE job ADD COLUMN later text NOT NULL DEFAULT 'a;b';
ALTER TABLE job ADD COLUMN perhaps bigint;
INSERT INTO fresh (id, row_sum) SELECT job_id, '' FROM job;
UPDATE fresh SET id = id;
INSERT INTO unsummed (relation) VALUES ('fresh') ON CONFLICT DO NOTHING;
`
	for _, text := range []string{good, "UPDATE schema_reach SET oldest = 85;\nALTER TABLE job DROP COLUMN filename;\n"} {
		if wrong := breaches("00090_good.sql", fmt.Sprintf("-- +goose Up\n%s-- +goose Down\nDROP TABLE fresh;\n", text)); len(wrong) != 0 {
			t.Errorf("%s\n%q", text, wrong)
		}
	}
}
