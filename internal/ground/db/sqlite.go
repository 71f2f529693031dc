package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"svc.example/internal/ground/db/query"
)

// sqliteEngine has one connection that writes and a pool that reads.
type sqliteEngine struct {
	write *sql.DB
	reads *query.Queries
}

func openSQLite(ctx context.Context, cfg Config) (*DB, error) {
	mode := sqliteWriting
	if cfg.ReadOnly {
		mode = sqliteReading
	}
	if err := mode.find(cfg.URL); err != nil {
		return nil, err
	}
	write, err := sqlitePool(cfg.URL, 1, append(mode.options, "_txlock=immediate"), cfg.OnWrite)
	if err != nil {
		return nil, noStore(err)
	}
	if err := prepare(ctx, write, cfg); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read, err := sqlitePool(cfg.URL, max(4, runtime.NumCPU()), append(mode.options, "_txlock=deferred", "_pragma=query_only(1)"), nil)
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	return &DB{write: write, read: read, engine: &sqliteEngine{write, query.New(read)}, cfg: cfg}, nil
}

// sqliteMode is how a file is opened.
type sqliteMode struct {
	find    func(path string) error // makes the file, or fails where there is none
	options []string
}

var (
	sqliteWriting = sqliteMode{makePrivate, []string{
		"_pragma=busy_timeout(5000)", // first: switching to WAL takes a lock
		"_pragma=journal_mode(WAL)",
		"_pragma=synchronous(FULL)", // an acknowledged write survives a power cut
		"_pragma=foreign_keys(1)",
	}}
	sqliteReading = sqliteMode{mustExist, []string{"mode=ro", "_pragma=busy_timeout(10000)", "_pragma=query_only(1)"}}
)

// mustExist returns ErrNoStore where there is no file.
func mustExist(path string) error {
	_, err := os.Stat(path)
	return noStore(err)
}

// makePrivate creates an empty file of mode 0600 if there is none: SQLite would let every
// user of the machine read its file. The -wal and -shm files get the same mode. An
// existing file is not opened here: closing it would drop the locks that another
// connection of this process holds on it.
func makePrivate(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return fmt.Errorf("make the database's file: %w", err)
	}
	return nil
}

func sqlitePool(path string, conns int, options []string, told func(name string)) (*sql.DB, error) {
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: strings.Join(options, "&")}
	connector, err := newSQLiteConnector(file.String(), told)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool, connect(pool)
}

// connect opens the first connection. Switching a new file to WAL takes a lock for which
// busy_timeout does not wait, so processes that open it at once try again, for 2 s.
func connect(pool *sql.DB) (err error) {
	for range 100 {
		if err = pool.Ping(); !busy(err) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

func (e *sqliteEngine) alone(ctx context.Context) (context.Context, *query.Queries, int64, error) {
	return context.WithoutCancel(ctx), e.reads, time.Now().UnixMicro(), nil
}

// now is this process's clock: a SQLite file is served by one process at a time.
func (e *sqliteEngine) now(context.Context, *sql.Tx) (int64, error) {
	return time.Now().UnixMicro(), nil
}

// announce sends nothing: other processes notice that the file has changed.
func (e *sqliteEngine) announce(context.Context, *sql.Tx, []string) (ended func(), err error) {
	return func() {}, nil
}

// wakeOthers does nothing: other processes notice that the file has changed.
func (e *sqliteEngine) wakeOthers(context.Context) error { return nil }

// dataVersionPoll is how often listen checks for commits of other processes: svc admin
// may write while svc serve runs.
const dataVersionPoll = 100 * time.Millisecond

// listen wakes every listener when another process has committed, because SQLite does not
// tell what changed. It reads data_version on the write connection, where this process's
// own commits do not change it.
func (e *sqliteEngine) listen(ctx context.Context, h *hub, log *slog.Logger) {
	tick := time.NewTicker(dataVersionPoll)
	defer tick.Stop()
	var last int64
	for {
		var version int64
		err := e.write.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
		if err != nil && ctx.Err() == nil {
			log.Warn("cannot check for commits of other processes", "err", err)
		}
		if err == nil && version != last {
			last = version
			h.wakeAll()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// again tells a lost race from a lock that another program has kept for all of busy_timeout:
// another run would hold the caller as long.
func (e *sqliteEngine) again(err error) bool {
	se, ok := errors.AsType[*sqlite.Error](err)
	return ok && (se.Code() == sqlite3.SQLITE_BUSY_SNAPSHOT || se.Code() == sqlite3.SQLITE_BUSY_RECOVERY)
}

func busy(err error) bool {
	se, ok := errors.AsType[*sqlite.Error](err)
	return ok && se.Code()&0xff == sqlite3.SQLITE_BUSY
}

func sqliteFull(err error) bool {
	se, ok := errors.AsType[*sqlite.Error](err)
	return ok && se.Code()&0xff == sqlite3.SQLITE_FULL
}

func (e *sqliteEngine) close() error { return nil }
