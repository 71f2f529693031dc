package receiptlog

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// Continues checks from outside that a log still continues a checkpoint that it signed
// before, and reads only what shows it: some tiles, whatever the log's length. Walk reads
// everything. known may be nil: then the checkpoint's signature is all that is checked.
// Errors: ErrFork, ErrHole, ErrAltered, receipt.ErrNotInLog; any other error comes from the source.
func Continues(ctx context.Context, source Source, keys []signingkey.Public, known []byte) (Walked, error) {
	text, err := source.Read(ctx, "checkpoint")
	if err != nil {
		return Walked{}, fmt.Errorf("read the checkpoint: %w", err)
	}
	head, err := receipt.OpenCheckpoint(text, keys)
	if err != nil {
		return Walked{}, err
	}
	found := Walked{Checkpoint: head, Text: text}
	before, err := Walk{Keys: keys, Known: known}.known(head)
	if err != nil {
		return found, err
	}
	found.KnownSize = before.Size
	if before.Size == 0 {
		return found, nil
	}
	root := head.Root
	if before.Size < head.Size {
		tiles := &outside{ctx: ctx, source: source}
		root, err = tlog.TreeHash(before.Size, tlog.TileHashReader(tlog.Tree{N: head.Size, Hash: head.Root}, tiles))
		if tiles.err != nil {
			return found, fmt.Errorf("read what the log had at %d leaves: %w", before.Size, tiles.err)
		}
		if err != nil { // the source gave all, and it does not fit
			return found, fmt.Errorf("%w: its tiles do not have the root that its checkpoint signs: %w", ErrAltered, err)
		}
	}
	if root != before.Root {
		return found, fmt.Errorf("%w: its first %d leaves have root %s, the known checkpoint signed %s", ErrFork, before.Size, root, before.Root)
	}
	return found, nil
}

// outside reads a log's tiles from its files, for tlog, which checks them against the root.
type outside struct {
	ctx    context.Context
	source Source
	err    error // of the source
}

func (*outside) Height() int { return tileHeight }

func (o *outside) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(wanted))
	for i, tile := range wanted {
		path := TilePath(tile)
		var err error
		data[i], err = o.source.Read(o.ctx, "tile/"+path)
		if errors.Is(err, ErrNoTile) {
			err = fmt.Errorf("%w: tile %s is not served", ErrHole, path)
		}
		if err != nil {
			o.err = err
			return nil, err
		}
	}
	return data, nil
}

// SaveTiles keeps nothing.
func (*outside) SaveTiles([]tlog.Tile, [][]byte) {}
