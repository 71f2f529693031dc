package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"svc.example/internal/ground/db"
)

// ErrOtherDatabase means that the data folder belongs to a service whose rows are in
// another database than the empty one that was named.
var ErrOtherDatabase = errors.New("the data folder belongs to a service with another database")

// CheckNew is called for a database without a service's data, and returns ErrOtherDatabase
// where the data folder is that of a service: it holds a SQLite file with a workspace, a
// signing key or a stored file. To begin there with an empty database would look to every
// caller as if all jobs and all money were gone.
func CheckNew(ctx context.Context, cfg Config) error {
	if cfg.Database != "" {
		file := Config{Data: cfg.Data}.DatabaseURL()
		if filled, err := hasWorkspace(ctx, file); err != nil || filled {
			return errors.Join(err, otherDatabase("%s has workspaces, and the database that --database names is empty", file))
		}
	}
	keys, err := filepath.Glob(filepath.Join(cfg.Data, "keys", "signing*.pem"))
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		return otherDatabase("%s is the signing key of a service, and the database is empty", keys[0])
	}
	found := errors.New("a blob")
	blobs, err := readBlobs(ctx, cfg)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = blobs.List(ctx, "", func(string, time.Time) error { return found })
	}
	if errors.Is(err, found) {
		return otherDatabase("%s has stored files, and the database is empty", cmp.Or(cfg.Blobs, cfg.Data))
	}
	return err
}

func otherDatabase(format string, args ...any) error {
	return fmt.Errorf("%w: %s; name the right one with --data and --database, or start with an empty one with --new-database", ErrOtherDatabase, fmt.Sprintf(format, args...))
}

// hasWorkspace reports whether a SQLite file is the database of a service that has been
// used. A file of another version counts as used.
func hasWorkspace(ctx context.Context, path string) (bool, error) {
	d, err := db.Open(ctx, db.Config{URL: path, ReadOnly: true})
	if errors.Is(err, db.ErrNoStore) {
		return false, nil
	}
	if _, ok := errors.AsType[*db.VersionError](err); ok {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = d.Close() }()
	var n int64
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.WorkspaceCount(ctx)
		return err
	})
	return n > 0, err
}
