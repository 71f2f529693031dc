package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/audit"
)

// movedSuffix is added to the name of a SQLite file whose rows are elsewhere now: no
// service is started with it by mistake.
const movedSuffix = ".moved"

// Move carries a service that does not run from SQLite to an empty PostgreSQL (database),
// and from its files' store to another (blobs, of the form that blob.ParseS3 reads); "" for
// one of both leaves that where it is. The keys stay in the data folder. Afterwards it
// audits the service where it is now, and returns the breaches with ErrUnsound.
//
// It can be run again after any error: files that are there are not sent again, and the
// rows come in one transaction. Until the end the service is as it was. At the end the
// SQLite file gets the suffix .moved; files stay where they were, for the operator to
// remove. Errors: db.ErrInUse, ErrNotEmpty, db.ErrNoStore.
func Move(ctx context.Context, cfg Config, database, blobs string, progress BackupProgress) (report BackupReport, breaches []audit.Breach, err error) {
	report.MadeAt = time.Now().UTC().Truncate(time.Second)
	file := cfg.DatabaseURL()
	lite := cfg.Database == ""
	if database != "" && !lite {
		return report, nil, errors.New("the rows are in PostgreSQL already: its own tools move them")
	}
	if err := vacant(ctx, file, lite, database); err != nil {
		return report, nil, err
	}
	from, err := OpenReading(ctx, cfg)
	if err != nil {
		return report, nil, err
	}
	report.Engine = from.DB.Engine()
	copied := copier{ctx: ctx, from: from.Blobs, progress: progress, report: &report}
	if blobs != "" {
		copied.to, err = vacantStore(ctx, from.Blobs, blobs)
		if err == nil {
			err = copied.blobs()
		}
	}
	if err = errors.Join(err, from.DB.Close()); err != nil {
		return report, nil, err
	}
	to := cfg
	to.Database, to.Blobs = cmp.Or(database, cfg.Database), cmp.Or(blobs, cfg.Blobs)
	if database != "" {
		if err := loadRows(ctx, to, file, progress); err != nil {
			return report, nil, fmt.Errorf("move the rows: %w", err)
		}
	}
	if breaches, err = copied.audit(to); err != nil {
		return report, breaches, err
	}
	if database != "" {
		if err := db.Alone(ctx, file); err != nil {
			return report, nil, fmt.Errorf("a service was started in between; empty the new database and begin again: %w", err)
		}
		err = os.Rename(file, file+movedSuffix)
	}
	return report, nil, err
}

// vacant checks that the old database is not in use, and that the new one is
// unused.
func vacant(ctx context.Context, file string, lite bool, database string) error {
	if stored := db.Stored(ctx, db.Config{URL: file}); stored != nil {
		return stored
	}
	if lite {
		if err := db.Alone(ctx, file); err != nil {
			return err
		}
	}
	if database == "" {
		return nil
	}
	used, err := hasWorkspace(ctx, database)
	if err == nil && used {
		err = fmt.Errorf("the database to move to: %w", ErrNotEmpty)
	}
	return err
}

// vacantStore opens the S3 store at address, which may have some files of a service and no
// others.
func vacantStore(ctx context.Context, service blob.Store, address string) (blob.Store, error) {
	to, _, err := blob.OpenS3(ctx, address, time.Now())
	if err != nil {
		return nil, err
	}
	return to, noOthers(ctx, to, service, address)
}

// noOthers checks that a store has no files but those of a service: a store belongs to one
// service, which removes what it does not know. Some files may be there from an interrupted
// copy. Error: ErrNotEmpty.
func noOthers(ctx context.Context, store, service blob.Store, address string) error {
	return store.List(ctx, "", func(key string, _ time.Time) error {
		there, err := service.Open(ctx, key)
		if errors.Is(err, blob.ErrNotFound) {
			return fmt.Errorf("%s has %s, which this service has not: %w", address, key, ErrNotEmpty)
		}
		if err != nil {
			return err
		}
		return there.Close()
	})
}
