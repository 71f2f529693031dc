// Package dbtest gives tests a fresh database on each engine, so that one suite
// proves both.
//
// What always holds: no two tests share a database at the same time, in any
// processes. Each finds it as the migrations leave it. SQLite lives in the test's
// folder, as a copy of a file that is migrated once. PostgreSQL is the real server
// that SVC_TEST_POSTGRES names (make test starts one). A missing server fails the
// test; it never skips. Start reading at Each.
package dbtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"svc.example/internal/ground/db"
)

// Engines are the engines that every suite runs on.
func Engines() []string { return []string{"sqlite", "postgres"} }

// Each runs test once on each engine, in parallel, as subtests named after it.
func Each(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Helper()
	EachURL(t, func(t *testing.T, url string) {
		test(t, Open(t, db.Config{URL: url}))
	})
}

// EachURL is Each for tests that open the database themselves, in this process or
// in another.
func EachURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, engine := range Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, URL(t, engine))
		})
	}
}

// Open opens cfg and closes it when the test ends.
func Open(t testing.TB, cfg db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close database: %v", err)
		}
	})
	return d
}

// migrated is SQLite's file as the product's own migrations leave it.
var migrated = sync.OnceValues(func() (file []byte, err error) {
	folder, err := os.MkdirTemp("", "svc-dbtest-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "svc.db")
	d, err := db.Open(context.Background(), db.Config{URL: path})
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// URL makes an empty database on engine and returns what db.Config.URL takes.
func URL(t testing.TB, engine string) string {
	t.Helper()
	if engine == "sqlite" {
		file, err := migrated()
		path := filepath.Join(t.TempDir(), "svc.db")
		if err == nil {
			err = os.WriteFile(path, file, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	return postgresURL(t)
}
