package audit

import (
	"context"
	"encoding/hex"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
)

// receipts opens every receipt, page by page, and compares its row, its job and the frames
// of its job with it: what is signed is what was. Each receipt claims its leaf of the log;
// one that was erased with its workspace, by the hash alone.
func (a *auditor) receipts(ctx context.Context, tx *db.Tx) error {
	stored, err := tx.AuditReceiptCount(ctx)
	if err != nil {
		return fmt.Errorf("audit receipts: %w", err)
	}
	for after := ""; ; {
		rows, err := tx.AuditReceipts(ctx, after)
		if err != nil {
			return fmt.Errorf("audit receipts: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			if err := a.receipt(ctx, tx, r.Receipt, r.Job); err != nil {
				return err
			}
		}
		after = rows[len(rows)-1].Receipt.ReceiptID
		a.progress("receipts", int64(a.Receipts), stored)
	}
	if int64(a.Receipts) != stored {
		a.breach("completed means one receipt", "receipts", "%d receipts are stored, %d belong to a job", stored, a.Receipts)
	}
	return job.AuditErased(ctx, tx, a.breach, func(index int64, entry receipt.Entry) (bool, error) {
		return a.claim(ctx, tx, index, entry)
	})
}

// receipt compares one job with its receipt.
func (a *auditor) receipt(ctx context.Context, tx *db.Tx, row query.Receipt, record job.Record) error {
	a.Receipts++
	r, err := receipt.Open([]byte(row.Envelope), a.key(row.KeyID))
	if err != nil {
		a.breach("receipts are signed by our keys", row.ReceiptID, "%v", err)
		return nil
	}
	if row.ReceiptID != r.ReceiptID || row.JobID != r.JobID || row.WorkspaceID != r.WorkspaceID || row.CreatedAt != db.Micros(r.CompletedAt) {
		a.breach("a receipt agrees with its job", row.ReceiptID, "it is receipt %s of job %s and workspace %s, its row says job %s and workspace %s",
			r.ReceiptID, r.JobID, r.WorkspaceID, row.JobID, row.WorkspaceID)
	}
	why := job.Differs(record, r)
	if why == "" {
		if why, err = job.AuditInput(ctx, tx, record, r); err != nil {
			return err
		}
	}
	if why != "" {
		a.breach("a receipt agrees with its job", row.ReceiptID, "job %s: %s", record.JobID, why)
	}
	if err := artifact.AuditReceipt(ctx, tx, r, a.breach); err != nil {
		return err
	}
	return a.leaf(ctx, tx, row, r)
}

// key returns the key of that id, or none.
func (a *auditor) key(id string) []signingkey.Public {
	for _, key := range a.keys {
		if key.ID() == id {
			return []signingkey.Public{key}
		}
	}
	return nil
}

// leaf checks that a completed job's receipt is the leaf that it names.
func (a *auditor) leaf(ctx context.Context, tx *db.Tx, row query.Receipt, r receipt.Receipt) error {
	const rule = "a receipt is its leaf in the log"
	if r.LogIndex == nil {
		a.breach(rule, row.ReceiptID, "it names no leaf")
		return nil
	}
	entry, err := receipt.EntryOf([]byte(row.Envelope))
	claimed := false
	if err == nil {
		if claimed, err = a.claim(ctx, tx, *r.LogIndex, entry); err != nil {
			return err
		}
	}
	if !claimed {
		a.breach(rule, row.ReceiptID, "leaf %d is something else", *r.LogIndex)
	}
	return nil
}

// claim reports whether a leaf is the entry, and notes that a receipt owns it. An index
// out of range is a claim that fails: it comes from a stored receipt.
func (a *auditor) claim(ctx context.Context, tx *db.Tx, index int64, entry receipt.Entry) (bool, error) {
	if index < 0 || index >= int64(a.Leaves) {
		return false, nil
	}
	rows, err := tx.LogLeaves(ctx, query.LogLeavesParams{First: index, Behind: index + 1})
	if err != nil {
		return false, fmt.Errorf("read leaf %d: %w", index, err)
	}
	if len(rows) == 0 || rows[0].Entry != hex.EncodeToString(entry[:]) {
		return false, nil
	}
	a.owned.set(index)
	return true, nil
}

// bitmap is a set of small numbers: a million of them take 125 KB.
type bitmap []uint64

func (b *bitmap) set(i int64) {
	for int64(len(*b)) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bitmap) has(i int64) bool { return i/64 < int64(len(b)) && b[i/64]&(1<<(i%64)) != 0 }
