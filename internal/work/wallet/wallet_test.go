package wallet_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/wallet"
)

func open(t *testing.T, d *db.DB, name string, cents int64) {
	t.Helper()
	ctx := context.Background()
	err := d.Write(ctx, func(tx *db.Tx) error {
		if err := tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams{WorkspaceID: name, CreatedAt: tx.Now}); err != nil {
			return err
		}
		if err := wallet.Open(ctx, tx, name); err != nil || cents == 0 {
			return err
		}
		return wallet.Credit(ctx, tx, name, "first "+name, cents)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func balance(t *testing.T, d *db.DB, name string) (b wallet.Balance) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		b, err = wallet.Get(context.Background(), tx, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func frozen(t *testing.T, d *db.DB, name string) bool {
	t.Helper()
	err := write(d, func(ctx context.Context, tx *db.Tx) error { return freeze.Require(ctx, tx, name) })
	if err != nil && !fault.Is(err, fault.WorkspaceFrozen) {
		t.Fatal(err)
	}
	return err != nil
}

func write(d *db.DB, do func(ctx context.Context, tx *db.Tx) error) error {
	ctx := context.Background()
	return d.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
}

type step = func(ctx context.Context, tx *db.Tx) error

// must takes steps one after the other, each in a transaction of its own.
func must(t *testing.T, d *db.DB, steps ...step) {
	t.Helper()
	for _, do := range steps {
		if err := write(d, do); err != nil {
			t.Fatal(err)
		}
	}
}

func refund(ctx context.Context, tx *db.Tx, jobID, reference string, cents int64) error {
	workspace, err := wallet.Refund(ctx, tx, jobID, reference, cents)
	if err == nil && workspace != "W" {
		return fmt.Errorf("%s got it", workspace)
	}
	return err
}

func TestHoldNeverOverdraws(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 10)
		var wg sync.WaitGroup
		var mu sync.Mutex
		held := 0
		for i := range 20 {
			wg.Go(func() {
				err := write(d, func(ctx context.Context, tx *db.Tx) error {
					return wallet.Reserve(ctx, tx, "W", fmt.Sprint("JOB-", i), 3)
				})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					held++
				} else if !fault.Is(err, fault.InsufficientFunds) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if b := balance(t, d, "W"); held != 3 || b.AvailableCents != 1 || b.ReservedCents != 9 {
			t.Fatalf("%d holds, balance %+v", held, b)
		}
	})
}

func TestEntryHappensOnceByReference(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 100)
		for _, do := range []step{
			func(ctx context.Context, tx *db.Tx) error { return wallet.Credit(ctx, tx, "W", "c1", 50) },
			func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, "W", "JOB-1", 40) },
			func(ctx context.Context, tx *db.Tx) error { return wallet.Capture(ctx, tx, "W", "JOB-1", 40) },
			func(ctx context.Context, tx *db.Tx) error { return refund(ctx, tx, "JOB-1", "r1", 15) },
		} {
			must(t, d, do, do, do)
		}
		if b := balance(t, d, "W"); b.AvailableCents != 125 || b.ReservedCents != 0 {
			t.Fatalf("got %+v", b)
		}
	})
}

func TestReferenceStandsForOneEntry(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 100)
		must(t, d,
			func(ctx context.Context, tx *db.Tx) error { return wallet.Credit(ctx, tx, "W", "c1", 50) },
			func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, "W", "JOB-1", 40) },
			func(ctx context.Context, tx *db.Tx) error { return wallet.Capture(ctx, tx, "W", "JOB-1", 40) },
			func(ctx context.Context, tx *db.Tx) error { return refund(ctx, tx, "JOB-1", "r1", 15) },
		)
		for name, step := range map[string]step{
			"credit":  func(ctx context.Context, tx *db.Tx) error { return wallet.Credit(ctx, tx, "W", "c1", 51) },
			"reserve": func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, "W", "JOB-1", 41) },
			"refund":  func(ctx context.Context, tx *db.Tx) error { return refund(ctx, tx, "JOB-1", "r1", 16) },
		} {
			if err := write(d, step); err == nil {
				t.Errorf("another %s of the same reference was taken for the first", name)
			}
		}
		if b := balance(t, d, "W"); b.AvailableCents != 125 || b.ReservedCents != 0 {
			t.Errorf("got %+v", b)
		}
	})
}

func TestReservationIsSettledOneWay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 100)
		refused := func(what string, do func(ctx context.Context, tx *db.Tx) error) {
			t.Helper()
			if err := write(d, do); err == nil {
				t.Errorf("%s was accepted", what)
			}
		}
		refused("capture without a reservation", func(ctx context.Context, tx *db.Tx) error {
			return wallet.Capture(ctx, tx, "W", "JOB-1", 10)
		})
		if err := write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, "W", "JOB-1", 10) }); err != nil {
			t.Fatal(err)
		}
		refused("capture above the reservation", func(ctx context.Context, tx *db.Tx) error {
			return wallet.Capture(ctx, tx, "W", "JOB-1", 11)
		})
		if err := write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.Release(ctx, tx, "W", "JOB-1", 10) }); err != nil {
			t.Fatal(err)
		}
		refused("capture after release", func(ctx context.Context, tx *db.Tx) error {
			return wallet.Capture(ctx, tx, "W", "JOB-1", 10)
		})
		refused("refund of what was not captured", func(ctx context.Context, tx *db.Tx) error {
			return refund(ctx, tx, "JOB-1", "r", 1)
		})
		if b := balance(t, d, "W"); b.AvailableCents != 100 || b.ReservedCents != 0 {
			t.Fatalf("got %+v", b)
		}
	})
}

// payment does what a provider's events do, twice, and returns what is owed and available
// before that is settled.
func payment(rt *rapid.T, d *db.DB, name string, step int, op string, cents int64, taken *[]string, owed, available int64) (owes, has int64) {
	reference := fmt.Sprint(name, " ", op, " ", step)
	var do func(ctx context.Context, tx *db.Tx, workspaceID, reference string, cents int64) error
	switch op {
	case "pay":
		do, available = wallet.AddPayment, available+cents
	case "refund payment":
		do, owed = wallet.TakeRefund, owed+cents
	case "charge back":
		do, owed, cents, *taken = wallet.TakeChargeback, owed+10, 10, append(*taken, reference)
	case "win":
		if len(*taken) == 0 {
			return owed, available
		}
		do, available, cents, reference, *taken = wallet.ReturnChargeback, available+10, 10, (*taken)[0], (*taken)[1:]
	}
	for range 2 {
		if err := write(d, func(ctx context.Context, tx *db.Tx) error { return do(ctx, tx, name, reference, cents) }); err != nil {
			rt.Fatal(err)
		}
	}
	return owed, available
}

// For any calls in any order, the balance is that of a plain model, and the
// ledger adds up.
func TestLedgerFollowsItsModel(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		round := 0
		rapid.Check(t, func(rt *rapid.T) {
			round++
			name := fmt.Sprint("W", round)
			open(t, d, name, 0)
			var available, reserved, owed int64
			holds := map[string]int64{}
			var taken []string // chargebacks of 10 cents that were not won
			settle := func() {
				paid := min(available, owed)
				available, owed = available-paid, owed-paid
			}
			for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
				job := fmt.Sprint(name, "-JOB-", rapid.IntRange(1, 3).Draw(rt, "job"))
				cents := rapid.Int64Range(1, 50).Draw(rt, "cents")
				hold, open := holds[job]
				op := rapid.SampledFrom([]string{"credit", "reserve", "capture", "release", "pay", "refund payment", "charge back", "win"}).Draw(rt, "op")
				switch op {
				case "credit":
					err := write(d, func(ctx context.Context, tx *db.Tx) error {
						return wallet.Credit(ctx, tx, name, fmt.Sprint(name, " credit ", step), cents)
					})
					if err != nil {
						rt.Fatal(err)
					}
					available += cents
				case "reserve":
					if open {
						continue
					}
					err := write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, name, job, cents) })
					if (err == nil) != (cents <= available) {
						rt.Fatalf("reserve %d of %d: %v", cents, available, err)
					}
					if err == nil {
						holds[job], available, reserved = cents, available-cents, reserved+cents
					}
				case "capture":
					err := write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.Capture(ctx, tx, name, job, hold) })
					if (err == nil) != (open && hold > 0) {
						rt.Fatalf("capture of %d (open %v): %v", hold, open, err)
					}
					if err == nil {
						holds[job], reserved = 0, reserved-hold
					}
				case "release":
					err := write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.Release(ctx, tx, name, job, hold) })
					if (err == nil) != (open && hold > 0) {
						rt.Fatalf("release of %d (open %v): %v", hold, open, err)
					}
					if err == nil {
						holds[job], available, reserved = 0, available+hold, reserved-hold
					}
				default:
					owed, available = payment(rt, d, name, step, op, cents, &taken, owed, available)
				}
				settle()
				if b := balance(t, d, name); b.OwedCents != owed || frozen(t, d, name) != (owed > 0) {
					rt.Fatalf("model owes %d, wallet %+v, frozen %t", owed, b, frozen(t, d, name))
				}
			}
			if b := balance(t, d, name); b.AvailableCents != available || b.ReservedCents != reserved {
				rt.Fatalf("model %d/%d, wallet %+v", available, reserved, b)
			}
		})
		err := d.Read(context.Background(), func(tx *db.Tx) error {
			_, err := wallet.Audit(context.Background(), tx, func(rule, subject, format string, args ...any) {
				t.Errorf("%s: %s: "+format, append([]any{rule, subject}, args...)...)
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestTransactionsArePagedNewestFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 100)
		for _, job := range []string{"JOB-1", "JOB-2"} {
			if err := write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, "W", job, 10) }); err != nil {
				t.Fatal(err)
			}
		}
		var references []string
		for before := ""; ; {
			var page []wallet.Transaction
			err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
				page, err = wallet.Transactions(t.Context(), tx, "W", before, 2)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, entry := range page {
				references = append(references, entry.Reference)
			}
			before = page[len(page)-1].ID
		}
		if got := strings.Join(references, ","); got != "JOB-2,JOB-1,first W" {
			t.Errorf("got %s", got)
		}
	})
}

// The workspace holds money for another job too, so that the balance alone does
// not prevent settling one job twice.
func TestConcurrentSettlementsSettleOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 1000)
		reserve := func(job string, cents int64) {
			t.Helper()
			if err := write(d, func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, "W", job, cents) }); err != nil {
				t.Fatal(err)
			}
		}
		reserve("JOB-other", 500)
		for round := range 40 {
			job := fmt.Sprint("JOB-", round)
			reserve(job, 10)
			var settled atomic.Int32
			start := make(chan struct{})
			var wg sync.WaitGroup
			for _, settle := range []func(context.Context, *db.Tx, string, string, int64) error{wallet.Capture, wallet.Release} {
				wg.Go(func() {
					<-start
					if write(d, func(ctx context.Context, tx *db.Tx) error { return settle(ctx, tx, "W", job, 10) }) == nil {
						settled.Add(1)
					}
				})
			}
			close(start)
			wg.Wait()
			if n := settled.Load(); n != 1 {
				t.Fatalf("round %d: the reservation was settled %d times", round, n)
			}
		}
	})
}

func TestAmountAboveMaxCentsIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open(t, d, "W", 100)
		must(t, d,
			func(ctx context.Context, tx *db.Tx) error { return wallet.Reserve(ctx, tx, "W", "JOB-1", 10) },
			func(ctx context.Context, tx *db.Tx) error { return wallet.Capture(ctx, tx, "W", "JOB-1", 10) },
			func(ctx context.Context, tx *db.Tx) error { return refund(ctx, tx, "JOB-1", "r1", 1) },
		)
		for _, cents := range []int64{0, -1, math.MaxInt64, math.MaxInt64 / 2} {
			err := write(d, func(ctx context.Context, tx *db.Tx) error {
				return wallet.Credit(ctx, tx, "W", fmt.Sprint("c", cents), cents)
			})
			if err == nil {
				t.Errorf("a credit of %d cents was taken", cents)
			}
			err = write(d, func(ctx context.Context, tx *db.Tx) error {
				return refund(ctx, tx, "JOB-1", fmt.Sprint("r", cents), cents)
			})
			if err == nil {
				t.Errorf("a refund of %d cents was made, of a job that cost 10", cents)
			}
		}
		if b := balance(t, d, "W"); b.AvailableCents != 91 || b.ReservedCents != 0 {
			t.Errorf("got %+v", b)
		}
	})
}
