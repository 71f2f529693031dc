// Package app wires the service: one Config, and one list of what starts and
// stops. It imports every other package; only the command imports it.
//
// Open prepares what commands and tests need without serving: database, blobs
// and keys. Serve adds the HTTP handlers and the background work, and runs
// until its context ends.
//
// What always holds: what Serve starts it also stops; nothing else in the
// service starts background work. Start reading at Open, then Serve.
package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"svc.example/internal/front"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/ground/seal"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/signingkey/keyfile"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/audit"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/job"
	"svc.example/internal/work/metrics"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/oauth"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/receipt/witness"
	"svc.example/internal/work/recheck"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/reuse/source"
	"svc.example/internal/work/savedfilter"
	"svc.example/internal/work/share"
	"svc.example/internal/work/split"
	"svc.example/internal/work/testmode"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
)

// App is the service without its HTTP handlers. Make one with Open and end it
// with Close. It is safe for concurrent use.
type App struct {
	Config Config
	DB     *db.DB
	Blobs  blob.Store
	Keys   *signing.Ring

	// whole knows which files of Blobs were hashed. There is one, so that a ZIP that is
	// downloaded and shown is read once.
	whole blob.Whole
	// linkKey signs download and upload links. Every process of a service needs
	// the same one.
	linkKey []byte
	// sealed encrypts the secrets in the database.
	sealed   *seal.Keys
	webhooks *webhook.Hooks
	// test says that this is the test world of a workspace, and clock is what its callers
	// move; nil in the service itself.
	test  bool
	clock *testmode.Clock
	// worlds are the test worlds that this process has open; Serve sets it.
	worlds *testWorlds
	// witnesses have the log's checkpoints co-signed; nil when Config.Witnesses is.
	witnesses *witness.Asker
	metrics   *metrics.Metrics // nil when Config.MetricsListen is ""
	// probe finds out whether the store can be written, and outages keeps errors of one that
	// cannot from filling the log.
	probe   *storeProbe
	outages *front.OutageLog
	ledger  *ratelimit.Ledger // of what callers cost this process
	// comparing reads what frames come from. There is one, with the memory of inspections.
	comparing     source.Reader
	comparingOnce sync.Once
}

// Open opens the stores and loads the keys, and creates both where they are
// missing. It also migrates the database. Processes that start at once over the
// same folder end up with the same keys.
//
// The caller ends the App with Close.
func Open(ctx context.Context, cfg Config) (*App, error) {
	cfg, err := cfg.withDefaults()
	if err == nil {
		err = cfg.ownsHost()
	}
	if err != nil {
		return nil, err
	}
	keys := filepath.Join(cfg.Data, "keys")
	if err := atomicfile.MkdirAll(keys); err != nil {
		return nil, fmt.Errorf("prepare the data folder: %w", err)
	}
	a := &App{Config: cfg, ledger: &ratelimit.Ledger{Most: cfg.WorkPerHour, MostCPU: cfg.CPUPerMinute}, outages: front.NewOutageLog(cmp.Or(cfg.Log, slog.Default()).Handler())}
	cfg.Log = slog.New(a.outages)
	a.Config.Log = cfg.Log
	a.probe = a.newStoreProbe()
	// The database comes first: an unreachable database must not leave a folder that
	// looks like that of a service with another database.
	a.DB, err = db.Open(ctx, db.Config{URL: cfg.DatabaseURL(), AcceptNewer: true, MigrateAnyway: cfg.MigrateAnyway, Connections: cfg.DatabaseConnections, Skew: cfg.Skew, AfterCommit: cfg.AfterCommit, Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	a.DB.WarnOfConnections(ctx)
	if err = a.openFiles(ctx, keys); err == nil {
		err = rowsum.Fill(ctx, a.DB.Write, summed()) // after an upgrade, before anything is served or audited
	}
	if err == nil {
		var counted bool
		if counted, err = leaderboard.CountAnew(ctx, a.DB); counted {
			cmp.Or(cfg.Log, slog.Default()).Info("after an upgrade, the leaderboard is counted again from its receipts")
		}
	}
	if err != nil {
		return nil, errors.Join(err, a.DB.Close())
	}
	if cfg.MetricsListen != "" {
		a.metrics = metrics.New(metrics.Config{DB: a.DB, Keys: a.Keys, Folder: cfg.Data, Probe: a.probe.check, Log: cfg.Log})
	}
	a.webhooks = a.openWebhooks()
	if cfg.Witnesses != nil {
		a.witnesses = &witness.Asker{Policy: *cfg.Witnesses, DB: a.DB, Keys: a.Keys, Client: &http.Client{}, Log: cfg.Log}
	}
	return a, nil
}

// summed lists every table whose rows carry checksums.
func summed() rowsum.Tables {
	return slices.Concat(identity.Sums, webhook.Sums, signing.Sums, receiptlog.Sums, leaderboard.Sums, dispatch.Sums, lease.Sums, idempotency.Sums,
		intake.Sums, preview.Sums, project.Sums, quote.Sums, wallet.Sums, payment.Sums, invoice.Sums, job.Sums, frames.Sums, freeze.Sums, operator.Sums, oauth.Sums, testmode.Sums, alert.Sums, share.Sums, split.Sums, notice.Sums, reuse.Sums, savedfilter.Sums)
}

// openFiles loads keys and blobs, and creates both where they are missing.
func (a *App) openFiles(ctx context.Context, keys string) (err error) {
	if a.Keys, err = openRing(keys, a.Config); err != nil {
		return err
	}
	if a.linkKey, err = loadOrCreateSecret(filepath.Join(keys, linkKeyFile)); err != nil {
		return err
	}
	if a.sealed, err = openSeal(filepath.Join(keys, sealKeysFile), a.Config.SealKeys); err != nil {
		return err
	}
	a.Blobs, err = Files(ctx, a.Config)
	return err
}

// Files opens the files of a service, which may be running.
func Files(ctx context.Context, cfg Config) (blob.Store, error) {
	if cfg.Blobs == "" {
		return blob.OpenDisk(cfg.Data, time.Now())
	}
	s3, warning, err := blob.OpenS3(ctx, cfg.Blobs, time.Now())
	if err != nil {
		return nil, err
	}
	if warning != "" {
		cmp.Or(cfg.Log, slog.Default()).Info(warning)
	}
	return s3, nil
}

// Files of the folder keys.
const (
	linkKeyFile  = "link.key"
	sealKeysFile = "seal.keys"
)

// Close closes the database. Call it after Serve has returned.
func (a *App) Close() error {
	a.metrics.Close()
	return a.DB.Close()
}

// Links returns the builder of the service's addresses under publicURL.
func (a *App) Links(publicURL string) links.Links {
	return links.Links{PublicURL: publicURL, Key: a.linkKey}
}

// Jobs returns the jobs of the service; their addresses are built by at.
// Whether new jobs are accepted is read at each start.
func (a *App) Jobs(at links.Links) *job.Jobs {
	return &job.Jobs{
		Cosigned: a.witnesses.Latest,
		DB:       a.DB, Links: at, Keys: a.Keys, ArtifactLife: a.Config.ArtifactLife, Log: a.Config.Log, Queue: &dispatch.Forecasts{Life: forecastLife},
		Accepting: func() bool { return !a.Config.Refuse }, NoticePause: *a.Config.JobMail,
		Taken: frames.Take, MostReused: job.Reused{Frames: *a.Config.ReusedFrames, Bytes: a.Config.ReusedBytes}, Sampled: recheck.Sampling{Sample: frames.Sample{Percent: *a.Config.VerifyReuse, Key: a.linkKey}}.Queue,
	}
}

// forecastLife is how long callers may see a place in the queue, and a reason to wait,
// after they changed: shorter than a caller polls.
const forecastLife = time.Second

// Watch returns the reader of frames and events. Make one per process: its
// watchers share what is read.
func (a *App) Watch(jobs *job.Jobs) *watch.Reader {
	return &watch.Reader{DB: a.DB, Blobs: a.Blobs, Whole: &a.whole, Jobs: jobs, Log: a.Config.Log, Watchers: a.Config.Watchers}
}

// Board returns the leaderboard, with addresses built by at.
func (a *App) Board(at links.Links) *leaderboard.Board {
	return &leaderboard.Board{DB: a.DB, Keys: a.Keys, Links: at, AllowSynthetic: a.Config.AllowSynthetic, Blobs: a.Blobs, References: a.Config.References, LeaseLife: a.Config.LeaseLife}
}

// openRing takes the program that signs, or loads the operator's signing key, or the keys
// in folder.
func openRing(folder string, c Config) (*signing.Ring, error) {
	if len(c.SigningCommand) > 0 {
		text, err := os.ReadFile(c.SigningPublic)
		if err != nil {
			return nil, fmt.Errorf("read the public half of the signing key: %w", err)
		}
		public, err := signingkey.ParsePublicPEM(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.SigningPublic, err)
		}
		return signing.External(public, signing.Command{Words: c.SigningCommand})
	}
	if c.SigningKey == "" {
		return signing.Open(folder, rand.Reader)
	}
	key, err := keyfile.Load(c.SigningKey)
	if err != nil {
		return nil, err
	}
	return signing.Given(key), nil
}

type (
	// Audited is what an audit has looked at, and what it found.
	Audited = audit.Audited
	// Breach is one thing that is not as it must be.
	Breach = audit.Breach
)

// Audit checks the promises of ARCHITECTURE.md, "What always holds", over
// everything stored. It only reads.
func (a *App) Audit(ctx context.Context) (audit.Audited, error) { return a.WatchedAudit(ctx, nil) }

// WatchedAudit is Audit, and calls progress with how far each part of it is.
func (a *App) WatchedAudit(ctx context.Context, progress func(part string, done, total int64)) (audit.Audited, error) {
	return audit.Audit(ctx, audit.Store{DB: a.DB, Blobs: a.Blobs, Ring: a.Keys, Seal: a.sealed, Book: a.Config.Book, World: a.test, Progress: progress})
}

// openSeal parses the operator's keys, or those in the file at path, which it
// creates where it is missing.
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

// secretBytes is the length of a key for HMAC-SHA256: as long as its output.
const secretBytes = 32

// loadOrCreateSecret reads a random secret of secretBytes from a file of mode
// 0600. A file of another length is an error and is not replaced: links that
// are still out there were signed with it.
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

// loadOrCreate reads a file of mode 0600, and creates it where it is missing.
// If several processes create it at once, one wins and all read the same: the
// loser's Create fails because the file exists, and the second round reads it.
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
