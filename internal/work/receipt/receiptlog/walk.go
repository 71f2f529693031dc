package receiptlog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/work/receipt"
)

// Defects of a log, beside a checkpoint that no known key has signed
// (receipt.ErrNotInLog).
var (
	// ErrFork: the log differs from a checkpoint that it signed before.
	ErrFork = errors.New("the log has two histories")
	// ErrHole: the log does not serve leaves that its checkpoint counts.
	ErrHole = errors.New("the log has a hole")
	// ErrAltered: a leaf does not have the hash in the tree.
	ErrAltered = errors.New("a leaf was altered")
)

// Source reads a log's files by their paths below /log/. A missing file is an
// ErrNoTile.
type Source interface {
	Read(ctx context.Context, path string) ([]byte, error)
}

// Walk reads a whole log from outside, recomputes every hash and compares.
type Walk struct {
	Source Source
	Keys   []receipt.PublicKey
	// Known, which may be nil, is an earlier checkpoint: the log must still begin
	// with what it signed.
	Known []byte
	// Progress is called with the number of leaves read.
	Progress func(done, total int64)
}

// Walked is a log without defects.
type Walked struct {
	receipt.Checkpoint
	Text  []byte // the signed checkpoint, to be kept as Known
	Since int64  // number of leaves of Known
}

// Run reads and verifies the log. Errors: ErrFork, ErrHole, ErrAltered,
// receipt.ErrNotInLog.
func (w Walk) Run(ctx context.Context) (Walked, error) {
	text, err := w.Source.Read(ctx, "checkpoint")
	if err != nil {
		return Walked{}, fmt.Errorf("read the checkpoint: %w", err)
	}
	head, err := receipt.OpenCheckpoint(text, w.Keys)
	if err != nil {
		return Walked{}, err
	}
	known, err := w.known(head)
	if err != nil {
		return Walked{}, err
	}
	t := &walker{Walk: w, ctx: ctx, size: head.Size, known: known}
	for t.edge.size < head.Size {
		if err := t.bundle(); err != nil {
			return Walked{}, err
		}
		w.Progress(t.edge.size, head.Size)
	}
	for i, nodes := range t.nodes {
		if err := t.upper(i+1, nodes); err != nil {
			return Walked{}, err
		}
	}
	root, err := t.edge.root()
	if err != nil {
		return Walked{}, err
	}
	if root != head.Root {
		return Walked{}, fmt.Errorf("%w: the %d leaves have root %s, the checkpoint signs %s", ErrAltered, head.Size, root, head.Root)
	}
	return Walked{Checkpoint: head, Text: text, Since: known.Size}, nil
}

func (w Walk) known(head receipt.Checkpoint) (receipt.Checkpoint, error) {
	if w.Known == nil {
		return receipt.Checkpoint{}, nil
	}
	known, err := receipt.OpenCheckpoint(w.Known, w.Keys)
	switch {
	case err != nil:
		return known, fmt.Errorf("the known checkpoint: %w", err)
	case known.Origin != head.Origin:
		return known, fmt.Errorf("%w: the known checkpoint is of %s, this log is %s", ErrFork, known.Origin, head.Origin)
	case known.Size > head.Size:
		return known, fmt.Errorf("%w: it had %d leaves and now has %d", ErrFork, known.Size, head.Size)
	}
	return known, nil
}

// walker is the state of a Walk.
type walker struct {
	Walk
	ctx   context.Context
	size  int64
	known receipt.Checkpoint
	edge  edge
	nodes [][]tlog.Hash // hashes of full tiles, by tile level from 1
}

// tile reads the tile with hash first of a level that has count hashes.
func (t *walker) tile(level int, first, count int64, item int) ([]byte, error) {
	width := min(tileWidth, count-first)
	path := TilePath(tlog.Tile{H: tileHeight, L: level, N: first / tileWidth, W: int(width)})
	data, err := t.Source.Read(t.ctx, "tile/"+path)
	switch {
	case errors.Is(err, ErrNoTile):
		return nil, fmt.Errorf("%w: tile %s is not served", ErrHole, path)
	case err != nil:
		return nil, fmt.Errorf("read tile %s: %w", path, err)
	case int64(len(data)) != width*int64(item):
		return nil, fmt.Errorf("%w: tile %s has %d bytes instead of %d", ErrHole, path, len(data), width*int64(item))
	}
	return data, nil
}

// bundle reads the next tile of entries and the tile of their hashes.
func (t *walker) bundle() error {
	const item = 2 + len(receipt.Entry{})
	entries, err := t.tile(-1, t.edge.size, t.size, item)
	if err != nil {
		return err
	}
	hashes, err := t.tile(0, t.edge.size, t.size, tlog.HashSize)
	if err != nil {
		return err
	}
	for len(entries) > 0 {
		if int(binary.BigEndian.Uint16(entries)) != item-2 {
			return fmt.Errorf("%w: leaf %d is not of 32 bytes", ErrAltered, t.edge.size)
		}
		leaf := receipt.Entry(entries[2:item]).LeafHash()
		if leaf != tlog.Hash(hashes[:tlog.HashSize]) {
			return fmt.Errorf("%w: leaf %d does not have the hash in its tile", ErrAltered, t.edge.size)
		}
		if err := t.leaf(leaf); err != nil {
			return err
		}
		entries, hashes = entries[item:], hashes[tlog.HashSize:]
	}
	return nil
}

// leaf adds a leaf. At the size of the known checkpoint it compares the root.
func (t *walker) leaf(hash tlog.Hash) error {
	completed, err := t.edge.add(hash)
	if err != nil {
		return err
	}
	for level := tileHeight; level < len(completed); level += tileHeight {
		i := level/tileHeight - 1
		if i == len(t.nodes) {
			t.nodes = append(t.nodes, nil)
		}
		t.nodes[i] = append(t.nodes[i], completed[level])
	}
	if t.edge.size != t.known.Size {
		return nil
	}
	root, err := t.edge.root()
	if err == nil && root != t.known.Root {
		err = fmt.Errorf("%w: its first %d leaves have root %s, the known checkpoint signed %s", ErrFork, t.known.Size, root, t.known.Root)
	}
	return err
}

// upper compares the tiles of a level above the leaves.
func (t *walker) upper(level int, want []tlog.Hash) error {
	for first := int64(0); first < int64(len(want)); first += tileWidth {
		data, err := t.tile(level, first, int64(len(want)), tlog.HashSize)
		if err != nil {
			return err
		}
		for i := first; len(data) > 0; i, data = i+1, data[tlog.HashSize:] {
			if tlog.Hash(data[:tlog.HashSize]) != want[i] {
				shift := tileHeight * level
				return fmt.Errorf("%w: one from %d to %d does not give the hash of its tile", ErrAltered, i<<shift, (i+1)<<shift-1)
			}
		}
	}
	return nil
}
