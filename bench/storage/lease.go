// Package storage measures what the database limits: leases, the log of receipts and
// webhook deliveries.
//
// What always holds: both engines are measured alike, and compared with the same
// database used with database/sql alone. Start reading at Lease.
package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
)

// What a round of leases is made of.
const (
	leaseQueue    = "frame" // the one that dispatch chooses from
	leaseBacklog  = 10000   // due rows: the frames of the largest job
	leasesMeasure = 2000    // of them, claimed and finished while the clock runs
	atOnce        = 16      // rows in one claim, as a worker asks for them
)

// Lease measures how fast work passes through the lease engine when many claim it: one
// row at a time from the whole queue, and, as workers do, several rows of one job at a
// time. Each claim and each finish is a transaction of its own. The baseline is half
// the rate of one-row commits, since each row costs one claim and one finish.
func Lease(engine string) rounds.Group {
	note := fmt.Sprintf("%d claimers, %d rows waiting; each commit is an fsync, and the baseline what the disk gives", rounds.Claimers, leaseBacklog)
	if engine == "postgres" {
		note = fmt.Sprintf("%d claimers, %d rows waiting; scripts/with-postgres runs it with fsync=off", rounds.Claimers, leaseBacklog)
	}
	goal, baseline := rounds.Over(2000, rounds.PerSecond), "pairs of one-row commits"
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowOneLease(engine), Unit: rounds.PerSecond, Goal: goal, Baseline: baseline, Note: note},
			{Name: rowManyLeases(engine), Unit: rounds.PerSecond, Goal: goal, Baseline: baseline, Note: "likewise"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			return measureLeases(ctx, b, into, engine)
		},
	}
}

func rowOneLease(engine string) string { return "lease/" + engine + ", one at a time" }

func rowManyLeases(engine string) string {
	return fmt.Sprintf("lease/%s, %d of one job at a time", engine, atOnce)
}

// measureLeases gives every round subjects of its own, so that no round meets rows of an
// earlier one.
func measureLeases(ctx context.Context, b *rounds.Run, into rounds.Record, engine string) error {
	return b.WithStores(ctx, engine, func(store *db.DB, plain *sql.DB, _ string) error {
		round := 0
		return b.Rounds(ctx, into, func(r rounds.Record) error {
			round++
			subject := fmt.Sprintf("%s-%d", leaseQueue, round)
			var one, many, commits float64
			err := b.Turns(func() (err error) {
				one, err = leaseRate(ctx, store, subject+"-one", 1, func(tx *db.Tx, holder string) ([]lease.Lease, error) {
					return lease.Claim(ctx, tx, leaseQueue, holder, 1, time.Minute)
				})
				if err != nil {
					return err
				}
				many, err = leaseRate(ctx, store, subject+"-many", atOnce, func(tx *db.Tx, holder string) ([]lease.Lease, error) {
					return lease.ClaimOf(ctx, tx, leaseQueue, subject+"-many", nil, holder, atOnce, time.Minute)
				})
				return err
			}, func() (err error) {
				commits, err = rounds.CommitRate(ctx, plain)
				return err
			})
			r.Add(rowOneLease(engine), one, commits/2)
			r.Add(rowManyLeases(engine), many, commits/2)
			return err
		})
	})
}

// leaseRate fills the queue, has the claimers take n rows at a time, empties the queue
// and returns rows per second. Filling and emptying are not timed. A claim that gets
// fewer than n rows is an error: there are always enough.
func leaseRate(ctx context.Context, store *db.DB, subject string, n int, claim func(tx *db.Tx, holder string) ([]lease.Lease, error)) (float64, error) {
	err := store.Write(ctx, func(tx *db.Tx) error {
		return lease.AddSpan(ctx, tx, leaseQueue, subject, 1, 1, leaseBacklog)
	})
	if err != nil {
		return 0, err
	}
	rate, err := rounds.Throughput(rounds.Claimers, leasesMeasure/n, func(claimer int) error {
		holder := fmt.Sprintf("claimer-%d", claimer)
		var got []lease.Lease
		err := store.Write(ctx, func(tx *db.Tx) (err error) {
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
			if err := store.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) }); err != nil {
				return err
			}
		}
		return nil
	})
	return rate * float64(n), errors.Join(err, store.Write(ctx, func(tx *db.Tx) error { return lease.Drop(ctx, tx, leaseQueue, subject) }))
}
