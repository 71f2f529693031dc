package receiptlog

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/receipt"
)

// auditPage bounds the leaves that an audit holds in memory: 16 tiles, a few hundred
// kilobytes.
const auditPage = 4096

// Audit reads the whole log in one transaction, rebuilds the tree and returns each
// inconsistency as one line. It calls each with every entry and its index, in order. No
// breach means that every leaf, every stored hash and the log's row agree. An error
// means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, each func(index int64, entry receipt.Entry)) (breaches []string, err error) {
	head, err := tx.LogHead(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the log's row: %w", err)
	}
	counts, err := tx.LogCounts(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the leaves: %w", err)
	}
	a := auditor{each: each}
	if counts.Leaves != head.Size {
		a.breach("%d leaves are stored, the log's row says %d", counts.Leaves, head.Size)
	}
	if err := a.leaves(ctx, tx, head.Size); err != nil || len(a.breaches) > 0 {
		return a.breaches, err // without all leaves there is no tree to compare
	}
	if kept := int64(a.nodes); counts.Nodes != kept {
		a.breach("%d hashes of full tiles are stored, %d leaves have %d", counts.Nodes, head.Size, kept)
	}
	if a.frontier.text() != head.Peaks {
		a.breach("the leaves give another root than the log's row")
	}
	return a.breaches, nil
}

// auditor is the state of an Audit. frontier is the tree rebuilt so far, and its size
// the index of the next leaf.
type auditor struct {
	breaches []string
	each     func(int64, receipt.Entry)
	frontier frontier
	nodes    int // full tiles so far
}

func (a *auditor) breach(format string, args ...any) {
	a.breaches = append(a.breaches, fmt.Sprintf(format, args...))
}

// leaves walks all leaves in order and stops at a gap. It compares the stored hash of
// each tile when the tile is full.
func (a *auditor) leaves(ctx context.Context, tx *db.Tx, size int64) error {
	for a.frontier.size < size {
		rows, err := tx.LogLeaves(ctx, query.LogLeavesParams{First: a.frontier.size, Behind: a.frontier.size + auditPage})
		if err != nil {
			return fmt.Errorf("read leaves from %d: %w", a.frontier.size, err)
		}
		if len(rows) == 0 {
			a.breach("leaf %d is missing", a.frontier.size)
			return nil
		}
		for _, row := range rows {
			if row.LogIndex != a.frontier.size {
				a.breach("leaf %d is missing", a.frontier.size)
				return nil
			}
			if err := a.leaf(ctx, tx, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaf adds one leaf to the rebuilt tree and compares the hashes of the tiles that it
// fills.
func (a *auditor) leaf(ctx context.Context, tx *db.Tx, row query.ReceiptLogLeaf) error {
	entry, err := entryOf(row)
	if err != nil {
		a.breach("%v", err) // it counts as zeros, so that the walk goes on and the root differs
	}
	a.each(row.LogIndex, entry)
	completed, err := a.frontier.add(entry.LeafHash())
	if err != nil {
		return err
	}
	for level := tileHeight; level < len(completed); level += tileHeight {
		if err := a.node(ctx, tx, level, row.LogIndex>>level, completed[level]); err != nil {
			return err
		}
	}
	return nil
}

// node compares one stored hash with the recomputed one. It names the range of leaves
// under it, because a wrong hash does not tell which of them was changed.
func (a *auditor) node(ctx context.Context, tx *db.Tx, level int, number int64, want tlog.Hash) error {
	a.nodes++
	rows, err := tx.LogNodes(ctx, query.LogNodesParams{TileLevel: int64(level / tileHeight), First: number, Behind: number + 1})
	if err != nil {
		return fmt.Errorf("read hash %d of level %d: %w", number, level, err)
	}
	if len(rows) == 0 || rows[0].Hash != hexOf(want) {
		a.breach("a leaf from %d to %d was changed: the stored hash over them differs", number<<level, (number+1)<<level-1)
	}
	return nil
}
