package storage

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

	"svc.example/bench/rounds"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// What the log is made of, and what one round does with it.
const (
	logLeaves   = 1 << 20 // of the log at the start
	logReceipts = 2000    // signed and appended while the clock runs
	logProofs   = 100     // made while the clock runs
	logAtOnce   = 1 << 9  // rows in one statement that fills
)

// ReceiptLog measures a log of a million receipts: how many more it takes per second
// when many jobs complete at once, each signed and appended in a transaction of its own,
// compared with commits of one row; and how long a proof of any of them takes, with its
// signed checkpoint, compared with reading one row.
func ReceiptLog(engine string) rounds.Group {
	note := "each commit is an fsync, and the next append waits for it"
	if engine == "postgres" {
		note = "scripts/with-postgres runs it with fsync=off"
	}
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowReceipts(engine), Unit: rounds.PerSecond, Goal: rounds.Over(1000, rounds.PerSecond), Baseline: "one-row commits", Note: note},
			{Name: rowProof(engine), Unit: rounds.Duration, Baseline: "reading one row", Note: "one after the other, all over the log"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			return measureReceiptLog(ctx, b, into, engine)
		},
	}
}

func rowReceipts(engine string) string { return "log/" + engine + ", receipts at 1 M leaves" }

func rowProof(engine string) string { return "log/" + engine + ", proof at 1 M leaves" }

func measureReceiptLog(ctx context.Context, b *rounds.Run, into rounds.Record, engine string) error {
	return b.WithStores(ctx, engine, func(store *db.DB, plain *sql.DB, _ string) error {
		if err := fillLog(ctx, store, plain); err != nil {
			return fmt.Errorf("fill the log: %w", err)
		}
		key, err := signingkey.New(rand.Reader)
		if err != nil {
			return err
		}
		job, err := receipttest.Complete(1)
		if err != nil {
			return err
		}
		return b.Rounds(ctx, into, func(r rounds.Record) error {
			var receipts, proof, commits, read float64
			err := b.Turns(func() (err error) {
				if receipts, err = receiptRate(ctx, store, job.Receipt, key); err != nil {
					return err
				}
				proof, err = readTime(ctx, store, func(tx *db.Tx, i int64) error {
					_, err := receiptlog.Prove(ctx, tx, i*(logLeaves/logProofs), key)
					return err
				})
				return err
			}, func() (err error) {
				if commits, err = rounds.CommitRate(ctx, plain); err != nil {
					return err
				}
				read, err = readTime(ctx, store, func(tx *db.Tx, _ int64) error {
					_, err := tx.LogHead(ctx)
					return err
				})
				return err
			})
			r.Add(rowReceipts(engine), receipts, commits)
			r.Add(rowProof(engine), proof, read)
			return err
		})
	})
}

// receiptRate is how many receipts per second are signed and appended. Signing needs the
// index, so it happens inside the transaction that appends.
func receiptRate(ctx context.Context, store *db.DB, r receipt.Receipt, key signingkey.Key) (float64, error) {
	return rounds.Throughput(rounds.Claimers, logReceipts, func(int) error {
		return store.Write(ctx, func(tx *db.Tx) error {
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

// readTime is the mean time of one read transaction, in seconds.
func readTime(ctx context.Context, store *db.DB, do func(tx *db.Tx, i int64) error) (float64, error) {
	began := time.Now()
	for i := range int64(logProofs) {
		if err := store.Read(ctx, func(tx *db.Tx) error { return do(tx, i) }); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds() / logProofs, nil
}

// fillLog writes what a million appends would leave, in statements of many rows. The
// number of leaves is a power of two, so the tree has a single peak: its root. Only
// every eighth level is stored, as the log's tiles are.
func fillLog(ctx context.Context, store *db.DB, plain *sql.DB) error {
	if err := store.Write(ctx, func(tx *db.Tx) error { return receiptlog.Name(ctx, tx, "bench.example.com/log") }); err != nil {
		return err
	}
	tx, err := plain.BeginTx(ctx, nil)
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

// parents computes the level of the tree above a full one.
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
