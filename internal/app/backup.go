package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/audit"
)

// backupFile marks a whole backup: it is written last.
const backupFile = "backup.json"

// BackupReport says what a backup or a restore has copied.
type BackupReport struct {
	MadeAt time.Time `json:"made_at"`
	Engine string    `json:"engine"` // of the service that was backed up
	Blobs  int64     `json:"blobs"`
	Bytes  int64     `json:"bytes"` // of the blobs
	Jobs   int       `json:"jobs"`
	Leaves int       `json:"leaves"` // of the log
}

// BackupProgress is called with how much of a part is done; total is 0 while it is not
// known.
type BackupProgress func(part string, done, total int64)

// ErrNotEmpty means that a backup or a restore would write over something.
var ErrNotEmpty = errors.New("the folder is not empty")

// ErrNoBackup means that a folder holds no whole backup.
var ErrNoBackup = errors.New("this is not a complete backup")

// ErrUnaudited means that everything was restored, and that the audit did not come to its end.
var ErrUnaudited = errors.New("everything is restored, but not audited")

// ErrUnsound means that the audit of a copy found breaches.
var ErrUnsound = errors.New("the audit found breaches in the copy")

// backupRounds is how often a snapshot is taken before breaches in it are taken as the
// store's own: a file may go between the snapshot and its copy, because the job ended.
const backupRounds = 3

// Backup copies a service into a folder that is empty or missing, while the service runs:
// the database as a SQLite file, from whichever engine, the keys of the data folder, and
// every file that the snapshot names. The copy is a data folder of its own. It ends with an
// audit of the copy, whose breaches it returns with ErrUnsound. After any other error, and
// after the end of ctx, the folder is empty again. Errors: ErrNotEmpty, db.ErrNoStore.
func Backup(ctx context.Context, cfg Config, folder string, progress BackupProgress) (report BackupReport, breaches []audit.Breach, err error) {
	report.MadeAt = time.Now().UTC().Truncate(time.Second)
	if err := emptyFolder(folder); err != nil {
		return report, nil, err
	}
	defer func() { err = clearUnfinished(folder, err) }()
	a, err := OpenReading(ctx, cfg)
	if err != nil {
		return report, nil, err
	}
	defer func() { _ = a.DB.Close() }()
	report.Engine = a.DB.Engine()
	if err := copyKeys(cfg.Data, folder); err != nil {
		return report, nil, err
	}
	to, err := blob.OpenDisk(folder, time.Now())
	if err != nil {
		return report, nil, err
	}
	copied := copier{ctx: ctx, from: a.Blobs, to: to, progress: progress, report: &report}
	// Most files, before the snapshot: a file appears before the row that names it.
	if err := copied.blobs(); err != nil {
		return report, nil, err
	}
	for round := 1; ; round++ {
		breaches, err := a.snapshot(ctx, folder, copied)
		if err == nil {
			return report, nil, report.write(folder)
		}
		if !errors.Is(err, ErrUnsound) || round == backupRounds {
			return report, breaches, err
		}
	}
}

// snapshot takes the rows of one moment, copies the files that the copy does not have
// yet, and audits the copy.
func (a *App) snapshot(ctx context.Context, folder string, copied copier) ([]audit.Breach, error) {
	path := Config{Data: folder}.DatabaseURL()
	for _, name := range []string{path, path + "-wal", path + "-shm"} { // of the round before
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	err := a.DB.Snapshot(ctx, path, func(table string, rows int64) { copied.progress("rows of "+table, rows, 0) })
	if err != nil {
		return nil, fmt.Errorf("copy the database: %w", err)
	}
	if err := copied.blobs(); err != nil {
		return nil, err
	}
	return copied.audit(Config{Data: folder, SealKeys: a.Config.SealKeys, Log: a.Config.Log})
}

// Restore puts a backup into an empty data folder and, with a Database, into an empty PostgreSQL;
// with Blobs, into a store that has no files of another service. The backup stays as it is. It ends
// with an audit of what it has made, whose breaches it returns with ErrUnsound. After any error
// before the audit, and after the end of ctx, the folder is empty again, and the database as it was
// except for its empty tables. Errors: ErrNoBackup, ErrNotEmpty, ErrUnaudited.
func Restore(ctx context.Context, cfg Config, folder string, progress BackupProgress) (BackupReport, []audit.Breach, error) {
	report, err := readReport(folder)
	if err != nil {
		return report, nil, err
	}
	if err := emptyFolder(cfg.Data); err != nil {
		return report, nil, err
	}
	if used, err := hasWorkspace(ctx, cfg.DatabaseURL()); err != nil || used {
		if err == nil {
			err = fmt.Errorf("the database of the restore: %w", ErrNotEmpty)
		}
		return report, nil, err
	}
	copied, err := copyBack(ctx, cfg, folder, progress, &report)
	if err != nil {
		return report, nil, clearUnfinished(cfg.Data, err)
	}
	breaches, err := copied.audit(cfg)
	if err != nil && !errors.Is(err, ErrUnsound) {
		err = fmt.Errorf("%w: %w", ErrUnaudited, err)
	}
	return report, breaches, err
}

// copyBack copies a backup into an empty data folder and an unused database.
func copyBack(ctx context.Context, cfg Config, folder string, progress BackupProgress, report *BackupReport) (copied copier, err error) {
	from, err := blob.ReadDisk(folder)
	if err != nil {
		return copied, fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	to, err := Files(ctx, cfg)
	if err != nil {
		return copied, err
	}
	if err := noOthers(ctx, to, from, cmp.Or(cfg.Blobs, cfg.Data)); err != nil {
		return copied, err
	}
	report.Blobs, report.Bytes = 0, 0
	copied = copier{ctx: ctx, from: from, to: to, progress: progress, report: report}
	if err := copied.blobs(); err != nil {
		return copied, err
	}
	if err := copyKeys(folder, cfg.Data); err != nil {
		return copied, err
	}
	// The rows come last: without them nothing takes the folder for a service.
	if err := loadRows(ctx, cfg, Config{Data: folder}.DatabaseURL(), progress); err != nil {
		return copied, fmt.Errorf("restore the database: %w", err)
	}
	return copied, nil
}

// loadRows fills a new database.
func loadRows(ctx context.Context, cfg Config, snapshot string, progress BackupProgress) error {
	if cfg.Database == "" {
		from, err := db.Open(ctx, db.Config{URL: snapshot, ReadOnly: true, Log: cfg.Log})
		if err != nil {
			return err
		}
		return errors.Join(from.Snapshot(ctx, cfg.DatabaseURL(), nil), from.Close())
	}
	d, err := db.Open(ctx, db.Config{URL: cfg.Database, Log: cfg.Log})
	if err != nil {
		return err
	}
	err = d.Load(ctx, snapshot, func(table string, rows int64) { progress("rows of "+table, rows, 0) })
	return errors.Join(err, d.Close())
}

// emptyFolder creates a folder of mode 0700, and refuses one that holds anything.
func emptyFolder(path string) error {
	if err := atomicfile.MkdirAll(path); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s: %w", path, ErrNotEmpty)
	}
	return err
}

// clearUnfinished empties the folder of an unfinished copy: it cannot be mistaken for a
// complete one, and the same command can start again. A copy in which the audit found
// breaches stays for inspection.
func clearUnfinished(folder string, err error) error {
	if err == nil || errors.Is(err, ErrUnsound) {
		return err
	}
	entries, failed := os.ReadDir(folder)
	err = errors.Join(err, failed)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(folder, e.Name())))
	}
	return err
}

// copyKeys copies the folder of keys, mode 0600.
func copyKeys(from, to string) error {
	target := filepath.Join(to, "keys")
	if err := atomicfile.MkdirAll(target); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(from, "keys"))
	if err != nil {
		return fmt.Errorf("copy the keys: %w", err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(from, "keys", e.Name()))
		if err == nil {
			err = atomicfile.Create(filepath.Join(target, e.Name()), text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("copy the keys: %w", err)
		}
	}
	return nil
}

// copier copies files from store to store and counts them.
type copier struct {
	ctx      context.Context //nolint:containedctx // it lives as long as the call that made it
	from, to blob.Store
	progress BackupProgress
	report   *BackupReport
}

// blobs copies every file that the copy does not have yet. A file that is deleted
// meanwhile is not an error.
func (c copier) blobs() error {
	return c.from.List(c.ctx, "", func(key string, _ time.Time) error {
		there, err := c.to.Open(c.ctx, key)
		if err == nil {
			return there.Close()
		}
		if !errors.Is(err, blob.ErrNotFound) {
			return err
		}
		err = c.blob(key)
		if errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		c.progress("files", c.report.Blobs, 0)
		return err
	})
}

func (c copier) blob(key string) error {
	from, err := c.from.Open(c.ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := c.to.Create(c.ctx, key)
	if err != nil {
		return err
	}
	defer to.Abort()
	n, err := io.Copy(to, from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", key, err)
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	c.report.Blobs, c.report.Bytes = c.report.Blobs+1, c.report.Bytes+n
	return to.Commit()
}

// audit audits a copy.
func (c copier) audit(cfg Config) ([]audit.Breach, error) {
	a, err := OpenReading(c.ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.DB.Close() }()
	found, err := a.WatchedAudit(c.ctx, c.progress)
	if err == nil && len(found.Breaches) > 0 {
		err = ErrUnsound
	}
	c.report.Jobs, c.report.Leaves = found.Jobs, found.Leaves
	return found.Breaches, err
}

func (r BackupReport) write(folder string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Create(filepath.Join(folder, backupFile), append(text, '\n'), 0o600)
}

func readReport(folder string) (r BackupReport, err error) {
	text, err := os.ReadFile(filepath.Join(folder, backupFile))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %w", folder, ErrNoBackup, err)
	}
	return r, err
}
