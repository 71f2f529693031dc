package operator

import (
	"errors"
	"net/url"
	"os"
	"strings"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

// store is where a command finds the data of a service.
type store struct {
	Data     string `env:"SVC_DATA" default:"./data" type:"path" help:"Folder of files, keys and, without --database, the SQLite database."`
	Database string `env:"SVC_DATABASE" placeholder:"URL" help:"postgres://… to use PostgreSQL instead of SQLite."`
	SealKeys string `env:"SVC_SEAL_KEYS" placeholder:"KEYS" help:"Keys that seal secrets in the database, 32 bytes in base64, apart by commas; the first seals, all open. Give them by the environment. Without them, keys/seal.keys in the data folder."`
}

// Validate refuses an address that would be taken for a SQLite file's path.
func (s store) Validate() error {
	if s.Database != "" && !strings.HasPrefix(s.Database, "postgres://") && !strings.HasPrefix(s.Database, "postgresql://") {
		return errors.New("--database takes an address that begins with postgres://; without it, SQLite in --data is used")
	}
	return nil
}

// config is that of a service with these data.
func (s store) config() app.Config {
	return app.Config{Data: s.Data, Database: s.Database, SealKeys: s.SealKeys}
}

// flags are those that lead another command to the same place. A password stays
// in the environment: what is printed here is kept with the output.
func (s store) flags() string {
	where := "--data " + s.Data
	if s.Database == "" {
		return where
	}
	u, err := url.Parse(s.Database)
	if err != nil || u.Redacted() != s.Database || u.Query().Has("password") {
		return where + ` --database "$SVC_DATABASE"`
	}
	return where + " --database " + s.Database
}

// there is an error where no service has kept anything yet: who only looks makes
// no store, and takes none that is empty for one that is well.
func (s store) there() error {
	if s.Database != "" {
		return nil
	}
	if _, err := os.Stat(s.config().DatabaseURL()); err != nil {
		return terminal.WrongUsagef("there is no service's data in %s; say where it is with --data, or --database for PostgreSQL", s.Data)
	}
	return nil
}
