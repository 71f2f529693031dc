package intake

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
)

// unpaid is what all workspaces without a payment store together, as this process last read
// it, and what it has stored for them since. Anyone can make such a workspace, so a bound for
// each would bound nothing. The zero value is ready.
type unpaid struct {
	bytes   atomic.Int64
	reading sync.Mutex // of the fields below
	readAt  time.Time
	took    time.Duration
}

// The sum reads a row for each thing that such workspaces store. It is read again after
// unpaidAge, and for a twentieth of the time at most.
const (
	unpaidAge   = 10 * time.Second
	unpaidShare = 20
)

// refresh reads the sum again when it is old. A caller that finds it being read uses the
// old one.
func (all *unpaid) refresh(ctx context.Context, tx *db.Tx) error {
	if !all.reading.TryLock() {
		return nil
	}
	defer all.reading.Unlock()
	began := time.Now()
	if began.Sub(all.readAt) < max(unpaidAge, unpaidShare*all.took) {
		return nil
	}
	bytes, err := tx.UnpaidStorage(ctx)
	if err != nil {
		return fmt.Errorf("sum what unpaid workspaces store: %w", err)
	}
	all.bytes.Store(bytes)
	all.readAt, all.took = time.Now(), time.Since(began)
	return nil
}

// roomUnpaid reports whether n more bytes fit for a workspace.
func (in *Intake) roomUnpaid(paid bool, n int64) bool {
	return paid || in.Unpaid == 0 || in.unpaid.bytes.Load()+n <= in.Unpaid
}

// noRoomUnpaid is the error of what does not fit. used is the workspace's own.
func (in *Intake) noRoomUnpaid(used int64) error {
	return fault.New(fault.StorageLimitReached, "The storage for workspaces without credit is full.").
		With(storageDetail{used, in.limit()}).WithAction("Add credit to the wallet, or try again later.")
}
