package db

import (
	"database/sql"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Exported for the tests of the dialect and of migrations.
var (
	SQLiteStatements = sqliteStatements
	StatementName    = statementName
)

// Migrator applies and undoes the migrations of the program.
func Migrator(pool *sql.DB, engine string) (*goose.Provider, error) {
	files, err := Config{}.migrations()
	if err != nil {
		return nil, err
	}
	return migrator(pool, files, engine)
}

// Migrations are those of the program.
func Migrations() (fs.FS, error) { return Config{}.migrations() }

// WithMigrations is a configuration of a program with other migrations.
func WithMigrations(cfg Config, files fs.FS) Config {
	cfg.migrationFiles = files
	return cfg
}
