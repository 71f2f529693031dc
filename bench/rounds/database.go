package rounds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"

	"svc.example/internal/ground/db"
)

// Claimers is how many goroutines claim work, or commit, at the same time. Subject and
// baseline use the same number.
const Claimers = 8

// commits is how many transactions one call of CommitRate makes.
const commits = 4000

// WithStores calls do with an empty database, opened twice: store is package db, plain
// is database/sql alone, as the baseline. address is the one that app.Config takes. Both
// are closed, and the database is removed, when do returns.
func (b *Run) WithStores(ctx context.Context, engine string, do func(store *db.DB, plain *sql.DB, address string) error) (err error) {
	address, drop, err := b.Database(ctx, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	store, err := db.Open(ctx, db.Config{URL: address})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	plain, err := OpenPlain(ctx, engine, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	return do(store, plain, address)
}

// OpenPlain opens the database without package db and makes a row for each claimer, so
// that baseline commits do not wait for each other's rows. SQLite gets the journal and
// sync modes of the store, and one connection. The caller closes it.
func OpenPlain(ctx context.Context, engine, address string) (*sql.DB, error) {
	driver, connections := "pgx", Claimers
	if engine == "sqlite" {
		driver, connections = "sqlite", 1
		address = "file:" + address + "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	}
	plain, err := sql.Open(driver, address)
	if err != nil {
		return nil, err
	}
	plain.SetMaxOpenConns(connections)
	plain.SetMaxIdleConns(connections)
	_, err = plain.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS bench_tick (claimer bigint PRIMARY KEY, n bigint NOT NULL)")
	for claimer := 0; claimer < Claimers && err == nil; claimer++ {
		_, err = plain.ExecContext(ctx, "INSERT INTO bench_tick VALUES ($1, 0) ON CONFLICT DO NOTHING", claimer)
	}
	if err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return plain, nil
}

// CommitRate is how many transactions per second the database takes when each changes
// one row: the least that any durable step can cost.
func CommitRate(ctx context.Context, plain *sql.DB) (float64, error) {
	return Throughput(Claimers, commits, func(claimer int) error {
		tx, err := plain.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE bench_tick SET n = n + 1 WHERE claimer = $1", claimer); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

// Throughput calls do n times altogether, from many goroutines, and returns how often per
// second it was called. one is the number of the goroutine, from 0. A goroutine stops at
// its first error; the rate of a run with an error means nothing.
func Throughput(many, n int, do func(one int) error) (float64, error) {
	var left atomic.Int64
	left.Store(int64(n))
	failures := make(chan error, many)
	var all sync.WaitGroup
	began := time.Now()
	for one := range many {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(one); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	close(failures)
	var err error
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	return float64(n) / took.Seconds(), err
}

// Database makes an empty database on engine, "sqlite" or "postgres". drop removes it,
// and must be called after all connections that matter are closed: it cuts off the rest.
// SQLite's file goes with the run's folder.
func (b *Run) Database(ctx context.Context, engine string) (address string, drop func() error, err error) {
	if engine == "sqlite" {
		dir, err := b.Dir("database-")
		return filepath.Join(dir, "svc.db"), func() error { return nil }, err
	}
	server, err := url.Parse(os.Getenv("SVC_TEST_POSTGRES"))
	if err != nil || server.Host == "" {
		return "", nil, errors.New("SVC_TEST_POSTGRES does not name a server: run make bench, or scripts/with-postgres go run ./bench")
	}
	admin, err := sql.Open("pgx", server.String())
	if err != nil {
		return "", nil, err
	}
	b.made++
	name := fmt.Sprintf("svc_bench_%d_%d", os.Getpid(), b.made)
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, errors.Join(fmt.Errorf("create a database on the server of SVC_TEST_POSTGRES: %w", err), admin.Close())
	}
	server.Path = "/" + name
	return server.String(), func() error {
		_, err := admin.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)")
		return errors.Join(err, admin.Close())
	}, nil
}
