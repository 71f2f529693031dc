package payment_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/payment/stripeapi"
	"svc.example/internal/work/wallet"
)

// world is a workspace, and a provider that takes its payments.
type world struct {
	testing.TB
	*payment.Payments
	provider  *stripetest.Provider
	workspace string
}

// each runs test in a world on each database.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		test(t, w)
		w.audit()
	})
}

func newWorld(t testing.TB, d *db.DB) *world {
	t.Helper()
	w := &world{TB: t, provider: stripetest.New(t)}
	w.Payments = &payment.Payments{
		DB: d, Provider: stripeapi.New(stripetest.Key, w.provider.URL, "svc credit"), Secrets: []string{stripetest.Secret}, Log: slog.New(slog.DiscardHandler),
		Pages: func(topUpID string) (success, cancel string) {
			return "https://svc.example/console/wallet?paid=" + topUpID, "https://svc.example/console/wallet"
		},
	}
	w.open("WSP-1")
	return w
}

// open makes a workspace and turns to it.
func (w *world) open(name string) {
	w.Helper()
	w.workspace = name
	w.write(func(ctx context.Context, tx *db.Tx) error {
		if err := tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams{WorkspaceID: name, CreatedAt: tx.Now}); err != nil {
			return err
		}
		return wallet.Open(ctx, tx, name)
	})
}

func (w *world) write(do func(ctx context.Context, tx *db.Tx) error) {
	w.Helper()
	if err := w.DB.Write(w.Context(), func(tx *db.Tx) error { return do(w.Context(), tx) }); err != nil {
		w.Fatal(err)
	}
}

// create begins a top-up of 25 dollars.
func (w *world) create() payment.TopUp {
	w.Helper()
	made, err := w.Create(w.Context(), identity.Principal{WorkspaceID: w.workspace}, 2500)
	if err != nil {
		w.Fatal(err)
	}
	return made
}

// ring delivers an event as the provider does.
func (w *world) ring(e stripetest.Event) error {
	return w.Ring(w.Context(), e.Body, stripetest.Sign(e.Body, stripetest.Secret, time.Now()))
}

// deliver delivers all events that wait.
func (w *world) deliver() {
	w.Helper()
	for _, e := range w.provider.Events() {
		if err := w.ring(e); err != nil {
			w.Fatalf("%s: %v", e.Type, err)
		}
	}
}

// must fails the test for any error.
func (w *world) must(errs ...error) {
	w.Helper()
	for _, err := range errs {
		if err != nil {
			w.Fatal(err)
		}
	}
}

// want checks a top-up and the wallet.
func (w *world) want(topUpID string, status payment.Status, available, owed int64) {
	w.Helper()
	var got payment.TopUp
	var b wallet.Balance
	w.must(w.DB.Read(w.Context(), func(tx *db.Tx) (err error) {
		if got, err = payment.Get(w.Context(), tx, w.workspace, topUpID); err == nil {
			b, err = wallet.Get(w.Context(), tx, w.workspace)
		}
		return err
	}))
	if got.Status != status || b.AvailableCents != available || b.OwedCents != owed {
		w.Fatalf("it is %s, %d cents are available and %d owed; want %s, %d and %d", got.Status, b.AvailableCents, b.OwedCents, status, available, owed)
	}
}

// balance is what the wallet has.
func (w *world) balance() (b wallet.Balance) {
	w.Helper()
	w.must(w.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		b, err = wallet.Get(context.Background(), tx, w.workspace)
		return err
	}))
	return b
}

// audit wants a sound store.
func (w *world) audit() {
	w.Helper()
	w.must(w.DB.Read(context.Background(), func(tx *db.Tx) error {
		breach := func(rule, subject, format string, args ...any) {
			w.Errorf("%s: %s: "+format, append([]any{rule, subject}, args...)...)
		}
		if err := errors.Join(payment.Audit(context.Background(), tx, breach), invoice.Audit(context.Background(), tx, breach)); err != nil {
			return err
		}
		_, err := wallet.Audit(context.Background(), tx, breach)
		return err
	}))
}
