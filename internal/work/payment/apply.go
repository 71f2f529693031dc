package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/wallet"
)

// Read asks the provider about a top-up and books what it says. event, unless nil, is
// recorded with it; an event that was recorded before asks nothing. A provider that does not
// answer is an error, after which everything is as it was.
func (p *Payments) Read(ctx context.Context, topUpID string, event *Event) error {
	var row query.TopUp
	known := false
	err := p.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if event != nil {
			_, err = tx.PaymentEventGet(ctx, event.ID)
			if known = err == nil; known || !db.IsNotFound(err) {
				return err
			}
		}
		row, err = tx.TopUpGet(ctx, topUpID)
		return err
	})
	if err != nil || known {
		return err
	}
	if row.SessionID == "" {
		if _, err := p.open(ctx, row); err != nil {
			return err
		}
		return p.Read(ctx, topUpID, event)
	}
	state, err := p.Provider.Read(ctx, row.SessionID)
	if err != nil {
		return fmt.Errorf("ask about %s: %w", topUpID, err)
	}
	return p.DB.Write(ctx, func(tx *db.Tx) error {
		if event != nil {
			known, err := event.record(ctx, tx, topUpID)
			if known || err != nil {
				return err
			}
		}
		row, err := tx.TopUpLock(ctx, topUpID)
		if err != nil {
			return fmt.Errorf("read %s: %w", topUpID, err)
		}
		if why := strange(row, state); why != "" {
			p.Log.Error("the provider's page is not of this top-up, nothing is booked", "top_up_id", topUpID, "why", why)
			return nil
		}
		return apply(ctx, tx, row, state)
	})
}

// strange says why a page cannot belong to a row; "" if it can.
func strange(row query.TopUp, s State) string {
	switch {
	case s.TopUpID != row.TopUpID:
		return fmt.Sprintf("the page is of %q", s.TopUpID)
	case s.Phase == Collected && s.Currency != contract.Currency:
		return fmt.Sprintf("it was paid in %q", s.Currency)
	case s.Phase == Collected && (s.SubtotalCents != row.AmountCents || s.TotalCents < s.SubtotalCents):
		return fmt.Sprintf("%d cents were paid, %d with tax; the top-up is of %d", s.SubtotalCents, s.TotalCents, row.AmountCents)
	}
	return ""
}

// apply advances a row to the provider's state. Each of its steps happens once, and none
// undoes another, so an older state after a newer one changes nothing.
func apply(ctx context.Context, tx *db.Tx, row query.TopUp, s State) error {
	if s.PaymentID != "" {
		row.PaymentID = s.PaymentID
	}
	if row.PaidAt == 0 {
		switch s.Phase {
		case Collected: // wins over failed and expired: the money is there
			if err := wallet.AddPayment(ctx, tx, row.WorkspaceID, row.TopUpID, row.AmountCents); err != nil {
				return err
			}
			if err := invoice.Issue(ctx, tx, invoice.Payment{WorkspaceID: row.WorkspaceID, TopUpID: row.TopUpID, CreditCents: row.AmountCents, TotalCents: s.TotalCents}); err != nil {
				return err
			}
			row.PaidAt, row.CustomerID, row.CheckoutUrl, row.ReceiptUrl = tx.Now, s.CustomerID, "", s.ReceiptURL
		case Refused:
			end(&row, Failed)
		case Ended:
			end(&row, Expired)
		case Waiting:
		}
	}
	if row.PaidAt != 0 {
		for _, dispute := range s.Disputes {
			if err := book(ctx, tx, &row, s, dispute); err != nil {
				return err
			}
		}
		if err := refund(ctx, tx, &row, s); err != nil {
			return err
		}
		row.Status = string(paidStatus(row))
	}
	return store(ctx, tx, row)
}

// end gives a top-up up that is not paid. The first end stays.
func end(row *query.TopUp, as Status) {
	if s := Status(row.Status); s == Created || s == Open {
		row.Status, row.CheckoutUrl = string(as), ""
	}
}

// paidStatus is the status of a top-up that was credited. It follows from what was booked.
func paidStatus(row query.TopUp) Status {
	switch {
	case row.DisputedCents > 0:
		return Disputed
	case row.RefundedCents >= row.AmountCents:
		return Refunded
	}
	return Paid
}

// refund takes back what was refunded since the last time, with a credit note.
func refund(ctx context.Context, tx *db.Tx, row *query.TopUp, s State) error {
	cents := min(share(*row, s, s.RefundedCents)-row.RefundedCents, left(*row))
	if cents <= 0 {
		return nil
	}
	row.RefundedCents += cents
	reference := fmt.Sprint(row.TopUpID, " refund ", row.RefundedCents)
	if err := wallet.TakeRefund(ctx, tx, row.WorkspaceID, reference, cents); err != nil {
		return err
	}
	return invoice.Correct(ctx, tx, invoice.Correction{TopUpID: row.TopUpID, Reference: reference, Reason: invoice.Refunded, CreditCents: cents, GivenBack: s.RefundedCents})
}

// book takes back what a bank took, and adds what it returned: the sum that was taken,
// whatever the provider says then. What the bank keeps for good gets a credit note, which is
// reversed if the bank gives it back after all.
func book(ctx context.Context, tx *db.Tx, row *query.TopUp, s State, d Dispute) error {
	reference := row.TopUpID + " " + d.ID
	taken, err := wallet.Booked(ctx, tx, wallet.ChargedBack, reference)
	if err != nil {
		return err
	}
	if cents := min(share(*row, s, d.Cents), left(*row)); taken == 0 && d.Taken && !d.Won && cents > 0 {
		row.DisputedCents += cents
		if err := wallet.TakeChargeback(ctx, tx, row.WorkspaceID, reference, cents); err != nil {
			return err
		}
		taken = cents
	}
	if taken != 0 && d.Lost {
		return invoice.Correct(ctx, tx, invoice.Correction{TopUpID: row.TopUpID, Reference: reference, Reason: invoice.ChargedBack, CreditCents: taken, GivenBack: d.Cents})
	}
	if taken == 0 || !d.Won {
		return nil
	}
	returned, err := wallet.Booked(ctx, tx, wallet.ChargebackWon, reference)
	if err != nil {
		return err
	}
	if returned == 0 {
		row.DisputedCents -= taken
		if err := wallet.ReturnChargeback(ctx, tx, row.WorkspaceID, reference, taken); err != nil {
			return err
		}
	}
	return invoice.Reverse(ctx, tx, reference)
}

// left is what of a top-up is still credited.
func left(row query.TopUp) int64 { return row.AmountCents - row.RefundedCents - row.DisputedCents }

// share is what a part of the paid total is of the credit, without its tax; a cent that
// divides stays with the workspace.
func share(row query.TopUp, s State, cents int64) int64 {
	if s.TotalCents <= row.AmountCents {
		return min(cents, row.AmountCents)
	}
	return min(cents*row.AmountCents/s.TotalCents, row.AmountCents)
}

// Bounds of the sweep.
const (
	// sweepAge is how long the service waits for an event before it asks on its
	// own.
	sweepAge = time.Hour
	// sweepPage is how many top-ups a sweep asks about.
	sweepPage = 100
	// unborn is how long the provider takes a repeated call for the first one's.
	unborn = 23 * time.Hour
	// eventLife is how long the record of an event is kept: the provider repeats events
	// for days.
	eventLife = 90 * 24 * time.Hour
)

// Sweep asks the provider about open top-ups of which no event came, and forgets old
// events. It returns how many top-ups it asked about. Without a provider it does nothing.
func (p *Payments) Sweep(ctx context.Context) (asked int, err error) {
	if !p.Available() {
		return 0, nil
	}
	var due []string
	var now int64
	err = p.DB.Write(ctx, func(tx *db.Tx) (err error) {
		now = tx.Now
		if due, err = tx.TopUpsDue(ctx, query.TopUpsDueParams{Now: now, Before: now - sweepAge.Microseconds(), Max: sweepPage}); err != nil {
			return fmt.Errorf("find open top-ups: %w", err)
		}
		_, err = tx.PaymentEventsForget(ctx, now-eventLife.Microseconds())
		return err
	})
	for _, topUpID := range due {
		err = errors.Join(err, p.recheck(ctx, topUpID))
	}
	return len(due), err
}

// recheck asks about one top-up. One that the provider never heard of ends when a repeated
// call would make a second page.
func (p *Payments) recheck(ctx context.Context, topUpID string) error {
	gone := false
	err := p.DB.Write(ctx, func(tx *db.Tx) error {
		row, err := tx.TopUpLock(ctx, topUpID)
		gone = err == nil && row.SessionID == "" && row.CreatedAt < tx.Now-unborn.Microseconds()
		if err != nil || !gone {
			return err
		}
		end(&row, Expired)
		return store(ctx, tx, row)
	})
	if err != nil || gone {
		return err
	}
	return p.Read(ctx, topUpID, nil)
}
