package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// What a round of leases is made of.
const (
	leaseQueue    = "frame" // the one that dispatch chooses from
	leaseBacklog  = 10000   // rows that wait: the largest job
	leasesMeasure = 2000    // of them, claimed and finished while the clock runs
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

func measureLeases(ctx context.Context, b *bench, into record, engine string) error {
	return b.withStores(ctx, engine, func(house *db.DB, bare *sql.DB, _ string) error {
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
					ids, err := tx.FramesFor(ctx, query.FramesForParams{JobID: subject + "-many", Holder: holder, Now: tx.Now, Max: atOnce})
					if err != nil {
						return nil, err
					}
					return lease.ClaimIDs(ctx, tx, ids, holder, time.Minute)
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
	rate, err := crowd(claimers, leasesMeasure/n, func(claimer int) error {
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
