// Package app wires the service: one Config, one list of what starts and stops.
// It knows every other package; none knows it.
//
// Open gives what commands and tests need without serving (db, blobs, keys);
// Serve adds the doors and the background work, and runs until its context
// ends.
//
// What always holds: what Serve starts it also stops; nothing else in the service
// starts background work. Start reading at Open, then
// Serve.
package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/audit"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
)

// App is the service without its HTTP handlers.
type App struct {
	Config Config
	DB     *db.DB
	Blobs  blob.Store
	Keys   *signing.Ring

	linkKey  []byte
	sealed   *seal.Keys
	webhooks *webhook.Hooks
}

// Open opens the stores and keys, and makes them where they are missing.
func Open(ctx context.Context, cfg Config) (*App, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	keys := filepath.Join(cfg.Data, "keys")
	if err := atomicfile.MkdirAll(keys); err != nil {
		return nil, fmt.Errorf("prepare the data folder: %w", err)
	}
	a := &App{Config: cfg}
	if a.Keys, err = openRing(keys, cfg.SigningKey); err != nil {
		return nil, err
	}
	if a.linkKey, err = loadOrCreateSecret(filepath.Join(keys, "link.key")); err != nil {
		return nil, err
	}
	if a.sealed, err = openSeal(filepath.Join(keys, "seal.keys"), cfg.SealKeys); err != nil {
		return nil, err
	}
	if a.Blobs, err = blob.OpenDisk(cfg.Data, time.Now()); err != nil {
		return nil, err
	}
	a.DB, err = db.Open(ctx, db.Config{URL: cfg.DatabaseURL(), Skew: cfg.Skew, AfterCommit: cfg.AfterCommit, Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	a.webhooks = a.openWebhooks()
	return a, nil
}

// Close closes the database.
func (a *App) Close() error { return a.DB.Close() }

// Links builds the addresses of the service that callers reach at publicURL.
func (a *App) Links(publicURL string) links.Links {
	return links.Links{PublicURL: publicURL, Key: a.linkKey}
}

// Jobs gives the jobs, with addresses made by at.
func (a *App) Jobs(at links.Links) *job.Jobs {
	return &job.Jobs{
		DB: a.DB, Links: at, Keys: a.Keys, ArtifactLife: a.Config.ArtifactLife, Log: a.Config.Log,
		Accepting: func() bool { return !a.Config.Refuse },
	}
}

// Watch gives what callers see of frames, for one process.
func (a *App) Watch(jobs *job.Jobs) *watch.Reader {
	return &watch.Reader{DB: a.DB, Blobs: a.Blobs, Jobs: jobs, Log: a.Config.Log}
}

// Board gives the leaderboard of this service, with addresses made by at.
func (a *App) Board(at links.Links) *leaderboard.Board {
	return &leaderboard.Board{DB: a.DB, Keys: a.Keys, Links: at, AllowSynthetic: a.Config.AllowSynthetic}
}

// openRing takes the operator's key, or those in the folder.
func openRing(folder, given string) (*signing.Ring, error) {
	if given == "" {
		return signing.Open(folder, rand.Reader)
	}
	key, err := receipt.LoadKey(given)
	if err != nil {
		return nil, err
	}
	return signing.Given(key), nil
}

// Audit checks every promise over the whole store.
func (a *App) Audit(ctx context.Context) (audit.Audited, error) {
	return audit.Audit(ctx, a.DB, a.Blobs, a.Keys, a.sealed)
}

// openSeal takes the operator's keys, or those in the file, which is made where
// it is missing.
func openSeal(path, given string) (*seal.Keys, error) {
	if given != "" {
		return seal.Parse([]byte(given))
	}
	text, err := loadOrCreate(path, func() ([]byte, error) { return seal.Generate(rand.Reader) })
	if err != nil {
		return nil, err
	}
	keys, err := seal.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return keys, nil
}

// secretBytes is the length of a key for HMAC-SHA256.
const secretBytes = 32

// loadOrCreateSecret reads a random secret from a file of mode 0600.
func loadOrCreateSecret(path string) ([]byte, error) {
	secret, err := loadOrCreate(path, func() ([]byte, error) {
		secret := make([]byte, secretBytes)
		_, err := rand.Read(secret)
		return secret, err
	})
	if err == nil && len(secret) != secretBytes {
		return nil, fmt.Errorf("the secret in %s has %d bytes, not %d", path, len(secret), secretBytes)
	}
	return secret, err
}

// loadOrCreate reads a file of mode 0600, which it makes where it is missing. Of
// several processes that make it at once, one wins and all read the same.
func loadOrCreate(path string, generate func() ([]byte, error)) ([]byte, error) {
	for range 2 {
		text, err := os.ReadFile(path)
		if err == nil {
			return text, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("read secret: %w", err)
		}
		if text, err = generate(); err == nil {
			err = atomicfile.Create(path, text, 0o600)
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("make secret: %w", err)
		}
	}
	return nil, fmt.Errorf("the secret in %s comes and goes", path)
}
