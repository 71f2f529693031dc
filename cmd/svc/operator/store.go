package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
)

// store is where a command finds the data of a service. serve and all admin commands
// share these flags, so one configuration file leads them to the same place.
type store struct {
	Data     string `group:"Common" env:"SVC_DATA" default:"${data}" type:"path" help:"Folder with files, keys and, without --database, the SQLite database."`
	Database string `group:"Common" env:"SVC_DATABASE" placeholder:"URL" help:"postgres://… to use PostgreSQL instead of SQLite."`
	Blobs    string `group:"Storage" env:"SVC_BLOBS" placeholder:"URL" help:"s3://BUCKET/PREFIX?endpoint=URL&region=NAME to keep files in an S3 store instead of --data. Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the shared credentials file, or the machine's role."`
	SealKeys string `group:"Storage" env:"SVC_SEAL_KEYS" placeholder:"KEYS" help:"Keys that encrypt secrets in the database: 32 bytes in base64 each, separated by commas. The first encrypts, all decrypt. Set them in the environment. Default: keys/seal.keys in the data folder."`
}

// Validate refuses an address of another database. Without this check it would be
// taken for the path of a SQLite file and a new, empty store would be created there.
// The message does not repeat the address: it may contain a password.
func (s store) Validate() error {
	if s.Database != "" && !strings.HasPrefix(s.Database, "postgres://") && !strings.HasPrefix(s.Database, "postgresql://") {
		return errors.New("--database needs an address that begins with postgres://; without --database, SQLite in --data is used")
	}
	if s.Blobs != "" {
		if _, err := blob.ParseS3(s.Blobs); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	return nil
}

// config is the configuration of a service over this store, with defaults otherwise.
func (s store) config() app.Config {
	return app.Config{Data: s.Data, Database: s.Database, Blobs: s.Blobs, SealKeys: s.SealKeys}
}

// flags are the flags that lead another command to the same store, for printing. An
// address with a password is replaced by the environment variable: what is printed
// here ends up in logs. An address that cannot be parsed may have one.
func (s store) flags() string {
	where := "--data " + s.Data
	if s.Blobs != "" {
		where += " --blobs '" + s.Blobs + "'"
	}
	if s.Database == "" {
		return where
	}
	u, err := url.Parse(s.Database)
	if err != nil || u.Redacted() != s.Database || u.Query().Has("password") {
		return where + ` --database "$SVC_DATABASE"`
	}
	return where + " --database " + s.Database
}

// exists returns an error of wrong usage where no service has stored anything yet, and
// writes nothing. A command that only reads must not create a store: an audit of an empty
// store would find nothing wrong.
func (s store) exists(ctx context.Context) error {
	return s.refusal(db.Stored(ctx, db.Config{URL: s.config().DatabaseURL()}))
}

// refusal turns the error of a place without a service's data, or with those of another
// version, into one of wrong usage that names the place.
func (s store) refusal(err error) error {
	if errors.Is(err, db.ErrNoStore) {
		said := fmt.Sprintf("there is no service's data in %s. Name its folder with --data, or its database with --database", s.place())
		if missing, ok := errors.AsType[*fs.PathError](err); ok && missing.Path == s.config().DatabaseURL() {
			return terminal.WrongUsage(errors.New(said)) // nothing is there at all
		}
		return terminal.WrongUsagef("%s (%w)", said, err)
	}
	if version, ok := errors.AsType[*db.VersionError](err); ok {
		return terminal.WrongUsage(version)
	}
	return err
}

// place names the store for people, without the address of a database, which may contain
// a password.
func (s store) place() string {
	if s.Database != "" {
		return "the database and " + s.Data
	}
	return s.Data
}
