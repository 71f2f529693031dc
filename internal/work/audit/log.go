package audit

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
)

// logThing is what breaches of the log as a whole are told at.
const logThing = "log"

// log: its leaves are dense, give the root that is published, and a checkpoint
// of it is signed by a published key.
func (a *auditor) log(ctx context.Context, tx *db.Tx, ring *signing.Ring, keys []receipt.PublicKey) error {
	breaches, err := receiptlog.Audit(ctx, tx, func(_ int64, entry receipt.Entry) { a.leaves = append(a.leaves, entry) })
	if err != nil {
		return fmt.Errorf("audit the log: %w", err)
	}
	a.Leaves, a.claimed = len(a.leaves), map[int64]bool{}
	for _, text := range breaches {
		a.breach("the log is whole", logThing, "%s", text)
	}
	head, err := receiptlog.Head(ctx, tx)
	if err != nil {
		a.breach("the log is whole", logThing, "%v", err)
		return nil
	}
	key, err := ring.Current(ctx, tx)
	if errors.Is(err, signing.ErrNoKey) || head.Origin == "" {
		return nil // nothing is signed from here
	}
	if err != nil {
		return err
	}
	text, err := receipt.SignCheckpoint(head, key)
	if err != nil {
		return err
	}
	if signed, err := receipt.OpenCheckpoint(text, keys); err != nil || signed != head {
		a.breach("the log's checkpoint verifies", logThing, "%v", err)
	}
	return nil
}

// leaf: a completed job's receipt is the leaf that it names.
func (a *auditor) leaf(row query.Receipt, r receipt.Receipt) {
	const rule = "a receipt is its leaf in the log"
	if r.LogIndex == nil || *r.LogIndex >= int64(len(a.leaves)) {
		a.breach(rule, row.ReceiptID, "it names no leaf of the %d", len(a.leaves))
		return
	}
	if entry, err := receipt.EntryOf([]byte(row.Envelope)); err != nil || !a.owned(*r.LogIndex, entry) {
		a.breach(rule, row.ReceiptID, "leaf %d is something else", *r.LogIndex)
	}
}

// owned tells whether a leaf is the entry, which then belongs to a receipt.
func (a *auditor) owned(index int64, entry receipt.Entry) bool {
	if index < 0 || index >= int64(len(a.leaves)) || a.leaves[index] != entry {
		return false
	}
	a.claimed[index] = true
	return true
}

// strangers: every leaf belongs to a receipt.
func (a *auditor) strangers() {
	for i := range a.leaves {
		if !a.claimed[int64(i)] {
			a.breach("a leaf belongs to a receipt", logThing, "leaf %d is no receipt's", i)
		}
	}
}
