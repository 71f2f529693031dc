package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// ProcessAlive is how long a process counts as alive after it was last heard.
const ProcessAlive = 30 * time.Second

// mostNamed bounds the processes that an AliveError names.
const mostNamed = 10

// AliveError means that processes of an older program use the database, which a migration would
// change under them.
type AliveError struct {
	Processes []string // each with its host and version, at most mostNamed
}

// Error names them and says what to do.
func (e *AliveError) Error() string {
	return fmt.Sprintf("this program would migrate the database, which an older program is using: %s. Stop it and start again. One that crashed counts as running for %s. --migrate-anyway migrates now, and the older program then fails",
		strings.Join(e.Processes, ", "), ProcessAlive)
}

// Schema is the newest migration that this program knows.
func Schema() (int64, error) {
	files, err := Config{}.migrations()
	if err != nil {
		return 0, err
	}
	return newestMigration(files)
}

// noneAlive returns *AliveError while a process is alive whose schema is below one. It is read
// without the generated queries, because it comes before the migrations.
func noneAlive(ctx context.Context, pool *sql.DB, cfg Config, below int64) error {
	there, now := "SELECT count(*) FROM sqlite_schema WHERE name = 'process'", time.Now().UnixMicro()
	if cfg.Name() == "postgres" {
		there = "SELECT count(to_regclass('process'))"
		if err := pool.QueryRowContext(ctx, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)").Scan(&now); err != nil {
			return fmt.Errorf("read the clock: %w", err)
		}
	}
	var tables int
	if err := pool.QueryRowContext(ctx, there).Scan(&tables); err != nil || tables == 0 {
		return err
	}
	if cfg.Skew != nil {
		now += cfg.Skew().Microseconds()
	}
	rows, err := pool.QueryContext(ctx, "SELECT host, version, schema, seen_at FROM process WHERE seen_at > $1 AND schema < $2 ORDER BY started_at LIMIT $3",
		now-ProcessAlive.Microseconds(), below, mostNamed)
	if err != nil {
		return fmt.Errorf("find older processes: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var alive AliveError
	for rows.Next() {
		var host, version string
		var knows, seen int64
		if err := rows.Scan(&host, &version, &knows, &seen); err != nil {
			return fmt.Errorf("find older processes: %w", err)
		}
		alive.Processes = append(alive.Processes, fmt.Sprintf("%s (svc %s, schema %d, heard %d s ago)", host, version, knows, (now-seen)/1e6))
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("find older processes: %w", err)
	}
	if len(alive.Processes) == 0 {
		return nil
	}
	return &alive
}
