package damage_test

import (
	"context"
	"errors"
	"time"

	"svc.example/client"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/testmode"
)

// payments makes a top-up in each state, with what is taken back of one, events and invoices. The
// workspace wants to hear when its wallet runs low, and has a test world.
func (s *store) payments(workspace string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *db.Tx) error {
		return errors.Join(
			alert.Set(ctx, tx, workspace, 500), testmode.Use(ctx, tx, workspace, 1),
			invoice.SetIssuer(ctx, tx, invoice.Issuer{Party: invoice.Party{Name: "A farm", Address: "A street", TaxID: "1"}, TaxBasisPoints: 1900, Prefix: "A-", Note: "Thanks."}),
			invoice.SetBilling(ctx, tx, workspace, invoice.Party{Name: "A studio", Address: "A road", TaxID: "2"}),
		)
	})
	for _, act := range []func(p *stripetest.Provider, id string) error{
		func(p *stripetest.Provider, id string) error {
			err := p.Refund(id, 100)
			_, disputed := p.Dispute(id)
			return errors.Join(err, disputed, p.Close(id, true))
		},
		func(p *stripetest.Provider, id string) error { return p.Refund(id, 1000) },
		nil, // it stays open
	} {
		made, err := s.topUps.Create(s.Context(), identity.Principal{WorkspaceID: workspace}, 1000)
		if err != nil {
			s.Fatal(err)
		}
		if act == nil {
			return
		}
		if err := s.provider.Pay(made.ID); err != nil {
			s.Fatal(err)
		}
		s.ring()
		if err := act(s.provider, made.ID); err != nil {
			s.Fatal(err)
		}
		s.ring()
	}
}

// ring delivers the provider's events.
func (s *store) ring() {
	s.Helper()
	for _, e := range s.provider.Events() {
		if err := s.topUps.Ring(s.Context(), e.Body, stripetest.Sign(e.Body, stripetest.Secret, time.Now())); err != nil {
			s.Fatal(err)
		}
	}
}

// indebted makes a workspace that has spent what its bank takes back: it is frozen.
func (s *store) indebted() {
	s.Helper()
	c := s.caller(0)
	made, err := s.topUps.Create(s.Context(), identity.Principal{WorkspaceID: c.workspace}, 500)
	if err == nil {
		err = s.provider.Pay(made.ID)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.ring()
	c.start(demo.Scene(), client.StartRequest{}, 1, 3, 1)
	if _, err := s.provider.Dispute(made.ID); err != nil {
		s.Fatal(err)
	}
	s.ring()
}
