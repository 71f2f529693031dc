package job

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
)

// AllEnded returns jobs_not_ended while a job of the workspace has not ended.
func AllEnded(ctx context.Context, tx *db.Tx, workspaceID string) error {
	n, err := tx.JobsUnfinished(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("count jobs: %w", err)
	}
	if n > 0 {
		return fault.New(fault.JobsNotEnded, "Workspace %s still has active jobs: %d.", workspaceID, n)
	}
	return nil
}

// Erase removes names and messages of a workspace's jobs, their artifacts and the bytes of
// their receipts. Ids, states, numbers, prices and times stay, and the place and hash of
// each receipt's leaf. It returns all the jobs, whose frames and artifacts the caller
// deletes after the commit. Repeating it is safe. Error: jobs_not_ended.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) ([]Record, error) {
	if err := AllEnded(ctx, tx, workspaceID); err != nil {
		return nil, err
	}
	jobs, err := tx.JobsErase(ctx, query.JobsEraseParams{Filename: contract.Erased, Message: contract.Erased, Now: tx.Now, WorkspaceID: workspaceID})
	if err != nil {
		return nil, fmt.Errorf("erase jobs: %w", err)
	}
	keys, err := signing.PublicKeys(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if err := erasedJobRows.Renew(ctx, tx, j); err != nil {
			return nil, err
		}
		if err := eraseReceipt(ctx, tx, j.JobID, keys); err != nil {
			return nil, fmt.Errorf("erase the receipt of %s: %w", j.JobID, err)
		}
	}
	return jobs, nil
}

// eraseReceipt replaces a job's receipt, if it has one, by its leaf. A receipt that cannot
// be opened is an error: its leaf would be unknown.
func eraseReceipt(ctx context.Context, tx *db.Tx, jobID string, keys []signingkey.Public) error {
	row, err := tx.ReceiptByJob(ctx, jobID)
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := receipt.Open([]byte(row.Envelope), keys)
	if err != nil {
		return err
	}
	entry, err := receipt.EntryOf([]byte(row.Envelope))
	if err != nil {
		return err
	}
	if r.LogIndex == nil {
		return errors.New("it names no leaf of the log")
	}
	kept := query.ErasedReceipt{
		ReceiptID: row.ReceiptID, JobID: row.JobID, WorkspaceID: row.WorkspaceID, KeyID: row.KeyID,
		LogIndex: *r.LogIndex, Entry: hex.EncodeToString(entry[:]), CreatedAt: row.CreatedAt,
	}
	kept.RowSum = erasedReceiptRows.Of(kept)
	if err := tx.ErasedReceiptCreate(ctx, query.ErasedReceiptCreateParams(kept)); err != nil {
		return err
	}
	return tx.ReceiptDelete(ctx, row.ReceiptID)
}

// AuditErased reports erased receipts that are not as they were written, whose workspace
// is not erased, or that are no leaf of the log. claim reports whether a leaf of the log
// has this hash, and notes whose it is. An error means that the audit did not finish.
func AuditErased(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any), claim func(index int64, entry receipt.Entry) (bool, error)) error {
	kept, err := tx.AuditErasedReceipts(ctx)
	if err != nil {
		return fmt.Errorf("audit erased receipts: %w", err)
	}
	for _, receiptID := range kept {
		breach("a receipt is erased with its workspace", receiptID, "its workspace is not erased")
	}
	return erasedReceiptRows.Audit(ctx, tx, breach, func(row query.ErasedReceipt) error {
		var entry receipt.Entry
		claimed := false
		hash, err := hex.DecodeString(row.Entry)
		if err == nil && len(hash) == len(entry) {
			copy(entry[:], hash)
			if claimed, err = claim(row.LogIndex, entry); err != nil {
				return err
			}
		}
		if !claimed {
			breach("a receipt is its leaf in the log", row.ReceiptID, "leaf %d is something else", row.LogIndex)
		}
		return nil
	})
}
