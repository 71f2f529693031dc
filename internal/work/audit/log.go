package audit

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
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
	err := receiptlog.Audit(ctx, tx, a.breach, func(int64, receipt.Entry) {
		if a.Leaves++; a.Leaves%leavesShown == 0 {
			a.progress("log", int64(a.Leaves), a.sizes.Leaves)
		}
	})
	if err != nil {
		return fmt.Errorf("audit the log: %w", err)
	}
	head, err := receiptlog.Head(ctx, tx)
	if err != nil {
		// A head that does not parse is itself a breach: the store could be read.
		a.breach("the log is whole", logSubject, "%v", err)
		return nil
	}
	return a.checkpoint(ctx, tx, head)
}

// leavesShown is the number of leaves between two reports of progress.
const leavesShown = 10_000

// checkpoint signs the head as the service would, and opens the result with the published
// keys: so the process's private key and the stored public one belong together.
func (a *auditor) checkpoint(ctx context.Context, tx *db.Tx, head receipt.Checkpoint) error {
	key, err := a.Ring.Current(ctx, tx)
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

// ownerless reports leaves that no receipt claimed. It comes last, after all receipts were
// checked. Such a leaf would be a signed statement that no caller was given.
func (a *auditor) ownerless() {
	for i := range int64(a.Leaves) {
		if !a.owned.has(i) {
			a.breach("a leaf belongs to a receipt", logSubject, "leaf %d is no receipt's", i)
		}
	}
}
