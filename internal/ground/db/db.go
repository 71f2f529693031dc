// Package db opens SQLite or PostgreSQL, brings its schema up to date, and runs
// transactions and queries on it.
//
// What always holds:
//   - Both engines use one set of migrations and one set of queries (queries/*.sql,
//     which sqlc compiles into package query). Where SQLite needs a different text,
//     sqlite.sql has it under the same name.
//   - A transaction has one time (Tx.Now): that of the database's clock on PostgreSQL,
//     that of this process on SQLite, which only one process serves.
//   - A transaction that loses a race (deadlock, serialization, busy) runs again, so
//     its function must change nothing but the database.
//   - The topics that a transaction announces wake listeners only after its commit, and
//     what it wants to have done then is done only then.
//
// It leaves the meaning of rows to the callers. Start reading at DB, then Tx.
// sqlite.go and postgres.go contain what differs between the engines.
package db

//go:generate sqlc generate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/tracing"
)

// Config describes the database to open. Only URL is required.
type Config struct {
	// URL is postgres://… for PostgreSQL, otherwise the path of a SQLite file.
	URL string
	// ReadOnly opens a database that exists and is up to date, and never writes to it: no
	// migration, and every Write fails.
	ReadOnly bool
	// AcceptNewer opens a database that a newer program has migrated, if this program can still
	// serve it. Only what serves sets it: a backup or an audit has to know every column.
	AcceptNewer bool
	// MigrateAnyway changes the schema although a process of an older program is alive.
	MigrateAnyway bool
	// Connections bounds how many connections this process opens to PostgreSQL, the one that
	// listens for other processes included; LeastConnections or more. 0 means 20 and the one
	// that listens, or more by pool_max_conns in the URL. SQLite takes no notice of it.
	Connections int
	// Skew, when set, is added to the time of every transaction. Tests move the clock
	// with it.
	Skew func() time.Duration
	// Movable makes the time of every transaction that of a clock which MoveClock moves, for
	// every process that opens the database.
	Movable bool
	// Schema is the schema of PostgreSQL in which everything lies, and is made if it is
	// missing; "" is the server's default. SQLite takes no notice of it.
	Schema string
	// AfterCommit, when set, is called after every committed Write. Crash tests end the
	// process there.
	AfterCommit func()
	// OnStatement, when set, receives the name of each statement sent to PostgreSQL;
	// SQLite runs the same ones. Tests count them.
	OnStatement func(name string)
	// OnWrite, when set, receives the name of each statement that SQLite's one writer runs, and
	// the text of one without a name, such as SAVEPOINT. Tests count what keeps others waiting.
	OnWrite func(name string)
	Log     *slog.Logger // slog.Default() when nil

	migrationFiles fs.FS // in place of the program's own; tests add some
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	write, read *sql.DB
	engine      engine
	hub         *hub
	cfg         Config
	stop        context.CancelFunc
	done        chan struct{}
	group       *group // SQLite only: writes that share a commit
}

// engine is what differs between the two databases.
type engine interface {
	// alone returns the generated queries for reads outside any transaction, the
	// context to pass to them, and the time in microseconds.
	alone(ctx context.Context) (context.Context, *query.Queries, int64, error)
	// now is the time of a transaction, in microseconds.
	now(ctx context.Context, tx *sql.Tx) (int64, error)
	// announce passes topics to other processes when tx commits. The caller calls
	// ended after tx, whether it committed or not.
	announce(ctx context.Context, tx *sql.Tx, topics []string) (ended func(), err error)
	// wakeOthers has the processes that listen wake all their listeners.
	wakeOthers(ctx context.Context) error
	// listen wakes the hub for topics that other processes announce, until ctx ends.
	listen(ctx context.Context, hub *hub, log *slog.Logger)
	// again reports whether err means that the transaction lost a race, so that it
	// should run again.
	again(err error) bool
	close() error
}

// Name returns the engine that c.URL selects: "postgres" or "sqlite".
func (c Config) Name() string {
	if strings.HasPrefix(c.URL, "postgres://") || strings.HasPrefix(c.URL, "postgresql://") {
		return "postgres"
	}
	return "sqlite"
}

// Open opens the database and applies missing migrations. Several processes may open the
// same one at once: one migrates, the others wait. Close the DB at the end. Errors:
// *VersionError for a database of a newer version, *AliveError where migrations are missing
// that processes of older programs would not survive. If the database is only read, also
// *VersionError for an older one, and ErrNoStore.
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
		go d.group.run()
	}
	return d, nil
}

// Close waits for the writes in progress, stops listening and closes the connections. What
// is called during it or afterwards works or fails; it does nothing by half.
func (d *DB) Close() error {
	if d.group != nil {
		close(d.group.closing)
		<-d.group.ended
	}
	d.stop()
	<-d.done
	return errors.Join(d.engine.close(), d.write.Close(), d.read.Close())
}

// Tx is one transaction: its queries and its time. It is not safe for concurrent use.
type Tx struct {
	*query.Queries
	// Now is the transaction's time in microseconds since 1970 UTC.
	Now int64
	outcome
}

// outcome is what follows from a transaction once it has committed.
type outcome struct {
	topics []string // to announce
	then   []func() // to call
}

// AfterCommit has this process call do once the transaction has committed, before Write
// returns; never when it is rolled back. do must be quick and must not use the database.
func (t *Tx) AfterCommit(do func()) { t.then = append(t.then, do) }

// Announce wakes the listeners of topic, in this process and in others, after the
// transaction has committed.
func (t *Tx) Announce(topic string) {
	for _, known := range t.topics {
		if known == topic {
			return
		}
	}
	t.topics = append(t.topics, topic)
}

// Time returns Now as a time.Time.
func (t *Tx) Time() time.Time { return Time(t.Now) }

// maxRuns bounds how often a transaction runs that keeps losing races.
const maxRuns = 10

// ErrUnknown means that the connection broke during a commit: the transaction may or may
// not be committed.
var ErrUnknown = errors.New("unknown whether the transaction was committed")

// pageRows is how many rows WritePages has changed at once: few enough that no request
// waits for the transaction.
const pageRows = 500

// WritePages runs do in one transaction after another until it changes fewer rows than
// the page allows, and returns how many rows it changed altogether.
func (d *DB) WritePages(ctx context.Context, do func(tx *Tx, page int64) (int64, error)) (total int64, err error) {
	for {
		var n int64
		err := d.Write(ctx, func(tx *Tx) (err error) {
			n, err = do(tx, pageRows)
			return err
		})
		if err != nil {
			return total, err
		}
		total += n
		if n < pageRows {
			return total, nil
		}
	}
}

// Write runs do in a read-write transaction and commits it. If do returns an error, the
// transaction is rolled back and that error is returned (IsAway if the connection broke). After any other error
// nothing is committed either, except after ErrUnknown. do may run several times. The end
// of ctx stops the queries that receive it, never a commit.
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
			return marked(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(run) * 5 * time.Millisecond):
		}
	}
}

func (d *DB) writeOnce(ctx context.Context, do func(*Tx) error) error {
	ctx, end := tracing.Child(ctx, "db write")
	defer end(nil) // a refusal by do is no failure of the database
	if d.group != nil {
		return d.group.write(ctx, do)
	}
	return d.once(ctx, d.write, true, do)
}

// Read runs do in a read-only transaction: all its queries see the same snapshot.
func (d *DB) Read(ctx context.Context, do func(*Tx) error) error {
	ctx, end := tracing.Child(ctx, "db read")
	defer end(nil)
	return marked(d.once(ctx, d.read, false, do))
}

// ReadStatement runs do without a transaction, in half the time of Read. Each statement
// sees its own snapshot, so use it for a read by a single indexed statement; do must not
// write. do passes its context argument to the statements: on SQLite that one is never
// cancelled, because a short statement ends sooner than a goroutine that watches it
// starts.
func (d *DB) ReadStatement(ctx context.Context, do func(context.Context, *Tx) error) error {
	ctx, end := tracing.Child(ctx, "db read")
	defer end(nil)
	ctx, queries, now, err := d.engine.alone(ctx)
	if err != nil {
		return marked(fmt.Errorf("read the clock: %w", err))
	}
	if now, err = d.moved(ctx, queries, now); err != nil {
		return marked(err)
	}
	return marked(do(ctx, &Tx{Queries: queries, Now: now}))
}

func (d *DB) once(ctx context.Context, pool *sql.DB, write bool, do func(*Tx) error) error {
	opts := &sql.TxOptions{}
	if !write {
		opts = &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	}
	if d.cfg.Name() == "sqlite" {
		opts = nil // the connection sets the mode: immediate to write, deferred to read
	}
	tx, err := begin(ctx, pool, opts)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// After Commit this is a no-op.
	defer func() { _ = tx.Rollback() }()
	follows, err := d.apply(ctx, tx, do)
	if err != nil {
		return err
	}
	ended, err := d.engine.announce(ctx, tx, follows.topics)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	defer ended()
	err = d.commit(tx)
	if err == nil || errors.Is(err, ErrUnknown) { // it may be committed
		d.committed(follows)
	}
	return err
}

// committed does what follows from a transaction.
func (d *DB) committed(o outcome) {
	for _, topic := range o.topics {
		d.hub.wake(topic)
	}
	for _, do := range o.then {
		do()
	}
}

// apply runs do in an open transaction and returns what follows from its commit.
func (d *DB) apply(ctx context.Context, tx *sql.Tx, do func(*Tx) error) (follows outcome, err error) {
	now, err := d.engine.now(ctx, tx)
	if err != nil {
		return outcome{}, fmt.Errorf("read the clock: %w", err)
	}
	t := &Tx{Queries: query.New(tx)} // a connection of either engine keeps what it has prepared
	if t.Now, err = d.moved(ctx, t.Queries, now); err != nil {
		return outcome{}, err
	}
	if err := do(t); err != nil {
		return outcome{}, err
	}
	return t.outcome, nil
}

// moved returns the time of a transaction, of which now is the engine's: in microseconds.
func (d *DB) moved(ctx context.Context, queries *query.Queries, now int64) (int64, error) {
	if d.cfg.Skew != nil {
		now += d.cfg.Skew().Microseconds()
	}
	if !d.cfg.Movable {
		return now, nil
	}
	by, err := queries.ClockMoved(ctx)
	if err != nil {
		return 0, fmt.Errorf("read by how much the clock is moved: %w", err)
	}
	return now + by, nil
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

// begin starts a transaction unless ctx has ended. The end of ctx does not end the
// started one: an interrupted commit might or might not take effect, and the caller
// could not tell which.
func begin(ctx context.Context, pool *sql.DB, opts *sql.TxOptions) (*sql.Tx, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	detach := context.AfterFunc(ctx, cancel)
	tx, err := pool.BeginTx(own, opts)
	if ended := !detach(); ended && err == nil {
		_ = tx.Rollback() // own has ended, which rolls back automatically
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return tx, nil
}

// Listen returns a channel that receives a value when topic is announced, and sometimes
// when it is not: read the database again after each value. At most one value is
// pending. Call stop at the end.
func (d *DB) Listen(topic string) (wake <-chan struct{}, stop func()) {
	return d.hub.listen(topic)
}

// WakeAll wakes every listener, in this process and in others: after a change that no topic
// announces, such as a moved clock.
func (d *DB) WakeAll(ctx context.Context) error {
	d.hub.wakeAll()
	return d.engine.wakeOthers(ctx)
}

// Engine returns "sqlite" or "postgres".
func (d *DB) Engine() string { return d.cfg.Name() }

// Micros returns t in microseconds since 1970 UTC, the form in which times are stored; 0
// for the zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the inverse of Micros.
func Time(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// OptionalTime is like Time, but returns nil for 0.
func OptionalTime(us int64) *time.Time {
	if us == 0 {
		return nil
	}
	t := Time(us)
	return &t
}

// Optional returns a pointer to value; nil for the zero value, which means "none" in a
// column.
func Optional[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

// IsFull reports whether err says that a disk is full: the database's, or the one that
// files go to. The caller can retry once there is space.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || sqliteFull(err) || postgresFull(err)
}

// OrEmpty is what a query read, and "" where it found no row.
func OrEmpty(text string, err error) (string, error) {
	if IsNotFound(err) {
		return "", nil
	}
	return text, err
}

// IsNotFound reports whether err means that a query found no row.
func IsNotFound(err error) bool { return errors.Is(err, sql.ErrNoRows) }
