package db

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// postgresOnly are the migrations that do nothing on SQLite.
var postgresOnly = []int64{49}

// migrator returns what applies the migrations to a database, or undoes them.
func migrator(pool *sql.DB, engine string) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	opts := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if engine == "postgres" {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, err
		}
		return goose.NewProvider(goose.DialectPostgres, pool, files, append(opts, goose.WithSessionLocker(locker))...)
	}
	opts = append(opts, goose.WithExcludeVersions(postgresOnly))
	for _, version := range postgresOnly { // both engines count the same versions
		opts = append(opts, goose.WithGoMigrations(goose.NewGoMigration(version, nil, nil)))
	}
	return goose.NewProvider(goose.DialectSQLite3, pool, files, opts...)
}

// migrate applies the missing migrations. One process does it while others wait: an
// advisory lock sees to that on PostgreSQL, the file's write lock on SQLite.
func migrate(ctx context.Context, pool *sql.DB, engine string) error {
	p, err := migrator(pool, engine)
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
		if engine == "postgres" || try == 5 || ctx.Err() != nil {
			return fmt.Errorf("migrate: %w", err)
		}
	}
}

// MigrationText returns the text of all migrations in order. A cache of migrated
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
		all = append(all, text...)
	}
	return all
}
