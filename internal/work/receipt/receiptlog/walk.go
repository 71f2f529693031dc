package receiptlog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// Defects of a log, in addition to a checkpoint that no known key has signed
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
// ErrNoTile. The walker verifies all that it reads, so a source needs no trust.
type Source interface {
	Read(ctx context.Context, path string) ([]byte, error)
}

// Walk reads a whole log from outside, recomputes every hash and compares. It reads
// each tile once and holds one tile of leaves and the hashes of full tiles in memory:
// 32 bytes for 256 leaves.
type Walk struct {
	Source Source
	Keys   []signingkey.Public
	// Known, which may be nil, is an earlier checkpoint: the log must still begin
	// with what it signed.
	Known []byte
	// Progress is called with the number of leaves read after each tile of them, by
	// Run's goroutine. It must not be nil.
	Progress func(done, total int64)
}

// Walked is a log without defects. Text is what a later Walk takes as Known.
type Walked struct {
	receipt.Checkpoint
	Text      []byte // the signed checkpoint, to be kept as Known
	KnownSize int64  // leaves of Known; 0 when Known is nil
}

// Run reads and verifies the log. It stops at the first defect, which the error names.
// It sends nothing and changes nothing. Errors: ErrFork, ErrHole, ErrAltered,
// receipt.ErrNotInLog; any other error comes from the Source.
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
	for t.frontier.size < head.Size {
		if err := t.bundle(); err != nil {
			return Walked{}, err
		}
		w.Progress(t.frontier.size, head.Size)
	}
	// The tiles above the leaves are compared last, when all their hashes are known.
	for i, nodes := range t.nodes {
		if err := t.upper(i+1, nodes); err != nil {
			return Walked{}, err
		}
	}
	root, err := t.frontier.root()
	if err != nil {
		return Walked{}, err
	}
	if root != head.Root {
		return Walked{}, fmt.Errorf("%w: the %d leaves have root %s, the checkpoint signs %s", ErrAltered, head.Size, root, head.Root)
	}
	return Walked{Checkpoint: head, Text: text, KnownSize: known.Size}, nil
}

// known opens the earlier checkpoint and compares what can be compared before any tile
// is read. A log that has become shorter has lost what it signed.
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

// walker is the state of a Walk. frontier holds what was read so far; its size is the
// index of the next leaf.
type walker struct {
	Walk
	ctx      context.Context
	size     int64
	known    receipt.Checkpoint
	frontier frontier
	nodes    [][]tlog.Hash // hashes of full tiles, by tile level from 1
}

// tile reads the tile with hash first of a level that has count hashes. item is the
// bytes of one entry or hash. A tile of another length than its width says is a hole.
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

// bundle reads the next tile of entries and the tile of their hashes, and compares each
// hash with its entry: the served tiles must agree, since others verify by the hashes
// alone.
func (t *walker) bundle() error {
	// C2SP puts the length of an entry before it, in two bytes.
	const item = 2 + len(receipt.Entry{})
	entries, err := t.tile(-1, t.frontier.size, t.size, item)
	if err != nil {
		return err
	}
	hashes, err := t.tile(0, t.frontier.size, t.size, tlog.HashSize)
	if err != nil {
		return err
	}
	for len(entries) > 0 {
		if int(binary.BigEndian.Uint16(entries)) != item-2 {
			return fmt.Errorf("%w: leaf %d is not 32 bytes long", ErrAltered, t.frontier.size)
		}
		leaf := receipt.Entry(entries[2:item]).LeafHash()
		if leaf != tlog.Hash(hashes[:tlog.HashSize]) {
			return fmt.Errorf("%w: leaf %d does not have the hash in its tile", ErrAltered, t.frontier.size)
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
	completed, err := t.frontier.add(hash)
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
	if t.frontier.size != t.known.Size {
		return nil
	}
	root, err := t.frontier.root()
	if err == nil && root != t.known.Root {
		err = fmt.Errorf("%w: its first %d leaves have root %s, the known checkpoint signed %s", ErrFork, t.known.Size, root, t.known.Root)
	}
	return err
}

// upper compares the tiles of a level above the leaves with the hashes that the leaves
// gave. Their hashes are not part of the root's computation, but proofs are made of
// them.
func (t *walker) upper(level int, want []tlog.Hash) error {
	for first := int64(0); first < int64(len(want)); first += tileWidth {
		data, err := t.tile(level, first, int64(len(want)), tlog.HashSize)
		if err != nil {
			return err
		}
		for i := first; len(data) > 0; i, data = i+1, data[tlog.HashSize:] {
			if tlog.Hash(data[:tlog.HashSize]) != want[i] {
				shift := tileHeight * level
				return fmt.Errorf("%w: one of those from %d to %d does not match the hash of its tile", ErrAltered, i<<shift, (i+1)<<shift-1)
			}
		}
	}
	return nil
}
