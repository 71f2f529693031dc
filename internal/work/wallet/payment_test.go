package wallet_test

import (
	"context"
	"sync"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/wallet"
)

// TestWhatWasSpentAndIsTakenBackIsOwedUntilItIsPaid: the part that is there pays at once.
func TestWhatWasSpentAndIsTakenBackIsOwedUntilItIsPaid(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 0)
		must(t, d,
			func(ctx context.Context, tx *db.Tx) error { return wallet.AddPayment(ctx, tx, "W", "TOP-1", 1000) },
			func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, "W", "JOB-1", 700) },
			func(ctx context.Context, tx *db.Tx) error {
				return wallet.TakeChargeback(ctx, tx, "W", "TOP-1 dp", 1000)
			},
		)
		want := func(available, reserved, owed int64, stopped bool) {
			t.Helper()
			if b := balance(t, d, "W"); b != (wallet.Balance{AvailableCents: available, ReservedCents: reserved, OwedCents: owed}) || frozen(t, d, "W") != stopped {
				t.Fatalf("got %+v, frozen %t", b, frozen(t, d, "W"))
			}
		}
		want(0, 700, 700, true)
		must(t, d, func(ctx context.Context, tx *db.Tx) error { return wallet.Release(ctx, tx, "W", "JOB-1", 700) })
		want(0, 0, 0, false)
		must(t, d, func(ctx context.Context, tx *db.Tx) error {
			return wallet.ReturnChargeback(ctx, tx, "W", "TOP-1 dp", 1000)
		})
		want(1000, 0, 0, false)
	})
}

// TestADebtsFreezeEndsWithItAndAnOperatorsDoesNot, and an operator may lift either.
func TestADebtsFreezeEndsWithItAndAnOperatorsDoesNot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 0)
		owe := func(ctx context.Context, tx *db.Tx, reference string) error {
			return wallet.TakeRefund(ctx, tx, "W", reference, 100)
		}
		pay := func(ctx context.Context, tx *db.Tx, reference string, cents int64) error {
			return wallet.Credit(ctx, tx, "W", reference, cents)
		}
		lift := func(ctx context.Context, tx *db.Tx) error { return freeze.Lift(ctx, tx, "W") }
		must(t, d, func(ctx context.Context, tx *db.Tx) error { return owe(ctx, tx, "1") }, lift)
		if frozen(t, d, "W") {
			t.Error("it is frozen after an operator lifted that")
		}
		must(t, d, func(ctx context.Context, tx *db.Tx) error { return pay(ctx, tx, "c1", 40) })
		if b := balance(t, d, "W"); b.OwedCents != 60 || b.AvailableCents != 0 || frozen(t, d, "W") {
			t.Errorf("a part was paid: %+v, frozen %t", b, frozen(t, d, "W"))
		}
		must(t, d,
			func(ctx context.Context, tx *db.Tx) error { return freeze.Set(ctx, tx, "W", "It breaks the terms.") },
			func(ctx context.Context, tx *db.Tx) error { return owe(ctx, tx, "2") },
			func(ctx context.Context, tx *db.Tx) error { return pay(ctx, tx, "c2", 160) },
		)
		if b := balance(t, d, "W"); b.OwedCents != 0 || !frozen(t, d, "W") {
			t.Errorf("all is paid: %+v, and the operator's freeze is there: %t", b, frozen(t, d, "W"))
		}
	})
}

// TestAReservationAndAChargebackNeverSpendTheSameMoney: whichever comes first, what is
// there pays one of them.
func TestAReservationAndAChargebackNeverSpendTheSameMoney(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for round := range 20 {
			name := string(rune('A' + round))
			open(t, d, name, 100)
			var reserved error
			var wg sync.WaitGroup
			wg.Go(func() {
				reserved = write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, name, "JOB-"+name, 80) })
			})
			wg.Go(func() {
				if err := write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.TakeChargeback(ctx, tx, name, name, 100) }); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			want := wallet.Balance{ReservedCents: 80, OwedCents: 80}
			if fault.Is(reserved, fault.InsufficientFunds) {
				want = wallet.Balance{}
			} else if reserved != nil {
				t.Fatal(reserved)
			}
			if b := balance(t, d, name); b != want {
				t.Errorf("got %+v, want %+v", b, want)
			}
		}
	})
}
