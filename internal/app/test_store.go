package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/seal"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/testmode"
)

// testFolder is the part of the data folder that has the test worlds.
func testFolder(cfg Config) string { return filepath.Join(cfg.Data, "test") }

// testConfig is the configuration of a workspace's test world: that of the service, with
// another store and no external services.
func testConfig(cfg Config, workspaceID, public string) Config {
	world := cfg
	world.Data = filepath.Join(testFolder(cfg), workspaceID)
	if !onPostgres(cfg) {
		world.Database = "" // SQLite in the world's own folder, wherever the service has its file
	}
	world.Blobs = testBlobs(cfg.Blobs, workspaceID)
	world.PublicURL = public
	world.Log = cfg.Log.With("test_world", workspaceID)
	world.AllowSynthetic, world.LeaseLife, world.DatabaseConnections = true, testLeaseLife, db.LeastConnections
	world.Unstarted = min(cmp.Or(cfg.Unstarted, cfg.TestMode.Storage), cfg.TestMode.Storage)
	world.DoubleRender, world.VerifyReuse, world.MetricsListen, world.LogOrigin = 0, new(0), "", ""
	world.Embedded, world.Mail, world.OpenID, world.Stripe, world.Witnesses, world.Announce, world.AnnounceMetrics = nil, nil, nil, nil, nil, nil, nil
	return world
}

// onPostgres reports whether a service's rows are in PostgreSQL.
func onPostgres(cfg Config) bool { return db.Config{URL: cfg.DatabaseURL()}.Name() == "postgres" }

// testBlobs is the address of the files of a test world in the bucket of a service: inside
// of its prefix, where the service itself does not look. "" stays the data folder.
func testBlobs(address, workspaceID string) string {
	u, err := url.Parse(address)
	if address == "" || err != nil {
		return ""
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/" + blob.Within + workspaceID
	return u.String()
}

// testSchema is the schema of a test world in PostgreSQL.
func testSchema(workspaceID string) string {
	return "svc_test_" + strings.ToLower(strings.TrimPrefix(workspaceID, "WSP-"))
}

// openTestWorld opens the store of a test world, and makes it where it is missing. Its keys
// follow from the service's secret for links, so that every process has the same ones and
// none of them is kept.
func (a *App) openTestWorld(ctx context.Context, workspaceID, public string) (world *App, err error) {
	cfg, err := testConfig(a.Config, workspaceID, public).withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return nil, fmt.Errorf("prepare the folder of a test world: %w", err)
	}
	derive := func(what string, size int) []byte {
		if err != nil {
			return nil
		}
		var key []byte
		key, err = hkdf.Key(sha256.New, a.linkKey, nil, "svc test world "+workspaceID+" "+what, size)
		return key
	}
	world = &App{Config: cfg, test: true, linkKey: derive("links", secretBytes)}
	sealing, signs := derive("seal", secretBytes), derive("receipts", secretBytes)
	if err != nil {
		return nil, err
	}
	text, err := seal.Generate(bytes.NewReader(sealing))
	if err != nil {
		return nil, err
	}
	if world.sealed, err = seal.Parse(text); err != nil {
		return nil, err
	}
	key, err := signingkey.New(bytes.NewReader(signs))
	if err != nil {
		return nil, err
	}
	world.Keys = signing.Given(key)
	world.DB, err = db.Open(ctx, db.Config{URL: cfg.DatabaseURL(), Schema: testSchema(workspaceID), Movable: true, AcceptNewer: true, Connections: db.LeastConnections, Skew: cfg.Skew, Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	if world.Blobs, err = Files(ctx, cfg); err != nil {
		return nil, errors.Join(err, world.DB.Close())
	}
	world.webhooks = world.openWebhooks()
	return world, nil
}

// nodeSecret is the secret of the one worker's key of a test world. Every process has the
// same, because workers of two keys would have to agree before a job fails.
func (a *App) nodeSecret(workspaceID string) (string, error) {
	key, err := hkdf.Key(sha256.New, a.linkKey, nil, "svc test world "+workspaceID+" worker", secretBytes)
	if err != nil {
		return "", err
	}
	return identity.NodeSecret(key), nil
}

// AuditTestWorld is Audit of the test world of a workspace, which may be open.
func (a *App) AuditTestWorld(ctx context.Context, workspaceID string) (found Audited, err error) {
	world, err := a.openTestWorld(ctx, workspaceID, "")
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, world.DB.Close()) }()
	return world.Audit(ctx)
}

// TestWorldBytes is what the test world of a workspace takes in the data folder and in the
// bucket, in bytes: its files, and with SQLite its rows. What goes meanwhile counts or does not.
func TestWorldBytes(ctx context.Context, cfg Config, workspaceID string) (sum int64, err error) {
	cfg.Log = slog.New(slog.DiscardHandler)
	world := testConfig(cfg, workspaceID, "")
	err = filepath.WalkDir(world.Data, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Size()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("measure a test world: %w", err)
	}
	if world.Blobs == "" {
		return sum, nil
	}
	files, err := readBlobs(ctx, world)
	if err == nil {
		var inBucket int64
		inBucket, err = bytesOf(ctx, files)
		sum += inBucket
	}
	if err != nil {
		return 0, fmt.Errorf("measure a test world: %w", err)
	}
	return sum, nil
}

// bytesOf is what a store of files has in it.
func bytesOf(ctx context.Context, files blob.Store) (int64, error) {
	return files.(interface {
		Bytes(ctx context.Context) (int64, error)
	}).Bytes(ctx)
}

// removeTestWorld removes the store of a test world that has ended, which no process has open
// any more, and takes it off the list.
func (a *App) removeTestWorld(ctx context.Context, workspaceID string) error {
	cfg := testConfig(a.Config, workspaceID, "")
	if cfg.Blobs != "" {
		files, err := readBlobs(ctx, cfg)
		if err == nil {
			err = files.List(ctx, "", func(key string, _ time.Time) error { return files.Delete(ctx, key) })
		}
		if err != nil {
			return fmt.Errorf("remove the files of a test world: %w", err)
		}
	}
	if onPostgres(cfg) {
		if err := db.DropSchema(ctx, cfg.Database, testSchema(workspaceID)); err != nil {
			return fmt.Errorf("remove a test world: %w", err)
		}
	}
	if err := os.RemoveAll(cfg.Data); err != nil {
		return fmt.Errorf("remove a test world: %w", err)
	}
	a.Config.Log.Info("the test world of a workspace is removed", "workspace_id", workspaceID)
	return a.DB.Write(ctx, func(tx *db.Tx) error { return testmode.Removed(ctx, tx, workspaceID) })
}

// room refuses when the store of the world is full. Error: storage_limit_reached.
func (w *testWorld) room(ctx context.Context) error {
	used, err := w.size(ctx)
	if err != nil {
		return err
	}
	limit := w.app.Config.TestMode.Storage
	if used < limit {
		return nil
	}
	return fault.New(fault.StorageLimitReached, "The test world uses %d bytes; its limit is %d.", used, limit).
		With(map[string]int64{"used_bytes": used, "limit_bytes": limit}).
		WithAction("Move the clock of test mode forward by 31 days, so that what is kept there is removed.")
}

// size is what the store of the world takes, in bytes: its files, and its rows as far as
// they are many.
func (w *testWorld) size(ctx context.Context) (int64, error) {
	w.looking.Lock()
	defer w.looking.Unlock()
	if time.Since(w.lookedAt) < lookLife {
		return w.found + w.stored.Load(), nil
	}
	w.stored.Store(0)
	files, err := bytesOf(ctx, w.app.Blobs)
	if err != nil {
		return 0, fmt.Errorf("measure a test world: %w", err)
	}
	var frames int64
	err = w.app.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		frames, err = tx.TestFrames(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measure a test world: %w", err)
	}
	w.found, w.lookedAt = files+frames*rowBytes, time.Now()
	return w.found, nil
}
