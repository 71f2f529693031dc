package main

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

	"svc.example/internal/db"
	"svc.example/internal/lease"
)

// What a round of leases is made of.
const (
	leaseQueue    = "bench"
	leaseBacklog  = 10000 // rows that wait: the largest job
	leasesMeasure = 2000  // of them, claimed and finished while the clock runs
	claimers      = 8
	atOnce        = 16 // frames that a worker asks for at most
)

// leaseGroup measures how fast work goes through the lease engine when many take
// it: one piece at a time from the whole queue, and as workers do, several at a
// time of one job. Each claim and each finish is a transaction of its own. Beside
// it: claims and finishes of one piece that change one row and do no more.
func leaseGroup(engine string) group {
	note := fmt.Sprintf("%d claimers, %d rows waiting; each commit is an fsync, and the baseline what the disk gives", claimers, leaseBacklog)
	if engine == "postgres" {
		note = fmt.Sprintf("%d claimers, %d rows waiting; scripts/with-postgres runs it with fsync=off", claimers, leaseBacklog)
	}
	goal, baseline := over(2000, perSecond), "pairs of one-row commits"
	return group{
		rows: []row{
			{name: rowOneLease(engine), unit: perSecond, goal: goal, baseline: baseline, note: note},
			{name: rowManyLeases(engine), unit: perSecond, goal: goal, baseline: baseline, note: "likewise"},
		},
		measure: func(ctx context.Context, b *bench, into record) error { return measureLeases(ctx, b, into, engine) },
	}
}

func rowOneLease(engine string) string { return "lease/" + engine + ", one at a time" }

func rowManyLeases(engine string) string {
	return fmt.Sprintf("lease/%s, %d of one job at a time", engine, atOnce)
}

func measureLeases(ctx context.Context, b *bench, into record, engine string) (err error) {
	address, drop, err := b.database(ctx, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	house, err := db.Open(ctx, db.Config{URL: address})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, house.Close()) }()
	bare, err := openBare(ctx, engine, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	round := 0
	return b.rounds(ctx, into, func(r record) error {
		round++
		subject := fmt.Sprintf("%s-%d", leaseQueue, round)
		var one, many, commits float64
		err := b.turns(func() (err error) {
			one, err = leaseRate(ctx, house, subject+"-one", 1, func(tx *db.Tx, holder string) ([]lease.Lease, error) {
				return lease.Claim(ctx, tx, leaseQueue, holder, 1, time.Minute)
			})
			if err != nil {
				return err
			}
			many, err = leaseRate(ctx, house, subject+"-many", atOnce, func(tx *db.Tx, holder string) ([]lease.Lease, error) {
				return lease.ClaimOf(ctx, tx, leaseQueue, subject+"-many", holder, atOnce, time.Minute)
			})
			return err
		}, func() (err error) {
			commits, err = commitRate(ctx, bare)
			return err
		})
		r.add(rowOneLease(engine), one, commits/2)
		r.add(rowManyLeases(engine), many, commits/2)
		return err
	})
}

// leaseRate fills the queue, lets the claimers at it, who take n pieces at a
// time, and empties it again. It returns pieces a second.
func leaseRate(ctx context.Context, house *db.DB, subject string, n int, claim func(tx *db.Tx, holder string) ([]lease.Lease, error)) (float64, error) {
	err := house.Write(ctx, func(tx *db.Tx) error {
		return lease.AddSpan(ctx, tx, leaseQueue, subject, 1, 1, leaseBacklog)
	})
	if err != nil {
		return 0, err
	}
	rate, err := crowd(leasesMeasure/n, func(claimer int) error {
		holder := fmt.Sprintf("claimer-%d", claimer)
		var got []lease.Lease
		err := house.Write(ctx, func(tx *db.Tx) (err error) {
			got, err = claim(tx, holder)
			return err
		})
		if err != nil {
			return err
		}
		if len(got) != n {
			return fmt.Errorf("claimed %d pieces of work, not %d", len(got), n)
		}
		for _, l := range got {
			if err := house.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) }); err != nil {
				return err
			}
		}
		return nil
	})
	return rate * float64(n), errors.Join(err, house.Write(ctx, func(tx *db.Tx) error { return lease.Drop(ctx, tx, leaseQueue, subject) }))
}

// openBare opens the same database without the house, and makes a row for each
// claimer.
func openBare(ctx context.Context, engine, address string) (*sql.DB, error) {
	driver, connections := "pgx", claimers
	if engine == "sqlite" {
		driver, connections = "sqlite", 1
		address = "file:" + address + "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	}
	bare, err := sql.Open(driver, address)
	if err != nil {
		return nil, err
	}
	bare.SetMaxOpenConns(connections)
	bare.SetMaxIdleConns(connections)
	_, err = bare.ExecContext(ctx, "CREATE TABLE bench_tick (claimer bigint PRIMARY KEY, n bigint NOT NULL)")
	for claimer := 0; claimer < claimers && err == nil; claimer++ {
		_, err = bare.ExecContext(ctx, "INSERT INTO bench_tick VALUES ($1, 0)", claimer)
	}
	if err != nil {
		return nil, errors.Join(err, bare.Close())
	}
	return bare, nil
}

// commitRate is how many one-row transactions a second the database takes.
func commitRate(ctx context.Context, bare *sql.DB) (float64, error) {
	return crowd(2*leasesMeasure, func(claimer int) error {
		tx, err := bare.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE bench_tick SET n = n + 1 WHERE claimer = $1", claimer); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

// crowd has the claimers do a piece of work n times altogether and returns how
// often a second it was done.
func crowd(n int, do func(claimer int) error) (float64, error) {
	var left atomic.Int64
	left.Store(int64(n))
	failures := make(chan error, claimers)
	var all sync.WaitGroup
	began := time.Now()
	for claimer := range claimers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(claimer); err != nil {
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

// database makes an empty database on engine; drop removes it.
func (b *bench) database(ctx context.Context, engine string) (address string, drop func() error, err error) {
	if engine == "sqlite" {
		dir, err := b.dir("lease-")
		return filepath.Join(dir, "svc.db"), func() error { return nil }, err
	}
	server, err := url.Parse(os.Getenv("SVC_TEST_POSTGRES"))
	if err != nil || server.Host == "" {
		return "", nil, errors.New("SVC_TEST_POSTGRES names no server: run make bench, or scripts/with-postgres go run ./bench")
	}
	admin, err := sql.Open("pgx", server.String())
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("svc_bench_%d", os.Getpid())
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, errors.Join(fmt.Errorf("make a database on the server of SVC_TEST_POSTGRES: %w", err), admin.Close())
	}
	server.Path = "/" + name
	return server.String(), func() error {
		_, err := admin.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)")
		return errors.Join(err, admin.Close())
	}, nil
}
