package job

import (
	"context"
	"fmt"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
)

// Signed is a receipt with its signed envelope. Envelope is JSON, byte for byte as it
// was signed and stored.
type Signed struct {
	receipt.Receipt
	Envelope []byte
}

// Receipt reads a completed job with its receipt, which stays after the artifact was
// removed. Errors: render_not_found, render_not_completed, artifact_expired when it was
// erased with its workspace.
func (j *Jobs) Receipt(ctx context.Context, workspaceID, jobID string) (o Object, s Signed, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		o, s, err = j.receipt(ctx, tx, workspaceID, jobID)
		return err
	})
	return o, s, err
}

// OriginJob is an earlier job whose frames a job has taken over.
type OriginJob struct{ ReceiptID, JobID string }

// Origins finds the jobs of the receipts that a receipt takes frames over from, in the order
// of its frames. A receipt that was erased is left out.
func (j *Jobs) Origins(ctx context.Context, r receipt.Receipt) (found []OriginJob, err error) {
	var ids []string
	for _, f := range r.Frames {
		if id := f.Reused.ReceiptID; id != "" && !slices.Contains(ids, id) { // a quote compares 100 jobs at most
			ids = append(ids, id)
		}
	}
	if ids == nil {
		return nil, nil
	}
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		found = nil // it may run again
		for _, id := range ids {
			row, err := tx.ReceiptGet(ctx, id)
			switch {
			case db.IsNotFound(err) || err == nil && row.WorkspaceID != r.WorkspaceID:
			case err != nil:
				return fmt.Errorf("read receipt %s: %w", id, err)
			default:
				found = append(found, OriginJob{id, row.JobID})
			}
		}
		return nil
	})
	return found, err
}

// Proof reads a completed job with its receipt and the proof that the log holds it. The proof is
// made for the log as it is now, or as its witnesses have signed it last, and its checkpoint is
// signed by the key that is current. Errors: render_not_found, render_not_completed;
// signing.ErrNoKey when this process cannot sign.
func (j *Jobs) Proof(ctx context.Context, workspaceID, jobID string) (o Object, s Signed, p receipt.Inclusion, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		if o, s, err = j.receipt(ctx, tx, workspaceID, jobID); err != nil {
			return err
		}
		p, err = j.prove(ctx, tx, s)
		return err
	})
	return o, s, p, err
}

// Public is what anyone may see who knows a receipt's id.
type Public struct {
	Signed
	Inclusion receipt.Inclusion
	Keys      []signing.Published // the newest first
}

// Public reads a receipt by its id, without a credential. Error: receipt_not_found, also
// if the workspace hides its receipts: the two cases must look alike.
func (j *Jobs) Public(ctx context.Context, receiptID string) (p Public, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.ReceiptGet(ctx, receiptID)
		if db.IsNotFound(err) || (err == nil && row.ProofPage == 0) {
			return fault.New(fault.ReceiptNotFound, "There is no public receipt %s.", receiptID)
		}
		if err != nil {
			return fmt.Errorf("read receipt: %w", err)
		}
		if p.Keys, err = signing.All(ctx, tx); err != nil {
			return err
		}
		var cosigned any
		if j.Cosigned != nil {
			cosigned = j.Cosigned()
		}
		var kept bool
		if p.Signed, p.Inclusion, kept = j.proofs.get(row.ReceiptID, row.Envelope, p.Keys, cosigned); kept {
			return nil
		}
		ratelimit.Work(ctx, func() {
			if p.Signed, err = openReceipt(ctx, tx, row.ReceiptID, row.Envelope); err != nil {
				return
			}
			if p.Inclusion, err = j.prove(ctx, tx, p.Signed); err == nil {
				j.proofs.keep(p, cosigned)
			}
		})
		return err
	})
	return p, err
}

// receipt reads receipt and view in one transaction, so that both are of one moment.
func (j *Jobs) receipt(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (o Object, s Signed, err error) {
	if _, err := FindCompleted(ctx, tx, workspaceID, jobID); err != nil {
		return o, s, err
	}
	row, err := tx.ReceiptByJob(ctx, jobID)
	if db.IsNotFound(err) {
		return o, s, fault.New(fault.ArtifactExpired, "The receipt was erased with its workspace.")
	}
	if err != nil {
		return o, s, fmt.Errorf("read receipt: %w", err)
	}
	if s, err = openReceipt(ctx, tx, row.ReceiptID, row.Envelope); err != nil {
		return o, s, err
	}
	o, err = j.Object(ctx, tx, jobID)
	return o, s, err
}

// openReceipt decodes a receipt and verifies it: an altered row is an error, never an
// answer. A caller would find the same defect later, without knowing its cause.
func openReceipt(ctx context.Context, tx *db.Tx, receiptID, envelope string) (s Signed, err error) {
	keys, err := signing.PublicKeys(ctx, tx)
	if err != nil {
		return s, err
	}
	s.Envelope = []byte(envelope)
	if s.Receipt, err = receipt.Open(s.Envelope, keys); err != nil {
		return s, fmt.Errorf("open receipt %s: %w", receiptID, err)
	}
	return s, nil
}

// prove makes the proof for a receipt that names its leaf. Complete gives every receipt
// one.
func (j *Jobs) prove(ctx context.Context, tx *db.Tx, s Signed) (receipt.Inclusion, error) {
	if s.LogIndex == nil {
		return receipt.Inclusion{}, fmt.Errorf("receipt %s names no leaf of the log", s.ReceiptID)
	}
	key, err := j.Keys.Current(ctx, tx)
	if err != nil {
		return receipt.Inclusion{}, err
	}
	// What witnesses have signed proves more than what is new.
	if j.Cosigned != nil {
		if last := j.Cosigned(); last != nil && last.Size > *s.LogIndex && last.KeyID == key.Public().ID() {
			return receiptlog.ProveIn(ctx, tx, *s.LogIndex, last.Checkpoint, last.Text)
		}
	}
	return receiptlog.Prove(ctx, tx, *s.LogIndex, key)
}
