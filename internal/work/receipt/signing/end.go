package signing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// A key ends at a place in the log. The place is recorded under the log's lock, with the
// first leaf after the end, so no receipt of the key can come after it.

// noLeafSince is the end_size of a key that has not ended, or since whose end no leaf came.
const noLeafSince = -1

// settling is how long after its end a key's place may still move: longer than any
// transaction that read the clock before the end.
const settling = time.Minute

// ended reports whether a key signs no more.
func ended(tx *db.Tx, row query.SigningKey) bool {
	return row.EndSize != noLeafSince || (row.ValidTo != 0 && row.ValidTo <= tx.Now)
}

// CurrentAt is Current for what becomes a leaf of the log. Call it under the log's lock,
// with the leaf's index: it records first where in the log other keys have ended. Errors as
// of Current.
func (r *Ring) CurrentAt(ctx context.Context, tx *db.Tx, index int64) (signingkey.Key, error) {
	rows, err := tx.SigningKeys(ctx)
	if err != nil {
		return signingkey.Key{}, fmt.Errorf("read the signing keys: %w", err)
	}
	for _, row := range rows {
		if !ended(tx, row) || row.EndSize != noLeafSince {
			continue
		}
		if err := endAt(ctx, tx, row.KeyID, index); err != nil {
			return signingkey.Key{}, err
		}
	}
	return r.Current(ctx, tx)
}

// endAt records where in the log a key ended, once.
func endAt(ctx context.Context, tx *db.Tx, keyID string, size int64) error {
	row, err := tx.SigningKeyEndsAt(ctx, query.SigningKeyEndsAtParams{KeyID: keyID, EndSize: size})
	if _, err := keyRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("record where signing key %s ended: %w", keyID, err)
	}
	return nil
}

// endSize is a key's Published.EndSize. Where no leaf has come since the end, the log is
// still as long as it was then.
func endSize(ctx context.Context, tx *db.Tx, row query.SigningKey) (int64, error) {
	if row.EndSize != noLeafSince || row.ValidTo == 0 || db.Micros(tx.Time().Add(-settling)) < row.ValidTo {
		return row.EndSize, nil
	}
	head, err := receiptlog.Head(ctx, tx)
	return head.Size, err
}

// errNotEnded reports that an end changed no row.
var errNotEnded = fault.New(fault.KeyNotFound, "The key is not published, or it ended earlier.").WithAction("See svc admin signing-key list.")

// checkReason refuses a reason for the end of a key that is neither receipt.Superseded nor
// receipt.Compromised. Error: invalid_request.
func checkReason(reason string) error {
	if reason != receipt.Superseded && reason != receipt.Compromised {
		return fault.New(fault.InvalidRequest, "The reason must be %s or %s, not %q.", receipt.Superseded, receipt.Compromised, reason)
	}
	return nil
}

// Retire ends a published key after the delay, for a reason: receipt.Superseded or
// receipt.Compromised; a key that is compromised ends at once. What it signed before stays
// valid. A later call can only bring the end forward, or say that the key is compromised
// after all. Errors: key_not_found; invalid_request of the reason; last_signing_key when no
// other published key without an end remains.
func Retire(ctx context.Context, tx *db.Tx, keyID string, after time.Duration, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	rows, err := tx.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("read the signing keys: %w", err)
	}
	// A key with an end in the future does not count: once it ends, nothing could sign.
	stays := func(row query.SigningKey) bool { return row.ValidTo == 0 && row.KeyID != keyID }
	if !slices.ContainsFunc(rows, stays) {
		return fault.New(fault.LastSigningKey, "Signing key %s is the last active one.", keyID)
	}
	if reason == receipt.Compromised {
		after = 0
	}
	row, err := tx.SigningKeyEnd(ctx, query.SigningKeyEndParams{KeyID: keyID, ValidTo: db.Micros(tx.Time().Add(after)), EndReason: reason})
	n, err := keyRows.Changed(ctx, tx, row, err)
	if err == nil && n == 0 && reason == receipt.Compromised {
		row, bad := tx.SigningKeyCompromised(ctx, keyID)
		n, err = keyRows.Changed(ctx, tx, row, bad)
	}
	if err == nil && n == 0 {
		err = errNotEnded
	}
	if err != nil {
		return fmt.Errorf("end signing key %s: %w", keyID, err)
	}
	if after > 0 {
		return nil
	}
	size, err := receiptlog.Lock(ctx, tx)
	if err != nil {
		return err
	}
	return endAt(ctx, tx, keyID, size)
}
