// Package receiptlog keeps the append-only log of receipts in the database, and
// verifies such a log from outside.
//
// A leaf is a receipt's entry: 32 bytes, the SHA-256 of its signed content. The tree
// over the leaves is that of RFC 6962. It is published as C2SP tiles of 256 hashes
// and as signed checkpoints.
//
// What always holds: a leaf is appended in its receipt's transaction, under the lock
// of the log's single row. Indices are therefore dense with any number of processes,
// and a failed transaction leaves no gap. A read sees one moment, so one size never
// has two roots. Leaves never change and are never removed.
//
// The row stores the roots of the complete subtrees (frontier). An append reads and
// writes that row and adds the leaf, and every 256 leaves one hash more.
//
// Package receipt defines the form of a proof, signing chooses the key, and the
// doors speak HTTP. Start reading at Append, then read.go. walk.go is for readers
// that do not trust this database.
package receiptlog

import (
	"context"
	"encoding/hex"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/receipt"
)

// tileHeight and tileWidth are those of C2SP tlog-tiles.
const (
	tileHeight = 8
	tileWidth  = 1 << tileHeight
)

// Append adds one leaf in the caller's transaction and returns its index, from 0. It
// passes the index to entry, so that the logged content can name it. The log stays
// locked until the transaction ends, so append last: all other completions wait
// meanwhile. A transaction that fails leaves neither leaf nor index behind.
func Append(ctx context.Context, tx *db.Tx, entry func(index int64) (receipt.Entry, error)) (int64, error) {
	head, err := tx.LogLock(ctx)
	if err != nil {
		return 0, fmt.Errorf("lock the log: %w", err)
	}
	e, err := parseFrontier(head.Size, head.Peaks)
	if err != nil {
		return 0, err
	}
	// The lock is held from here to the end of the transaction, so no other append gets
	// this index.
	index := e.size
	leaf, err := entry(index)
	if err != nil {
		return 0, err
	}
	if err := tx.LogLeafAdd(ctx, query.LogLeafAddParams{LogIndex: index, Entry: hex.EncodeToString(leaf[:])}); err != nil {
		return 0, fmt.Errorf("append leaf %d: %w", index, err)
	}
	// The leaf may complete tiles. Their roots are stored as rows, so that tiles above
	// the lowest level are read without the leaves under them.
	completed, err := e.add(leaf.LeafHash())
	if err != nil {
		return 0, err
	}
	for level := tileHeight; level < len(completed); level += tileHeight {
		err := tx.LogNodeAdd(ctx, query.LogNodeAddParams{
			TileLevel: int64(level / tileHeight), Number: index >> level, Hash: hexOf(completed[level]),
		})
		if err != nil {
			return 0, fmt.Errorf("append leaf %d: keep the hash of a full tile: %w", index, err)
		}
	}
	if err := tx.LogAdvance(ctx, query.LogAdvanceParams{Size: e.size, Peaks: e.text()}); err != nil {
		return 0, fmt.Errorf("append leaf %d: %w", index, err)
	}
	return index, nil
}

// Lock keeps other transactions from appending until this one ends, and returns the number
// of leaves.
func Lock(ctx context.Context, tx *db.Tx) (size int64, err error) {
	head, err := tx.LogLock(ctx)
	if err != nil {
		return 0, fmt.Errorf("lock the log: %w", err)
	}
	return head.Size, nil
}

// Name sets the log's name, which is the origin of its checkpoints. A log with leaves
// keeps its name, because signed receipts refer to it; the call then changes nothing
// and returns nil.
func Name(ctx context.Context, tx *db.Tx, origin string) error {
	if err := receipt.CheckOrigin(origin); err != nil {
		return err
	}
	row := query.ReceiptLog{LogID: 1, Origin: origin}
	if err := tx.LogName(ctx, query.LogNameParams{Origin: origin, RowSum: nameRows.Of(row)}); err != nil {
		return fmt.Errorf("name the log: %w", err)
	}
	return nil
}

// hexOf and parseHash convert between hashes and their columns: 64 lower-case hex
// digits, which both databases store as text.
func hexOf(h tlog.Hash) string { return hex.EncodeToString(h[:]) }

func parseHash(text string) (h tlog.Hash, err error) {
	if len(text) != 2*len(h) {
		return h, fmt.Errorf("%q is no hash", text)
	}
	_, err = hex.Decode(h[:], []byte(text))
	return h, err
}
