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

// migrate applies what is missing. On PostgreSQL an advisory lock lets one
// process do it while others wait; on SQLite the write lock of the file does.
func migrate(ctx context.Context, pool *sql.DB, engine string) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	dialect, opts := goose.DialectSQLite3, []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if engine == "postgres" {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		dialect, opts = goose.DialectPostgres, append(opts, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(dialect, pool, files, opts...)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	// Where nothing is missing no lock is waited for: a process that stands still
	// while it starts would keep all others from starting.
	if pending, err := p.HasPending(ctx); err == nil && !pending {
		return nil
	}
	// Two processes that open a new SQLite file at once may both try a
	// migration; the loser's is rolled back, and its next look finds it done.
	for try := 1; ; try++ {
		if _, err = p.Up(ctx); err == nil {
			return nil
		}
		if engine == "postgres" || try == 5 || ctx.Err() != nil {
			return fmt.Errorf("migrate: %w", err)
		}
	}
}

// MigrationText is all migrations one after the other, for those who keep a
// database made from them.
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
