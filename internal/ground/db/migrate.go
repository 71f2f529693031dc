package db

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// postgresOnly are the migrations that do nothing on SQLite.
var postgresOnly = []int64{49}

// migrations are those of the program, or of a test.
func (c Config) migrations() (fs.FS, error) {
	if c.migrationFiles != nil {
		return c.migrationFiles, nil
	}
	return fs.Sub(migrations, "migrations")
}

// lockWait is how long a migration on PostgreSQL waits for a table, and lockPause how long it
// lets others go first before it tries again. A statement that waits for a table keeps all that
// come after it waiting, and an audit or a backup reads for minutes.
const (
	lockWait  = 2 * time.Second
	lockPause = 5 * time.Second
)

// boundedWait has the session that migrates wait for no table longer than lockWait.
type boundedWait struct{ lock.SessionLocker }

// SessionLock implements lock.SessionLocker.
func (b boundedWait) SessionLock(ctx context.Context, conn *sql.Conn) error {
	err := b.SessionLocker.SessionLock(ctx, conn)
	if err == nil {
		_, err = conn.ExecContext(ctx, fmt.Sprintf("SET lock_timeout = %d", lockWait.Milliseconds()))
	}
	return err
}

// SessionUnlock implements lock.SessionLocker.
func (b boundedWait) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "RESET lock_timeout")
	return errors.Join(err, b.SessionLocker.SessionUnlock(ctx, conn))
}

// migrator returns what applies the migrations to a database, or undoes them.
func migrator(pool *sql.DB, files fs.FS, engine string) (*goose.Provider, error) {
	opts := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if engine == "postgres" {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, err
		}
		return goose.NewProvider(goose.DialectPostgres, pool, files, append(opts, goose.WithSessionLocker(boundedWait{locker}))...)
	}
	opts = append(opts, goose.WithExcludeVersions(postgresOnly))
	for _, version := range postgresOnly { // both engines count the same versions
		opts = append(opts, goose.WithGoMigrations(goose.NewGoMigration(version, nil, nil)))
	}
	return goose.NewProvider(goose.DialectSQLite3, pool, files, opts...)
}

// migrate applies the missing migrations. One process does it while others wait: an
// advisory lock sees to that on PostgreSQL, the file's write lock on SQLite.
func migrate(ctx context.Context, pool *sql.DB, files fs.FS, cfg Config) error {
	p, err := migrator(pool, files, cfg.Name())
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	// Without a missing migration there is no wait for the lock: otherwise a process
	// that hangs while it starts would keep all others from starting.
	if pending, err := p.HasPending(ctx); err == nil && !pending {
		return nil
	}
	// Two processes that open a new SQLite file at once may both try a migration. The
	// loser's is rolled back, and its next try finds the migration applied.
	for try := 1; ; try++ {
		if _, err = p.Up(ctx); err == nil {
			return nil
		}
		if tableTaken(err) && ctx.Err() == nil {
			cmp.Or(cfg.Log, slog.Default()).Warn("a migration waits for a table that a long transaction uses, such as an audit or a backup", "err", err)
			select {
			case <-time.After(lockPause):
				continue
			case <-ctx.Done():
			}
		}
		if cfg.Name() == "postgres" || try == 5 || ctx.Err() != nil {
			return fmt.Errorf("migrate: %w", err)
		}
	}
}

// tableTaken reports whether a statement of PostgreSQL reached its limit of waiting for a lock.
func tableTaken(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "55P03" // lock_not_available
}

// MigrationText returns the names and texts of all migrations in order. A cache of migrated
// databases uses it as its key.
func MigrationText() []byte {
	var all []byte
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			panic(err) // embedded
		}
		all = append(all, "-- "+name+"\n"...) // one that is renamed is another
		all = append(all, text...)
	}
	return all
}
