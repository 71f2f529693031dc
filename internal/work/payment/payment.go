// Package payment brings money in: top-ups of wallets that a payment provider collects, and
// their reversals.
//
// What always holds: a top-up's row comes before anything at the provider, and its id names
// it there, so that a call whose answer is lost is repeated and not doubled. Amount and
// workspace are those of the row. An event of the provider is a doorbell: it makes the
// service read the provider's present state, and one transaction applies that state to the
// row and the ledger and records the event. So events may come twice, late, in any order or
// not at all; the sweep reads the state of open top-ups again. Money is credited once, and
// only when the provider says that it was paid. No page credits anything.
//
// The package moves money through wallet only. Package stripeapi makes the provider's
// calls. Start reading at Create, then Read in apply.go.
package payment

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
)

// Status is the state of a top-up. The texts are stored and appear in answers.
type Status string

// States of a top-up. Money is in the wallet from Paid on.
const (
	Created  Status = "created"  // the provider does not know it yet
	Open     Status = "open"     // waits for its person, or for the bank
	Paid     Status = "paid"     // credited
	Failed   Status = "failed"   // the bank refused
	Expired  Status = "expired"  // not paid in time
	Refunded Status = "refunded" // credited, and all of it given back
	Disputed Status = "disputed" // credited, and taken back by a bank, for now or for good
)

// Provider is what the package needs of a payment provider. Errors of a provider that does
// not answer have no fault code.
type Provider interface {
	// Create makes the page where a person pays. Repeating it for the same top-up returns
	// the same page.
	Create(ctx context.Context, order Order) (Checkout, error)
	// Read returns the present state of a page.
	Read(ctx context.Context, sessionID string) (State, error)
	// TopUpOf returns the top-up that a payment belongs to; "" for none of ours.
	TopUpOf(ctx context.Context, paymentID string) (topUpID string, err error)
	// List visits the state of every page that was made in a time, the newest first.
	List(ctx context.Context, since, until time.Time, visit func(State) error) error
}

// Order is what the provider makes a page of.
type Order struct {
	TopUpID     string
	AmountCents int64
	CustomerID  string // the provider's id of the payer; "" for a new one
	Invoice     bool   // the provider writes the invoice, because this service writes none that counts
	SuccessURL  string
	CancelURL   string
}

// Checkout is a page where a person pays.
type Checkout struct{ SessionID, URL string }

// State is what the provider says of a page.
type State struct {
	SessionID, TopUpID, PaymentID, CustomerID, ReceiptURL string
	Phase                                                 Phase
	Currency                                              string // in upper case
	SubtotalCents                                         int64  // without tax
	TotalCents                                            int64  // with tax
	RefundedCents                                         int64  // of the total
	Disputes                                              []Dispute
	CreatedAt                                             time.Time
}

// Phase is how far a page is.
type Phase int

// Phases of a page.
const (
	Waiting Phase = iota // not paid yet, or the bank is not done
	Collected
	Refused
	Ended // the time to pay is over
)

// Dispute is a payment that its payer's bank takes back.
type Dispute struct {
	ID    string
	Cents int64 // of the total
	Taken bool  // the bank has taken it
	Won   bool  // and gave it back
	Lost  bool  // or keeps it for good
}

// Payments makes top-ups and follows them. The zero Provider means that none is configured.
// It is safe for concurrent use.
type Payments struct {
	DB       *db.DB
	Provider Provider
	// Pages returns where the provider sends a person who has paid, or who turned back.
	Pages func(topUpID string) (success, cancel string)
	// Secrets sign the provider's events; two while one replaces the other.
	Secrets []string
	Log     *slog.Logger
	// Rung, unless nil, is called for each event that was processed.
	Rung func()
}

// TopUp is a payment into a wallet.
type TopUp struct {
	ID          string
	WorkspaceID string
	AmountCents int64
	Status      Status
	// CheckoutURL is where its person pays; "" unless the status is Open.
	CheckoutURL string
	// ReceiptURL is the provider's invoice or receipt; "" for none.
	ReceiptURL    string
	RefundedCents int64
	CreatedAt     time.Time
	PaidAt        time.Time // zero when it was not paid
}

func topUpOf(r query.TopUp) TopUp {
	t := TopUp{
		ID: r.TopUpID, WorkspaceID: r.WorkspaceID, AmountCents: r.AmountCents, Status: Status(r.Status), ReceiptURL: r.ReceiptUrl,
		RefundedCents: r.RefundedCents, CreatedAt: db.Time(r.CreatedAt), PaidAt: db.Time(r.PaidAt),
	}
	if t.Status == Open {
		t.CheckoutURL = r.CheckoutUrl
	}
	return t
}

// Available reports whether a provider is configured.
func (p *Payments) Available() bool { return p != nil && p.Provider != nil }

// unavailable is the refusal of a service without a provider.
func unavailable() error {
	return fault.New(fault.PaymentsUnavailable, "This service has no online payments. Ask its operator for credit.")
}

// Create begins a top-up of the caller's workspace. It moves no money. Errors: payments_unavailable; invalid_request
// for an amount outside of contract.MinTopUpCents to MaxTopUpCents; top_up_limit_reached;
// unavailable when the provider does not answer.
func (p *Payments) Create(ctx context.Context, who identity.Principal, cents int64) (TopUp, error) {
	if !p.Available() {
		return TopUp{}, unavailable()
	}
	if cents < contract.MinTopUpCents || cents > contract.MaxTopUpCents {
		return TopUp{}, fault.Field("amount_cents", "is %d; it must be %d to %d", cents, contract.MinTopUpCents, contract.MaxTopUpCents)
	}
	workspaceID := who.WorkspaceID
	row := query.TopUp{
		TopUpID: id.New(id.TopUp), WorkspaceID: workspaceID, AmountCents: cents, Status: string(Created),
		StartedBy: who.Credential.Person(), KeyID: who.Credential.KeyID,
	}
	err := p.DB.Write(ctx, func(tx *db.Tx) error {
		// The lock makes two at once see each other's row.
		if _, err := tx.WorkspaceLock(ctx, workspaceID); err != nil {
			return fmt.Errorf("lock workspace: %w", err)
		}
		n, err := tx.TopUpsUnpaid(ctx, workspaceID)
		if err != nil {
			return fmt.Errorf("count top-ups: %w", err)
		}
		if n >= contract.MaxOpenTopUps {
			return fault.New(fault.TopUpLimitReached, "You have %d unpaid top-ups, which is the maximum.", n)
		}
		if row.CustomerID, err = tx.TopUpCustomer(ctx, workspaceID); err != nil && !db.IsNotFound(err) {
			return fmt.Errorf("look up the payer: %w", err)
		}
		row.CreatedAt, row.CheckedAt = tx.Now, tx.Now
		row.RowSum = rows.Of(row)
		return tx.TopUpAdd(ctx, query.TopUpAddParams(row))
	})
	if err != nil {
		return TopUp{}, err
	}
	return p.open(ctx, row)
}

// open makes the page of a top-up and keeps its address.
func (p *Payments) open(ctx context.Context, row query.TopUp) (TopUp, error) {
	order := Order{TopUpID: row.TopUpID, AmountCents: row.AmountCents, CustomerID: row.CustomerID}
	order.SuccessURL, order.CancelURL = p.Pages(row.TopUpID)
	err := p.DB.Read(ctx, func(tx *db.Tx) error {
		ours, err := invoice.Taxed(ctx, tx)
		order.Invoice = !ours
		return err
	})
	if err != nil {
		return TopUp{}, err
	}
	page, err := p.Provider.Create(ctx, order)
	if err != nil {
		return TopUp{}, fault.New(fault.Unavailable, "The payment provider does not answer. Nothing was paid. GET /v1/wallet/top-ups/%s shows the payment page when it is ready.", row.TopUpID).After(30 * time.Second).Wrap(err)
	}
	err = p.DB.Write(ctx, func(tx *db.Tx) (err error) {
		if row, err = tx.TopUpLock(ctx, row.TopUpID); err != nil || row.SessionID != "" {
			return err
		}
		row.SessionID, row.CheckoutUrl = page.SessionID, page.URL
		if Status(row.Status) == Created {
			row.Status = string(Open)
		}
		return store(ctx, tx, row)
	})
	if err != nil {
		return TopUp{}, fmt.Errorf("keep the page of %s: %w", row.TopUpID, err)
	}
	return topUpOf(row), nil
}

// store writes a row with its checksum.
func store(ctx context.Context, tx *db.Tx, r query.TopUp) error {
	err := tx.TopUpUpdate(ctx, query.TopUpUpdateParams{
		Status: r.Status, SessionID: r.SessionID, PaymentID: r.PaymentID, CustomerID: r.CustomerID, CheckoutUrl: r.CheckoutUrl, ReceiptUrl: r.ReceiptUrl,
		RefundedCents: r.RefundedCents, DisputedCents: r.DisputedCents, PaidAt: r.PaidAt, RowSum: rows.Of(r), TopUpID: r.TopUpID,
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", r.TopUpID, err)
	}
	return nil
}

// Get reads a workspace's top-up. Error: top_up_not_found.
func Get(ctx context.Context, tx *db.Tx, workspaceID, topUpID string) (TopUp, error) {
	row, err := tx.TopUpGet(ctx, topUpID)
	if db.IsNotFound(err) || err == nil && row.WorkspaceID != workspaceID {
		return TopUp{}, fault.New(fault.TopUpNotFound, "There is no top-up %s.", topUpID)
	}
	if err != nil {
		return TopUp{}, fmt.Errorf("read %s: %w", topUpID, err)
	}
	return topUpOf(row), nil
}

// List reads a workspace's top-ups, the newest first, after the top-up before; "" starts at
// the newest. limit is 1 or more.
func List(ctx context.Context, tx *db.Tx, workspaceID, before string, limit int) ([]TopUp, error) {
	found, err := tx.TopUpsOfWorkspace(ctx, query.TopUpsOfWorkspaceParams{WorkspaceID: workspaceID, Before: cmp.Or(before, id.Behind(id.TopUp)), Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("list top-ups: %w", err)
	}
	all := make([]TopUp, 0, len(found))
	for _, row := range found {
		all = append(all, topUpOf(row))
	}
	return all, nil
}
