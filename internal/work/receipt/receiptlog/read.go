package receiptlog

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// ErrNoTile reports that the log is too short to have the tile.
var ErrNoTile = errors.New("the log has no such tile")

// Head returns the log's checkpoint as of the transaction, unsigned. An empty log has
// size 0 and the root of the empty tree.
func Head(ctx context.Context, tx *db.Tx) (receipt.Checkpoint, error) {
	head, err := tx.LogHead(ctx)
	if err != nil {
		return receipt.Checkpoint{}, fmt.Errorf("read the log's row: %w", err)
	}
	e, err := parseFrontier(head.Size, head.Peaks)
	if err != nil {
		return receipt.Checkpoint{}, err
	}
	root, err := e.root()
	if err != nil {
		return receipt.Checkpoint{}, fmt.Errorf("compute the log's root: %w", err)
	}
	return receipt.Checkpoint{Origin: head.Origin, Size: head.Size, Root: root}, nil
}

// HeadAt is Head when the log had size leaves, which it must have. The leaves give it, checked
// against the log's present root.
func HeadAt(ctx context.Context, tx *db.Tx, size int64) (receipt.Checkpoint, error) {
	head, err := Head(ctx, tx)
	if err != nil || size == head.Size {
		return head, err
	}
	if size > head.Size || size < 0 {
		return receipt.Checkpoint{}, fmt.Errorf("the log has %d leaves, and never had %d", head.Size, size)
	}
	root, err := tlog.TreeHash(size, hashesOf(ctx, tx, head))
	if err != nil {
		return receipt.Checkpoint{}, fmt.Errorf("compute the root of %d of %d leaves: %w", size, head.Size, err)
	}
	return receipt.Checkpoint{Origin: head.Origin, Size: size, Root: root}, nil
}

// Prove returns the proof that leaf index is in the current log, with a checkpoint
// signed by key. Every hash of the proof has been checked against the root, so a
// database that was altered gives an error, never a false proof. The proof is of the
// transaction's moment; later ones differ and are as good.
func Prove(ctx context.Context, tx *db.Tx, index int64, key signingkey.Key) (receipt.Inclusion, error) {
	head, err := Head(ctx, tx)
	if err != nil {
		return receipt.Inclusion{}, err
	}
	checkpoint, err := receipt.SignCheckpoint(head, key)
	if err != nil {
		return receipt.Inclusion{}, err
	}
	return ProveIn(ctx, tx, index, head, checkpoint)
}

// ProveIn is Prove for an earlier checkpoint of this log, which text holds with its
// signatures.
func ProveIn(ctx context.Context, tx *db.Tx, index int64, head receipt.Checkpoint, text []byte) (receipt.Inclusion, error) {
	path, err := tlog.ProveRecord(head.Size, index, hashesOf(ctx, tx, head))
	if err != nil {
		return receipt.Inclusion{}, fmt.Errorf("prove leaf %d of %d: %w", index, head.Size, err)
	}
	return receipt.NewInclusion(index, path, text), nil
}

// ProveContinues is the proof that a checkpoint of this log continues the log of old leaves,
// at least one (RFC 6962 2.1.2).
func ProveContinues(ctx context.Context, tx *db.Tx, old int64, head receipt.Checkpoint) (tlog.TreeProof, error) {
	proof, err := tlog.ProveTree(head.Size, old, hashesOf(ctx, tx, head))
	if err != nil {
		return nil, fmt.Errorf("prove that %d leaves continue %d: %w", head.Size, old, err)
	}
	return proof, nil
}

// hashesOf reads the log's hashes, each checked against the root of a checkpoint.
func hashesOf(ctx context.Context, tx *db.Tx, head receipt.Checkpoint) tlog.HashReader {
	return tlog.TileHashReader(tlog.Tree{N: head.Size, Hash: head.Root}, tiles{ctx, tx})
}

// tiles reads tiles within a transaction, for tlog. All reads of a proof see one
// moment.
type tiles struct {
	ctx context.Context
	tx  *db.Tx
}

func (tiles) Height() int { return tileHeight }

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(wanted))
	for i, tile := range wanted {
		var err error
		if data[i], err = Tile(t.ctx, t.tx, tile); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// SaveTiles keeps nothing: tlog offers verified tiles to a cache, and there is none.
func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// Tile reads the hashes of a tile in a row (C2SP tlog-tiles). Level -1 holds the
// entries, each with its length in two bytes before it. A tile that the log can fill
// only in part is ErrNoTile under its full width; ask for the part that is there. What
// this returns for a tile never changes. Error: ErrNoTile.
func Tile(ctx context.Context, tx *db.Tx, t tlog.Tile) ([]byte, error) {
	first := t.N * tileWidth
	behind := first + int64(t.W)
	if t.H != tileHeight || t.W < 1 || t.N < 0 || t.N > 1<<40 {
		return nil, ErrNoTile
	}
	var data []byte
	var err error
	switch t.L {
	case -1:
		data, err = leaves(ctx, tx, first, behind, func(data []byte, e receipt.Entry) []byte {
			return append(binary.BigEndian.AppendUint16(data, uint16(len(e))), e[:]...)
		})
	case 0:
		data, err = leaves(ctx, tx, first, behind, func(data []byte, e receipt.Entry) []byte {
			hash := e.LeafHash()
			return append(data, hash[:]...)
		})
	default:
		data, err = nodes(ctx, tx, int64(t.L), first, behind)
	}
	if err != nil {
		return nil, fmt.Errorf("read tile %s: %w", t.Path(), err)
	}
	return data, nil
}

// leaves reads the rows from first to behind-1 and joins what add makes of each. Fewer
// rows than asked for mean that the log is shorter.
func leaves(ctx context.Context, tx *db.Tx, first, behind int64, add func([]byte, receipt.Entry) []byte) ([]byte, error) {
	rows, err := tx.LogLeaves(ctx, query.LogLeavesParams{First: first, Behind: behind})
	if err != nil {
		return nil, err
	}
	if int64(len(rows)) < behind-first {
		return nil, ErrNoTile
	}
	var data []byte
	for _, row := range rows {
		entry, err := entryOf(row)
		if err != nil {
			return nil, err
		}
		data = add(data, entry)
	}
	return data, nil
}

// entryOf reads a leaf's row. A row that is not 32 bytes in hex was damaged after
// Append.
func entryOf(row query.ReceiptLogLeaf) (e receipt.Entry, err error) {
	if len(row.Entry) != 2*len(e) {
		return e, fmt.Errorf("leaf %d is damaged: %q", row.LogIndex, row.Entry)
	}
	_, err = hex.Decode(e[:], []byte(row.Entry))
	return e, err
}

// nodes reads stored hashes of full tiles, which Append has kept.
func nodes(ctx context.Context, tx *db.Tx, level, first, behind int64) ([]byte, error) {
	rows, err := tx.LogNodes(ctx, query.LogNodesParams{TileLevel: level, First: first, Behind: behind})
	if err != nil {
		return nil, err
	}
	if int64(len(rows)) < behind-first {
		return nil, ErrNoTile
	}
	var data []byte
	for _, row := range rows {
		hash, err := parseHash(row.Hash)
		if err != nil {
			return nil, fmt.Errorf("hash %d is damaged: %w", row.Number, err)
		}
		data = append(data, hash[:]...)
	}
	return data, nil
}

// Cosigned is a checkpoint with the lines of its witnesses, enough of them for the policy.
type Cosigned struct {
	receipt.Checkpoint
	Text  []byte
	KeyID string    // of the service's key that signed it
	At    time.Time // when the last of them signed
}
