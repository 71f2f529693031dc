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

// logSubject is the subject of breaches of the log as a whole.
const logSubject = "log"

// log checks that the leaves are dense and hash to the root that is published, and that a
// checkpoint of it verifies by a published key. It runs before every check that claims a
// leaf. Density and root are the log's own rules, so receiptlog checks them.
func (a *auditor) log(ctx context.Context, tx *db.Tx) error {
	if err := receiptlog.Audit(ctx, tx, a.breach, a.collectLeaf); err != nil {
		return fmt.Errorf("audit the log: %w", err)
	}
	a.Leaves, a.owned = len(a.leaves), make([]bool, len(a.leaves))
	head, err := receiptlog.Head(ctx, tx)
	if err != nil {
		// A head that does not parse is itself a breach: the store could be read.
		a.breach("the log is whole", logSubject, "%v", err)
		return nil
	}
	return a.checkpoint(ctx, tx, head)
}

// widestGap bounds how many leaves may be missing in a row before a later one is taken for
// one with a damaged index: that must not decide how much memory an audit takes.
const widestGap = 1 << 12

// collectLeaf keeps a leaf for those that claim it. Leaves come in order; one that is
// missing stays empty, which nobody can claim.
func (a *auditor) collectLeaf(index int64, entry receipt.Entry) {
	if missing := index - int64(len(a.leaves)); missing >= 0 && missing <= widestGap {
		a.leaves = append(a.leaves, make([]receipt.Entry, missing)...)
		a.leaves = append(a.leaves, entry)
	}
}

// checkpoint signs the head as the service would, and opens the result with the published
// keys: so the process's private key and the stored public one belong together.
func (a *auditor) checkpoint(ctx context.Context, tx *db.Tx, head receipt.Checkpoint) error {
	key, err := a.ring.Current(ctx, tx)
	if errors.Is(err, signing.ErrNoKey) || head.Origin == "" {
		return nil // this process signs nothing
	}
	const rule = "the log's checkpoint verifies"
	if err != nil {
		a.breach(rule, logSubject, "the key to sign with cannot be read: %v", err)
		return nil
	}
	text, err := receipt.SignCheckpoint(head, key)
	if err != nil {
		a.breach(rule, logSubject, "it cannot be signed: %v", err)
		return nil
	}
	if signed, err := receipt.OpenCheckpoint(text, a.keys); err != nil || signed != head {
		a.breach(rule, logSubject, "%v", err)
	}
	return nil
}

// leaf checks that a completed job's receipt is the leaf that it names.
func (a *auditor) leaf(row query.Receipt, r receipt.Receipt) {
	const rule = "a receipt is its leaf in the log"
	if r.LogIndex == nil || *r.LogIndex >= int64(len(a.leaves)) {
		a.breach(rule, row.ReceiptID, "it names no leaf of the %d", len(a.leaves))
		return
	}
	if entry, err := receipt.EntryOf([]byte(row.Envelope)); err != nil || !a.claim(*r.LogIndex, entry) {
		a.breach(rule, row.ReceiptID, "leaf %d is something else", *r.LogIndex)
	}
}

// claim reports whether a leaf is the entry, and notes that a receipt owns it. An index
// out of range is a claim that fails: it comes from a stored receipt.
func (a *auditor) claim(index int64, entry receipt.Entry) bool {
	if index < 0 || index >= int64(len(a.leaves)) || a.leaves[index] != entry || entry == (receipt.Entry{}) {
		return false
	}
	a.owned[index] = true
	return true
}

// ownerless reports leaves that no receipt claimed. It comes last, after every receipt had
// its turn. Such a leaf would be a signed statement that no caller was given.
func (a *auditor) ownerless() {
	for i := range a.leaves {
		if !a.owned[i] && a.leaves[i] != (receipt.Entry{}) {
			a.breach("a leaf belongs to a receipt", logSubject, "leaf %d is no receipt's", i)
		}
	}
}
