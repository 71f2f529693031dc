package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

const (
	logLeaves   = 1 << 20 // of the log at the start
	logReceipts = 2000    // signed and appended while the clock runs
	logProofs   = 100     // made while the clock runs
	logAtOnce   = 1 << 9  // rows in one statement that fills
)

// receiptLogGroup measures a log of a million receipts: how many more it takes
// when many complete at once, each signed and appended in a transaction of its
// own, beside commits of one row; and how long the proof of any of them takes,
// with its signed checkpoint, beside reading one row.
func receiptLogGroup(engine string) group {
	note := "each commit is an fsync, and the next append waits for it"
	if engine == "postgres" {
		note = "scripts/with-postgres runs it with fsync=off"
	}
	return group{
		rows: []row{
			{name: rowReceipts(engine), unit: perSecond, goal: over(1000, perSecond), baseline: "one-row commits", note: note},
			{name: rowProof(engine), unit: duration, baseline: "reading one row", note: "one after the other, all over the log"},
		},
		measure: func(ctx context.Context, b *bench, into record) error { return measureReceiptLog(ctx, b, into, engine) },
	}
}

func rowReceipts(engine string) string { return "log/" + engine + ", receipts at 1 M leaves" }

func rowProof(engine string) string { return "log/" + engine + ", proof at 1 M leaves" }

func measureReceiptLog(ctx context.Context, b *bench, into record, engine string) error {
	return b.withStores(ctx, engine, func(house *db.DB, bare *sql.DB, _ string) error {
		if err := fillLog(ctx, house, bare); err != nil {
			return fmt.Errorf("fill the log: %w", err)
		}
		key, err := receipt.NewKey(rand.Reader)
		if err != nil {
			return err
		}
		job, err := receipttest.Complete(1)
		if err != nil {
			return err
		}
		return b.rounds(ctx, into, func(r record) error {
			var receipts, proof, commits, read float64
			err := b.turns(func() (err error) {
				if receipts, err = receiptRate(ctx, house, job.Receipt, key); err != nil {
					return err
				}
				proof, err = readTime(ctx, house, func(tx *db.Tx, i int64) error {
					_, err := receiptlog.Prove(ctx, tx, i*(logLeaves/logProofs), key)
					return err
				})
				return err
			}, func() (err error) {
				if commits, err = commitRate(ctx, bare); err != nil {
					return err
				}
				read, err = readTime(ctx, house, func(tx *db.Tx, _ int64) error {
					_, err := tx.LogHead(ctx)
					return err
				})
				return err
			})
			r.add(rowReceipts(engine), receipts, commits)
			r.add(rowProof(engine), proof, read)
			return err
		})
	})
}

// receiptRate is how many receipts a second are signed and appended.
func receiptRate(ctx context.Context, house *db.DB, r receipt.Receipt, key receipt.Key) (float64, error) {
	return crowd(claimers, logReceipts, func(int) error {
		return house.Write(ctx, func(tx *db.Tx) error {
			_, err := receiptlog.Append(ctx, tx, func(index int64) (receipt.Entry, error) {
				own := r
				own.LogIndex = &index
				envelope, err := receipt.Sign(own, key)
				if err != nil {
					return receipt.Entry{}, err
				}
				return receipt.EntryOf(envelope)
			})
			return err
		})
	})
}

// readTime is how long one of several read transactions takes.
func readTime(ctx context.Context, house *db.DB, do func(tx *db.Tx, i int64) error) (float64, error) {
	began := time.Now()
	for i := range int64(logProofs) {
		if err := house.Read(ctx, func(tx *db.Tx) error { return do(tx, i) }); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds() / logProofs, nil
}

// fillLog writes what a million appends would leave, a statement for many rows.
// The number of leaves is a power of two, so that the tree's edge is its root.
func fillLog(ctx context.Context, house *db.DB, bare *sql.DB) error {
	if err := house.Write(ctx, func(tx *db.Tx) error { return receiptlog.Name(ctx, tx, "bench.example.com/log") }); err != nil {
		return err
	}
	tx, err := bare.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	level := make([]tlog.Hash, logLeaves)
	entries := make([]string, logLeaves)
	for i := range level {
		entry := receipt.Entry(sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i))))
		level[i], entries[i] = entry.LeafHash(), "'"+hex.EncodeToString(entry[:])+"'"
	}
	if err := insertMany(ctx, tx, "INSERT INTO receipt_log_leaf (log_index, entry) VALUES ", "", entries); err != nil {
		return err
	}
	for height := 1; len(level) > 1; height++ {
		level = parents(level)
		if height%8 != 0 {
			continue
		}
		hashes := make([]string, len(level))
		for i, hash := range level {
			hashes[i] = "'" + hex.EncodeToString(hash[:]) + "'"
		}
		if err := insertMany(ctx, tx, "INSERT INTO receipt_log_node (tile_level, number, hash) VALUES ", fmt.Sprint(height/8, ", "), hashes); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("UPDATE receipt_log SET size = %d, peaks = '%x'", logLeaves, level[0][:]))
	return errors.Join(err, tx.Commit())
}

func parents(level []tlog.Hash) []tlog.Hash {
	above := make([]tlog.Hash, len(level)/2)
	for i := range above {
		above[i] = tlog.NodeHash(level[2*i], level[2*i+1])
	}
	return above
}

// insertMany inserts a row of prefix, number and value for each value.
func insertMany(ctx context.Context, tx *sql.Tx, head, prefix string, values []string) error {
	for first := 0; first < len(values); first += logAtOnce {
		rows := make([]string, 0, logAtOnce)
		for i := first; i < min(first+logAtOnce, len(values)); i++ {
			rows = append(rows, fmt.Sprintf("(%s%d, %s)", prefix, i, values[i]))
		}
		if _, err := tx.ExecContext(ctx, head+strings.Join(rows, ", ")); err != nil {
			return err
		}
	}
	return nil
}
