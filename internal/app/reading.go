package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/receipt/signing"
)

// OpenReading opens the stores of a service to read them, and writes nothing: no
// migration, no key, no folder. It is enough for Audit. The caller ends the App with
// Close. Errors: db.ErrNoStore where a part of a service is missing, and
// *db.VersionError.
func OpenReading(ctx context.Context, cfg Config) (*App, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &App{Config: cfg}
	if a.DB, err = db.Open(ctx, db.Config{URL: cfg.DatabaseURL(), ReadOnly: true, Skew: cfg.Skew, Log: cfg.Log}); err != nil {
		return nil, err
	}
	if err := a.readFiles(ctx); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", db.ErrNoStore, err)
		}
		return nil, errors.Join(err, a.DB.Close())
	}
	return a, nil
}

// readFiles loads the keys that an audit needs, and opens the blobs.
func (a *App) readFiles(ctx context.Context) (err error) {
	keys := filepath.Join(a.Config.Data, "keys")
	if a.Keys, err = signing.Read(keys); err != nil {
		return err
	}
	text := []byte(a.Config.SealKeys)
	if a.Config.SealKeys == "" {
		if text, err = os.ReadFile(filepath.Join(keys, sealKeysFile)); err != nil {
			return fmt.Errorf("read the keys that encrypt secrets: %w", err)
		}
	}
	if a.sealed, err = seal.Parse(text); err != nil {
		return err
	}
	a.Blobs, err = readBlobs(ctx, a.Config)
	return err
}

// readBlobs opens the files of a service to read them. A folder without files is an
// fs.ErrNotExist.
func readBlobs(ctx context.Context, cfg Config) (blob.Store, error) {
	if cfg.Blobs == "" {
		return blob.ReadDisk(cfg.Data)
	}
	return blob.ReadS3(ctx, cfg.Blobs)
}
