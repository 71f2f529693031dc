// Package receiptlog keeps the append-only log of receipts in the database and
// checks it from outside.
//
// A leaf is a receipt's entry: 32 bytes, the SHA-256 of its signed content. The
// tree over the leaves is that of RFC 6962; it is read as C2SP tiles of 256
// hashes and as signed checkpoints.
//
// What always holds: a leaf is appended in its receipt's transaction, under the
// lock of the log's one row, so that indices are dense however many processes
// append, and a transaction that fails leaves no hole; what is read is of one
// moment, so one size never has two roots; leaves are never changed or removed.
//
// The row keeps the roots of the complete subtrees (edge): an append reads and
// writes that row and adds the leaf, nothing else but one hash every 256 leaves.
//
// It leaves to others: what a proof must look like (receipt), which key signs
// (signing), HTTP (the door named proof). Start reading at Append, then read.go;
// walk.go is for those who do not trust this database.
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

// Append adds one leaf in the caller's transaction and returns its index.
// Entry is told the index, so that what is logged can name it. The log stays
// locked until the transaction ends: append last.
func Append(ctx context.Context, tx *db.Tx, entry func(index int64) (receipt.Entry, error)) (int64, error) {
	head, err := tx.LogLock(ctx)
	if err != nil {
		return 0, fmt.Errorf("lock the log: %w", err)
	}
	e, err := parseEdge(head.Size, head.Peaks)
	if err != nil {
		return 0, err
	}
	index := e.size
	leaf, err := entry(index)
	if err != nil {
		return 0, err
	}
	if err := tx.LogLeafAdd(ctx, query.LogLeafAddParams{LogIndex: index, Entry: hex.EncodeToString(leaf[:])}); err != nil {
		return 0, fmt.Errorf("append leaf %d: %w", index, err)
	}
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

// Name gives the log its name, the origin of its checkpoints, as long as it has
// no leaf; later it keeps the one it has.
func Name(ctx context.Context, tx *db.Tx, origin string) error {
	if err := receipt.CheckOrigin(origin); err != nil {
		return err
	}
	if err := tx.LogName(ctx, origin); err != nil {
		return fmt.Errorf("name the log: %w", err)
	}
	return nil
}

func hexOf(h tlog.Hash) string { return hex.EncodeToString(h[:]) }

func parseHash(text string) (h tlog.Hash, err error) {
	if len(text) != 2*len(h) {
		return h, fmt.Errorf("%q is no hash", text)
	}
	_, err = hex.Decode(h[:], []byte(text))
	return h, err
}
