// Package db opens SQLite or PostgreSQL, brings its schema up to date, and runs
// transactions and queries on it.
//
// What always holds: one set of migrations and one set of queries
// (queries/*.sql, compiled by sqlc into package query) serve both engines, and
// where SQLite needs another text sqlite.sql has it under the same name; a
// transaction has one time (Tx.Now), taken from the database's clock on
// PostgreSQL and from this process on SQLite, where there is only one; a
// transaction that lost a race (deadlock, serialization, busy) runs again, so
// its function must have no effect but on the Tx; topics a transaction
// announces wake listeners only after it has committed.
//
// It leaves the meaning of rows to the callers. Start reading at DB, then
// Tx. What differs between the engines stands in sqlite.go and postgres.go.
package db

//go:generate sqlc generate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"svc.example/internal/ground/db/query"
)

// Config says which database to open.
type Config struct {
	// URL is postgres://… for PostgreSQL, else the path of a SQLite file.
	URL string
	// Skew, when set, is added to the time of every transaction.
	Skew func() time.Duration
	// AfterCommit, when set, is called after every committed transaction that
	// wrote. Crash tests end the process there.
	AfterCommit func()
	// OnStatement, when set, gets the name of each statement that PostgreSQL is
	// sent; SQLite runs the same ones. Tests count them.
	OnStatement func(name string)
	Log         *slog.Logger
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	write, read *sql.DB
	engine      engine
	hub         *hub
	cfg         Config
	stop        context.CancelFunc
	done        chan struct{}
	group       *group // of SQLite: writes that share commits
	grouped     sync.WaitGroup
}

// engine is what differs between the two databases.
type engine interface {
	// queries returns the generated queries bound to one transaction.
	queries(ctx context.Context, tx *sql.Tx, write bool) *query.Queries
	// alone returns the generated queries outside any transaction, to read, the
	// context that they are given, and the time in microseconds.
	alone(ctx context.Context) (context.Context, *query.Queries, int64, error)
	// now is the time of a transaction, in microseconds.
	now(ctx context.Context, tx *sql.Tx) (int64, error)
	// announce passes topics to other processes when tx commits. Call ended once tx
	// has ended, in whatever way.
	announce(ctx context.Context, tx *sql.Tx, topics []string) (ended func(), err error)
	// listen receives what other processes announce, until ctx ends.
	listen(ctx context.Context, hub *hub, log *slog.Logger)
	// again reports whether err means that the transaction lost a race and
	// should run once more.
	again(err error) bool
	close() error
}

// Name says which engine cfg.URL means: "postgres" or "sqlite".
func (c Config) Name() string {
	if strings.HasPrefix(c.URL, "postgres://") || strings.HasPrefix(c.URL, "postgresql://") {
		return "postgres"
	}
	return "sqlite"
}

// Open opens the database and applies missing migrations. Several processes may
// open the same one at once: one migrates, the others wait.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	open := openSQLite
	if cfg.Name() == "postgres" {
		open = openPostgres
	}
	d, err := open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open %s database: %w", cfg.Name(), err)
	}
	d.hub = newHub()
	listenCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop, d.done = stop, make(chan struct{})
	go func() {
		defer close(d.done)
		d.engine.listen(listenCtx, d.hub, cfg.Log)
	}()
	if cfg.Name() == "sqlite" {
		d.group = newGroup(d)
		d.grouped.Go(d.group.run)
	}
	return d, nil
}

// Close waits for writes under way, ends listening and closes the connections.
// Nothing may be written afterwards.
func (d *DB) Close() error {
	if d.group != nil {
		close(d.group.queue)
		d.grouped.Wait()
	}
	d.stop()
	<-d.done
	return errors.Join(d.engine.close(), d.write.Close(), d.read.Close())
}

// Tx is one transaction: the queries, and its one time.
type Tx struct {
	*query.Queries
	// Now is the transaction's time in microseconds since 1970 UTC.
	Now    int64
	topics []string
}

// Announce wakes listeners of topic, in this process and others, once the
// transaction has committed.
func (t *Tx) Announce(topic string) {
	for _, known := range t.topics {
		if known == topic {
			return
		}
	}
	t.topics = append(t.topics, topic)
}

// Time is Now as a time.
func (t *Tx) Time() time.Time { return Time(t.Now) }

// maxRuns bounds how often a transaction that loses races is run.
const maxRuns = 10

// ErrUnknown says that the connection broke while a transaction was committed:
// what it wrote may be kept or not.
var ErrUnknown = errors.New("it is not known whether the transaction is kept")

// Write runs do in a read-write transaction and commits it. When do returns an
// error nothing is kept and that error is returned as it is. After any other
// error nothing is kept either, unless it is ErrUnknown. The end of ctx stops
// the queries that are given it, never a commit.
func (d *DB) Write(ctx context.Context, do func(*Tx) error) error {
	for run := 1; ; run++ {
		err := d.writeOnce(ctx, do)
		if err == nil {
			if d.cfg.AfterCommit != nil {
				d.cfg.AfterCommit()
			}
			return nil
		}
		if run == maxRuns || !d.engine.again(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(run) * 5 * time.Millisecond):
		}
	}
}

func (d *DB) writeOnce(ctx context.Context, do func(*Tx) error) error {
	if d.group != nil {
		return d.group.write(ctx, do)
	}
	return d.once(ctx, d.write, true, do)
}

// Read runs do in a read-only transaction, so that all it reads is of one
// moment.
func (d *DB) Read(ctx context.Context, do func(*Tx) error) error {
	return d.once(ctx, d.read, false, do)
}

// ReadStatement runs do to read without a transaction, in half the time: each statement is
// of one moment, but the next one of a later. It is for what one statement reads
// by an index; do must not write. The context that do is given is its
// statements': on SQLite nothing cancels them, since each ends by itself sooner
// than a goroutine that would watch over it begins.
func (d *DB) ReadStatement(ctx context.Context, do func(context.Context, *Tx) error) error {
	ctx, queries, now, err := d.engine.alone(ctx)
	if err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	return do(ctx, &Tx{Queries: queries, Now: d.skewed(now)})
}

func (d *DB) once(ctx context.Context, pool *sql.DB, write bool, do func(*Tx) error) error {
	opts := &sql.TxOptions{}
	if !write {
		opts = &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	}
	if d.cfg.Name() == "sqlite" {
		opts = nil // begin mode is the connection's: immediate to write, deferred to read
	}
	tx, err := begin(ctx, pool, opts)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// After Commit this is a no-op.
	defer func() { _ = tx.Rollback() }()
	topics, err := d.apply(ctx, tx, write, do)
	if err != nil {
		return err
	}
	ended, err := d.engine.announce(ctx, tx, topics)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	defer ended()
	err = d.commit(tx)
	if err == nil || errors.Is(err, ErrUnknown) { // it may be kept
		for _, topic := range topics {
			d.hub.wake(topic)
		}
	}
	return err
}

// apply runs do in a transaction that has begun, and returns what it announces.
func (d *DB) apply(ctx context.Context, tx *sql.Tx, write bool, do func(*Tx) error) (topics []string, err error) {
	now, err := d.engine.now(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	t := &Tx{Queries: d.engine.queries(ctx, tx, write), Now: d.skewed(now)}
	if err := do(t); err != nil {
		return nil, err
	}
	return t.topics, nil
}

func (d *DB) skewed(now int64) int64 {
	if d.cfg.Skew != nil {
		now += d.cfg.Skew().Microseconds()
	}
	return now
}

func (d *DB) commit(tx *sql.Tx) error {
	err := tx.Commit()
	if err == nil {
		return nil
	}
	if d.engine.again(err) {
		return fmt.Errorf("commit: %w", err)
	}
	return fmt.Errorf("commit: %w: %w", ErrUnknown, err)
}

// begin starts a transaction that the end of ctx prevents, but no longer ends:
// a commit that its caller's going away cut off would be done or not done, and
// nobody would know.
func begin(ctx context.Context, pool *sql.DB, opts *sql.TxOptions) (*sql.Tx, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	detach := context.AfterFunc(ctx, cancel)
	tx, err := pool.BeginTx(own, opts)
	if gone := !detach(); gone && err == nil {
		_ = tx.Rollback() // own has ended, which rolls back by itself
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return tx, nil
}

// Listen returns a channel that receives (at most one pending value) whenever
// topic is announced, and sometimes when it was not: look again at every wake.
// Call stop when done.
func (d *DB) Listen(topic string) (wake <-chan struct{}, stop func()) {
	return d.hub.listen(topic)
}

// Engine is "sqlite" or "postgres".
func (d *DB) Engine() string { return d.cfg.Name() }

// Micros is t in microseconds, the form in which times are stored; 0 for the
// zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the reverse of Micros.
func Time(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// OptionalTime is Time, and nil for 0.
func OptionalTime(us int64) *time.Time {
	if us == 0 {
		return nil
	}
	t := Time(us)
	return &t
}

// Optional is nil for the zero value, which stands for none in a column.
func Optional[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

// IsNotFound reports whether err is a query that found no row.
func IsNotFound(err error) bool { return errors.Is(err, sql.ErrNoRows) }
