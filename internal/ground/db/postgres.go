package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"svc.example/internal/ground/db/query"
)

// postgresEngine serves reads and writes from one pgx pool.
type postgresEngine struct {
	pool     *pgxpool.Pool
	read     *query.Queries
	channels channels
	clock    clock
	peers    peers
}

// clock estimates the database's time, so that not every read has to query it. It is safe
// for concurrent use.
type clock struct {
	mu    sync.Mutex
	asked time.Time // when the database was last asked; zero before
	us    int64     // its time then, microseconds since 1970 UTC
}

// clockLife is how long an answer of the database's clock is used. Reads outside
// transactions notice a change of that clock this much later.
const clockLife = time.Second

// at returns the database's time in microseconds; ask queries it.
func (c *clock) at(ask func() (us int64, err error)) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if passed := time.Since(c.asked); !c.asked.IsZero() && passed < clockLife {
		return c.us + passed.Microseconds(), nil
	}
	asked := time.Now()
	us, err := ask()
	if err != nil {
		return 0, err
	}
	c.asked, c.us = asked, us
	return us, nil
}

// poolSize is how many connections one process may open in addition to the one that
// listens, unless Config.Connections or the URL says otherwise.
const poolSize = 20

// LeastConnections is the least of Config.Connections: one listens, and a read may begin
// inside of another.
const LeastConnections = 4

// ConnectionsOf is how many connections a process may open to PostgreSQL: as many as connections
// says; if it is 0, what the address says, but no less than usual.
func ConnectionsOf(address *pgxpool.Config, connections int) int32 {
	if connections != 0 {
		return int32(min(connections, math.MaxInt32))
	}
	return max(address.MaxConns, poolSize) + 1 // one listens
}

// AllowedConnections is SQL: how many connections a PostgreSQL server allows to a service.
const AllowedConnections = "current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"

func openPostgres(ctx context.Context, cfg Config) (*DB, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, err
	}
	if cfg.Connections != 0 && cfg.Connections < LeastConnections {
		return nil, fmt.Errorf("%d connections are too few: %d is the least", cfg.Connections, LeastConnections)
	}
	pc.MaxConns = ConnectionsOf(pc, cfg.Connections) - 1 // one listens
	if cfg.Schema != "" {
		if err := makeSchema(ctx, pc.ConnConfig, cfg.Schema); err != nil {
			return nil, err
		}
		pc.ConnConfig.RuntimeParams["search_path"] = cfg.Schema
	}
	if cfg.OnStatement != nil {
		pc.ConnConfig.Tracer = statementTracer(cfg.OnStatement)
	}
	if cfg.ReadOnly {
		pc.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, err
	}
	write := stdlib.OpenDBFromPool(pool)
	if err := prepare(ctx, write, cfg); err != nil {
		_ = write.Close() // the first error is the one to return
		pool.Close()
		return nil, err
	}
	read := stdlib.OpenDBFromPool(pool)
	return &DB{write: write, read: read, engine: &postgresEngine{pool: pool, read: query.New(read), channels: channelsOf(cfg.Schema)}, cfg: cfg}, nil
}

// WarnOfConnections logs when a PostgreSQL server cannot give this process all connections that
// it may open, next to those that others have open now. Nothing is refused for it: callers would
// get 503 only under load, and that is when an operator should not have to find the reason. A
// service calls it at its start.
func (d *DB) WarnOfConnections(ctx context.Context) {
	e, ok := d.engine.(*postgresEngine)
	if !ok {
		return
	}
	own := int(e.pool.Config().MaxConns) + 1 // one listens
	var allowed, others int
	err := d.write.QueryRowContext(ctx, "SELECT "+AllowedConnections+`,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())`).Scan(&allowed, &others)
	if err == nil && own+others > allowed {
		cmp.Or(d.cfg.Log, slog.Default()).Warn("PostgreSQL may run out of connections: raise its max_connections, or lower --database-connections of each process",
			"allowed", allowed, "open_now", others, "this_process", own)
	}
}

// statementTracer reports the name of each generated statement that is sent.
type statementTracer func(name string)

// TraceQueryStart is called by pgx before it sends a statement.
func (t statementTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, sent pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(sent.SQL, namePrefix) {
		t(statementName(sent.SQL))
	}
	return ctx
}

// TraceQueryEnd does nothing; pgx requires it.
func (statementTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (e *postgresEngine) alone(ctx context.Context) (context.Context, *query.Queries, int64, error) {
	now, err := e.clock.at(func() (us int64, err error) {
		return us, e.pool.QueryRow(ctx, askTime).Scan(&us)
	})
	return ctx, e.read, now, err
}

const askTime = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"

func (e *postgresEngine) now(ctx context.Context, tx *sql.Tx) (us int64, err error) {
	err = tx.QueryRowContext(ctx, askTime).Scan(&us)
	return us, err
}

func (e *postgresEngine) again(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pe.Code == "40001" || pe.Code == "40P01") // serialization failure, deadlock
}

func postgresFull(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "53100" // disk_full
}

func (e *postgresEngine) close() error {
	e.pool.Close()
	return nil
}

// schemaForm matches the allowed names of a schema: those that need no quotes.
var schemaForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// makeSchema makes a schema that is not there yet. It looks first: CREATE SCHEMA asks for a
// right that a service does not need otherwise.
func makeSchema(ctx context.Context, config *pgx.ConnConfig, schema string) (err error) {
	return inSchema(ctx, config, schema, func(conn *pgx.Conn) error {
		var there bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", schema).Scan(&there)
		if err == nil && !there {
			_, err = conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema)
		}
		if raced, ok := errors.AsType[*pgconn.PgError](err); ok && (raced.Code == "23505" || raced.Code == "42P06") {
			return nil // another process has made it meanwhile
		}
		return err
	})
}

// DropSchema removes a schema of PostgreSQL with everything in it. One that is not there is
// no error.
func DropSchema(ctx context.Context, url, schema string) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	return inSchema(ctx, config, schema, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		return err
	})
}

// inSchema runs do on a connection of its own.
func inSchema(ctx context.Context, config *pgx.ConnConfig, schema string, do func(*pgx.Conn) error) error {
	if !schemaForm.MatchString(schema) {
		return fmt.Errorf("%q is no name of a schema", schema)
	}
	conn, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := do(conn); err != nil {
		return fmt.Errorf("schema %s: %w", schema, err)
	}
	return nil
}
