// Package process keeps the register of the processes that serve one store: where each runs,
// its version, and when it was last heard.
//
// What always holds: a process is in the register while it serves, and leaves it when it stops.
// One that crashed counts as alive for db.ProcessAlive and is forgotten after an hour. The
// register decides nothing here: package db reads it before a migration. Start reading at Run.
package process

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
)

const (
	// beat is how often a process says that it is there: a few beats may fail before it counts
	// as gone.
	beat = db.ProcessAlive / 4
	// keep is how long a process that fell silent is remembered.
	keep = time.Hour
)

// Process is a process that serves, or did so within the last hour.
type Process struct {
	ProcessID string    `json:"process_id"`
	Host      string    `json:"host"`
	Version   string    `json:"version"`
	Schema    int64     `json:"schema"` // the newest migration that its program knows
	StartedAt time.Time `json:"started_at"`
	SeenAt    time.Time `json:"seen_at"`
	Alive     bool      `json:"alive"`
}

// Register is what puts one process into the register.
type Register struct {
	DB  *db.DB
	Log *slog.Logger

	row query.ProcessSeenParams
}

// Enter puts this process into the register. Call it before the process serves anything.
func (r *Register) Enter(ctx context.Context) error {
	schema, err := db.Schema()
	if err != nil {
		return err
	}
	r.row = query.ProcessSeenParams{ProcessID: id.New(id.Process), Host: Host(), Version: Version(), Schema: schema}
	return r.seen(ctx)
}

// Host is the name of this machine.
func Host() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// Run says again and again that the process is there, until ctx ends; then it takes the
// process out of the register.
func (r *Register) Run(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			// An outage of the database is told elsewhere, and the next beat comes soon.
			_ = r.seen(ctx)
		case <-ctx.Done():
		}
	}
	r.leave(context.WithoutCancel(ctx))
}

// leave takes the process out of the register.
func (r *Register) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, beat)
	defer cancel()
	if err := r.DB.Write(ctx, func(tx *db.Tx) error { return tx.ProcessGone(ctx, r.row.ProcessID) }); err != nil {
		r.Log.Warn("the process stays in the register until it expires", "err", err)
	}
}

// seen writes the time, and forgets processes that fell silent long ago.
func (r *Register) seen(ctx context.Context) error {
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		r.row.Now = tx.Now
		if err := tx.ProcessSeen(ctx, r.row); err != nil {
			return err
		}
		return tx.ProcessesForget(ctx, tx.Now-keep.Microseconds())
	})
	if err != nil {
		return fmt.Errorf("register this process: %w", err)
	}
	return nil
}

// List reads the register, the process that started first in front.
func List(ctx context.Context, tx *db.Tx) ([]Process, error) {
	rows, err := tx.Processes(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	all := make([]Process, 0, len(rows))
	for _, p := range rows {
		all = append(all, Process{
			ProcessID: p.ProcessID, Host: p.Host, Version: p.Version, Schema: p.Schema,
			StartedAt: db.Time(p.StartedAt), SeenAt: db.Time(p.SeenAt), Alive: p.SeenAt > tx.Now-db.ProcessAlive.Microseconds(),
		})
	}
	return all, nil
}

// Version is that of this program, as it was built.
func Version() string {
	if built, ok := debug.ReadBuildInfo(); ok && built.Main.Version != "" {
		return built.Main.Version
	}
	return "unknown"
}
