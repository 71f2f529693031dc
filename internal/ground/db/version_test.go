package db_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
)

func TestReadingAnEmptyPlaceFailsAndMakesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	other := filepath.Join(folder, "notes.txt")
	if err := os.WriteFile(other, bytes.Repeat([]byte("no database\n"), 200), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(folder, "missing", "svc.db"), other} {
		if err := db.Stored(t.Context(), db.Config{URL: path}); !errors.Is(err, db.ErrNoStore) {
			t.Errorf("%s: %v", path, err)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestADatabaseOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		raw := dbtest.Raw(t, url)
		change := func(statement string) {
			t.Helper()
			if _, err := raw.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		dbtest.Open(t, db.Config{URL: url})
		change("INSERT INTO goose_db_version (version_id, is_applied) SELECT 99999, is_applied FROM goose_db_version WHERE version_id = 1")
		for _, readOnly := range []bool{true, false} {
			if _, err := db.Open(t.Context(), db.Config{URL: url, ReadOnly: readOnly}); !newer(err) {
				t.Errorf("a newer database is opened, reading %t: %v", readOnly, err)
			}
		}
		change("DELETE FROM goose_db_version WHERE version_id > 1")
		err := db.Stored(t.Context(), db.Config{URL: url})
		if refused, ok := errors.AsType[*db.VersionError](err); !ok || refused.Is != 1 {
			t.Errorf("an older database is read: %v", err)
		}
		change("DELETE FROM goose_db_version WHERE version_id > 0")
		if err := db.Stored(t.Context(), db.Config{URL: url}); !errors.Is(err, db.ErrNoStore) {
			t.Errorf("an empty database is read: %v", err)
		}
	})
}

func newer(err error) bool {
	refused, ok := errors.AsType[*db.VersionError](err)
	return ok && refused.Is > refused.Wants
}

func TestAReaderWritesNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		dbtest.Open(t, db.Config{URL: url})
		d := dbtest.Open(t, db.Config{URL: url, ReadOnly: true})
		if err := d.Read(t.Context(), func(tx *db.Tx) error { _, err := tx.WorkspaceCount(t.Context()); return err }); err != nil {
			t.Error(err)
		}
		err := d.Write(t.Context(), func(tx *db.Tx) error { return tx.WalletCreate(t.Context(), "WSP-1") })
		if err == nil {
			t.Error("a database that is only read was written")
		}
	})
}
