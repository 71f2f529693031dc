package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/process"
)

// spareConnections are for svc admin and for watching.
const spareConnections = 3

// Database checks a PostgreSQL server at an address for a service of so many processes.
// connections is what each is told of its own; 0 is nothing.
func Database(ctx context.Context, address string, processes, connections int) ([]Finding, error) {
	config, err := pgxpool.ParseConfig(address) // it knows the parameters of the service's own pool
	if err != nil {
		return nil, fmt.Errorf("check the database: %w", err)
	}
	first, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("check the database: %w", err)
	}
	defer func() { _ = first.Close(context.WithoutCancel(ctx)) }()
	var allowed, server int
	var now time.Time
	var readOnly string
	err = first.QueryRow(ctx, "SELECT "+db.AllowedConnections+", pg_backend_pid(), clock_timestamp(), current_setting('transaction_read_only')").Scan(&allowed, &server, &now, &readOnly)
	if err != nil {
		return nil, fmt.Errorf("check the database: %w", err)
	}
	pooled, err := shares(ctx, config.ConnConfig, server)
	if err != nil {
		return nil, fmt.Errorf("check how the database is pooled: %w", err)
	}
	return []Finding{written(readOnly == "on"), enough(allowed, max(processes, 1), int(db.ConnectionsOf(config, connections))), pooling(pooled), clock("database_clock", "the database", now, time.Now())}, nil
}

func written(readOnly bool) Finding {
	const check = "database_writes"
	if readOnly {
		return wrong(check, "Connect to the primary server, or run ALTER SYSTEM RESET default_transaction_read_only and SELECT pg_reload_conf()", "the database only reads")
	}
	return fine(check)
}

func enough(allowed, processes, connections int) Finding {
	const check = "database_connections"
	need := processes*connections + spareConnections
	if need <= allowed {
		return fine(check)
	}
	less := max(0, allowed-spareConnections) / processes
	return wrong(check, fmt.Sprintf("In postgresql.conf: max_connections = %d, or start each process with --database-connections %d", need+10, less),
		"%d processes with %d connections each, and %d for svc admin, need %d; PostgreSQL allows %d", processes, connections, spareConnections, need, allowed)
}

// shares reports whether a second connection gets the server of one that is open and idle: then a
// pooler gives servers out by transactions.
func shares(ctx context.Context, config *pgx.ConnConfig, server int) (bool, error) {
	second, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer func() { _ = second.Close(context.WithoutCancel(ctx)) }()
	var its int
	err = second.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&its)
	return its == server, err
}

func pooling(shared bool) Finding {
	const check = "database_pooler"
	if shared {
		return wrong(check, "In pgbouncer.ini: pool_mode = session", "connections share their servers by transactions, and svc listens and locks on its own ones")
	}
	return fine(check)
}

// Processes checks that all processes of a service are of one version.
func Processes(all []process.Process) Finding {
	const check = "versions"
	hosts, newest, of := map[string][]string{}, int64(-1), ""
	for _, p := range all {
		if !p.Alive {
			continue
		}
		hosts[p.Version] = append(hosts[p.Version], p.Host)
		if p.Schema > newest {
			newest, of = p.Schema, p.Version
		}
	}
	if len(hosts) < 2 {
		return fine(check)
	}
	var older []string
	for version, on := range hosts {
		if version != of {
			older = append(older, on...)
		}
	}
	slices.Sort(older)
	return wrong(check, "Upgrade svc on "+strings.Join(slices.Compact(older), ", ")+" and restart it", "processes of %d versions serve this store; the newest is %s", len(hosts), of)
}

// Alive counts the processes that serve now.
func Alive(all []process.Process) (n int) {
	for _, p := range all {
		if p.Alive {
			n++
		}
	}
	return n
}
