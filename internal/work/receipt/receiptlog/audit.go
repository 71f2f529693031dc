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

// whole is the rule that this audit checks, and logSubject what its breaches are about.
const (
	whole      = "the log is whole"
	logSubject = "log"
)

// Audit rebuilds the tree from the leaves, in one pass and with one page and one hash for
// each level in memory, and reports every leaf, stored hash and member of the log's row
// that disagrees. It calls each with every entry that can be read and its index, in order.
// It ends on any damage: no step depends on what a damaged row says. An error means that
// the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any), each func(index int64, entry receipt.Entry)) error {
	a := auditor{each: each, breach: func(format string, args ...any) { breach(whole, logSubject, format, args...) }}
	head, err := tx.LogHead(ctx)
	if db.IsNotFound(err) {
		a.breach("its row is gone")
	} else if err != nil {
		return fmt.Errorf("read the log's row: %w", err)
	}
	counts, err := tx.LogCounts(ctx)
	if err != nil {
		return fmt.Errorf("count the leaves: %w", err)
	}
	if counts.Leaves != head.Size {
		a.breach("%d leaves are stored, the log's row says %d", counts.Leaves, head.Size)
	}
	if err := a.leaves(ctx, tx); err != nil {
		return err
	}
	if !a.gap && counts.Nodes != a.nodes {
		a.breach("%d hashes of full tiles are stored, %d leaves have %d", counts.Nodes, a.frontier.size, a.nodes)
	}
	if !a.gap && a.frontier.text() != head.Peaks {
		a.breach("the leaves give another root than the log's row")
	}
	if head.Origin == "" && head.Size == 0 {
		return nil // no service has started yet
	}
	return nameRows.Audit(ctx, tx, breach, nil)
}

// auditor is the state of an Audit. frontier is the tree rebuilt so far, and its size
// the index of the next leaf.
type auditor struct {
	breach   func(format string, args ...any)
	each     func(int64, receipt.Entry)
	frontier frontier
	gap      bool  // a leaf is missing: there is no tree to compare from here on
	nodes    int64 // full tiles so far
}

// leaves walks the rows in order, so that neither an index nor the size that a damaged row
// gives decides how long it takes. After a gap it only passes entries on.
func (a *auditor) leaves(ctx context.Context, tx *db.Tx) error {
	for next := int64(0); ; {
		rows, err := tx.LogLeavesFrom(ctx, next)
		if err != nil {
			return fmt.Errorf("read leaves from %d: %w", next, err)
		}
		for _, row := range rows {
			if err := a.leaf(ctx, tx, row); err != nil {
				return err
			}
		}
		if len(rows) == 0 || rows[len(rows)-1].LogIndex+1 < next {
			return nil // the last index is the greatest number there is
		}
		next = rows[len(rows)-1].LogIndex + 1
	}
}

// leaf adds one leaf to the rebuilt tree and compares the hashes of the tiles that it
// fills. A leaf that cannot be read counts as zeros: its tile and the root then differ.
func (a *auditor) leaf(ctx context.Context, tx *db.Tx, row query.ReceiptLogLeaf) error {
	if !a.gap && row.LogIndex != a.frontier.size {
		a.breach("leaf %d is missing, the next one is %d", a.frontier.size, row.LogIndex)
		a.gap = true
	}
	entry, err := entryOf(row)
	switch {
	case err != nil:
		a.breach("%v", err)
	case hex.EncodeToString(entry[:]) != row.Entry:
		a.breach("leaf %d is damaged: %q is written in another way", row.LogIndex, row.Entry)
	default:
		a.each(row.LogIndex, entry)
	}
	if a.gap {
		return nil
	}
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
