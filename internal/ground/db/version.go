package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrNoStore means that no service has stored anything in the database, or that a file is
// no database at all.
var ErrNoStore = errors.New("it is no database of a service")

// VersionError means that the database's schema is not the one that this program knows.
type VersionError struct {
	Is, Wants int64 // the newest migration of each
}

// Error says which of the two is older, and what to do.
func (e *VersionError) Error() string {
	if e.Is > e.Wants {
		return fmt.Sprintf("the database is of a newer version (schema %d) than this program (schema %d): run the newer program, or restore a backup of the older version", e.Is, e.Wants)
	}
	return fmt.Sprintf("the database is of an older version (schema %d) than this program (schema %d): start the service once, which brings it up to date", e.Is, e.Wants)
}

// Stored returns nil where a service has stored something, and writes nothing. Errors:
// ErrNoStore, *VersionError; any other means that the database cannot be read.
func Stored(ctx context.Context, cfg Config) error {
	cfg.ReadOnly = true
	d, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	return d.Close()
}

// prepare brings the schema up to date. Where the database is only read, it must be up to
// date. A database of a newer version is refused, unless cfg accepts one whose migrations since
// this program have only added.
func prepare(ctx context.Context, pool *sql.DB, cfg Config) error {
	is, err := schemaVersion(ctx, pool, cfg.Name())
	if err != nil && (cfg.ReadOnly || !errors.Is(err, ErrNoStore)) {
		return err
	}
	files, err := cfg.migrations()
	if err != nil {
		return err
	}
	wants, err := newestMigration(files)
	if err != nil {
		return err
	}
	if is > wants && cfg.AcceptNewer {
		return cfg.canServe(ctx, pool, is, wants)
	}
	if is > wants || (cfg.ReadOnly && is < wants) {
		return &VersionError{is, wants}
	}
	if cfg.ReadOnly {
		return nil
	}
	if is < wants && !cfg.MigrateAnyway {
		oldest, err := reachAfter(files, is, wants)
		if err == nil {
			err = noneAlive(ctx, pool, cfg, oldest)
		}
		if err != nil {
			return err
		}
	}
	return migrate(ctx, pool, files, cfg)
}

// canServe returns *VersionError where this program cannot serve the newer database.
func (c Config) canServe(ctx context.Context, pool *sql.DB, is, wants int64) error {
	oldest, err := reach(ctx, pool)
	if err != nil {
		return err
	}
	if wants < oldest {
		return &VersionError{is, wants}
	}
	if c.ReadOnly {
		return nil
	}
	cmp.Or(c.Log, slog.Default()).Warn("a newer version has migrated the database, and this version can still serve it", "database", is, "program", wants)
	return nil
}

// schemaVersion returns the newest migration of a database. Error: ErrNoStore.
func schemaVersion(ctx context.Context, pool *sql.DB, engine string) (version int64, err error) {
	table := "SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'"
	if engine == "postgres" {
		table = "SELECT count(to_regclass('goose_db_version'))"
	}
	var tables int
	if err := pool.QueryRowContext(ctx, table).Scan(&tables); err != nil {
		return 0, noStore(err)
	}
	if tables == 0 {
		return 0, ErrNoStore
	}
	if err := pool.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if version == 0 {
		return 0, ErrNoStore
	}
	return version, nil
}

// newestMigration returns the number of the last migration of files.
func newestMigration(files fs.FS) (int64, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("there are no migrations: %w", err)
	}
	return migrationNumber(names[len(names)-1])
}

// noStore returns ErrNoStore for a file that is missing or no SQLite database.
func noStore(err error) error {
	se, ok := errors.AsType[*sqlite.Error](err)
	if errors.Is(err, os.ErrNotExist) || (ok && se.Code()&0xff == sqlite3.SQLITE_NOTADB) {
		return fmt.Errorf("%w: %w", ErrNoStore, err)
	}
	return err
}
