// Package wallet is the money of a workspace: a double-entry, append-only ledger and
// the balance that it adds up to.
//
// What always holds: a balance is never negative. The postings of every ledger
// transaction add up to zero. A transaction happens once for its kind and reference,
// however often it is requested. When a job has ended, reserved = captured + released,
// and captured never exceeds reserved. A workspace in debt has nothing available: what
// comes in pays its debt first, and it is frozen until nothing is owed.
//
// All amounts are in cents (USD), 1 to MaxCents. Every function runs in the caller's
// transaction, so that money moves together with its reason. Package quote has prices,
// and job has jobs. Start reading at Reserve.
package wallet

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/numbers"
)

// Kind is what a ledger transaction does. The texts are stored and appear in answers,
// so they never change.
type Kind string

// Kinds of ledger transactions.
const (
	Credited Kind = "credit"  // money comes in
	Reserved Kind = "reserve" // set aside for a job
	Captured Kind = "capture" // earned by a completed job
	Released Kind = "release" // given back by a failed or cancelled job
	Refunded Kind = "refund"  // earned money given back

	TopUp         Kind = "top_up"         // a payment comes in
	TopUpRefunded Kind = "top_up_refund"  // the operator gave a payment back: it is owed
	ChargedBack   Kind = "chargeback"     // a bank took a payment back: it is owed
	ChargebackWon Kind = "chargeback_won" // the bank gave it again
	Settled       Kind = "settlement"     // available money pays what is owed
)

// The service's own accounts. A workspace has "<id>:available", "<id>:reserved" and
// "<id>:receivable", which is what it owes, below zero. The names are stored in the ledger's rows and must not change.
const (
	accountFunding  = "house:funding"
	accountRevenue  = "house:revenue"
	accountPayments = "house:payments" // what the payment provider has of us, below zero
)

// MaxCents bounds one entry: ten billion USD. A larger amount is a typing error, and
// sums of smaller amounts stay far below the largest int64.
const MaxCents = 1_000_000_000_000

// Balance of a workspace, in cents, never negative. Available money can be reserved;
// reserved money belongs to jobs that have not ended. Owed money was taken back by a
// payment's bank or its operator after it was spent; nothing is available meanwhile.
type Balance struct {
	AvailableCents int64
	ReservedCents  int64
	OwedCents      int64
}

// Open creates the empty wallet of a new workspace. Repeating it changes nothing.
func Open(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.WalletCreate(ctx, workspaceID); err != nil {
		return fmt.Errorf("open wallet: %w", err)
	}
	return nil
}

// Get reads the balance. It takes no lock: another transaction may move money right
// after. Reserve is what decides whether there is enough. Error: workspace_not_found.
func Get(ctx context.Context, tx *db.Tx, workspaceID string) (Balance, error) {
	w, err := tx.WalletGet(ctx, workspaceID)
	if db.IsNotFound(err) {
		return Balance{}, fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	if err != nil {
		return Balance{}, fmt.Errorf("read wallet: %w", err)
	}
	return Balance{AvailableCents: w.AvailableCents, ReservedCents: w.ReservedCents, OwedCents: w.OwedCents}, nil
}

// Credit adds money from outside, by the operator. Repeating a reference
// credits nothing more; the same reference with another sum or workspace is an error.
// cents is 1 to MaxCents. Error: workspace_not_found.
func Credit(ctx context.Context, tx *db.Tx, workspaceID, reference string, cents int64) error {
	if _, err := Get(ctx, tx, workspaceID); err != nil {
		return err
	}
	return move(ctx, tx, entry{
		kind: Credited, reference: reference, workspace: workspaceID, cents: cents,
		from: accountFunding, to: workspaceID + ":available", available: cents,
	})
}

// NewReference is a reference for an entry without a name: entries with two such
// references are two.
func NewReference() string { return "operator " + id.New(id.Transaction) }

// Reserve sets cents aside for a job, once: repeating it for the job reserves nothing
// more. Error: insufficient_funds, with a Shortage as its detail; the caller's
// transaction must then be given up, because the ledger's rows are written before the
// shortage shows.
func Reserve(ctx context.Context, tx *db.Tx, workspaceID, jobID string, cents int64) error {
	return move(ctx, tx, entry{
		kind: Reserved, reference: jobID, workspace: workspaceID, job: jobID, cents: cents,
		from: workspaceID + ":available", to: workspaceID + ":reserved", available: -cents, reserved: cents,
	})
}

// Capture turns a job's whole reservation into revenue. cents must equal what was
// reserved. Repeating it captures nothing more. A job without a reservation, or one
// that was released, is an error: such a job must not complete.
func Capture(ctx context.Context, tx *db.Tx, workspaceID, jobID string, cents int64) error {
	return move(ctx, tx, entry{
		kind: Captured, reference: jobID, workspace: workspaceID, job: jobID, cents: cents,
		from: workspaceID + ":reserved", to: accountRevenue, reserved: -cents, settles: true,
	})
}

// Release returns a job's whole reservation to the wallet. cents must equal what was
// reserved. Repeating it releases nothing more. A job without a reservation, or one
// that was captured, is an error.
func Release(ctx context.Context, tx *db.Tx, workspaceID, jobID string, cents int64) error {
	return move(ctx, tx, entry{
		kind: Released, reference: jobID, workspace: workspaceID, job: jobID, cents: cents,
		from: workspaceID + ":reserved", to: workspaceID + ":available", available: cents, reserved: -cents, settles: true,
	})
}

// Refund returns captured money of a job to the workspace that paid it, at most the
// captured sum over all its refunds. Repeating a reference refunds nothing more. It
// returns the workspace. Error: invalid_request for a job that has paid nothing, or less.
func Refund(ctx context.Context, tx *db.Tx, jobID, reference string, cents int64) (workspaceID string, err error) {
	// The lock makes two refunds of one job see each other's sum.
	captured, err := tx.LedgerLock(ctx, query.LedgerLockParams{Kind: string(Captured), Reference: jobID})
	if db.IsNotFound(err) {
		return "", fault.New(fault.InvalidRequest, "Job %s has not been paid for, so there is nothing to refund.", jobID)
	}
	if err != nil {
		return "", fmt.Errorf("refund %s: %w", jobID, err)
	}
	refunded, err := tx.LedgerRefunded(ctx, jobID)
	if err != nil {
		return "", fmt.Errorf("refund %s: %w", jobID, err)
	}
	workspaceID = captured.WorkspaceID
	e := entry{
		kind: Refunded, reference: reference, workspace: workspaceID, job: jobID, cents: cents,
		from: accountRevenue, to: workspaceID + ":available", available: cents,
	}
	known, err := exists(ctx, tx, Refunded, reference)
	switch {
	case err != nil:
		return "", err
	case known:
		return workspaceID, checkRepeat(ctx, tx, e)
	case cents > captured.AmountCents-refunded:
		return "", fault.Field("cents", "is %d; job %s cost %s, of which %s is already refunded, so it must be 1 to %d", cents, jobID, numbers.Dollars(captured.AmountCents), numbers.Dollars(refunded), captured.AmountCents-refunded)
	}
	return workspaceID, move(ctx, tx, e)
}

// entry is one movement between two accounts: from loses what to gains, so the two
// postings always add up to zero.
type entry struct {
	kind                Kind
	reference           string
	workspace, job      string
	cents               int64
	from, to            string
	available, reserved int64 // its effect on the wallet's row
	owed                int64
	settles             bool // it ends a reservation, which happens once
}

// move writes the ledger first and the wallet second. The ledger's unique reference
// then decides whether the entry happens at all: a repeat finds the row and stops
// before the wallet. The wallet's statement itself refuses to go below zero, without an
// earlier read that another transaction could overtake.
func move(ctx context.Context, tx *db.Tx, e entry) error {
	if e.cents < 1 || e.cents > MaxCents {
		return fmt.Errorf("%s %s: %d cents, wanted 1 to %d", e.kind, e.reference, e.cents, int64(MaxCents))
	}
	if e.settles {
		if err := unsettled(ctx, tx, e); err != nil {
			return err
		}
	}
	transaction := id.New(id.Transaction)
	row := query.LedgerAddParams{
		TransactionID: transaction, Kind: string(e.kind), Reference: e.reference,
		WorkspaceID: e.workspace, JobID: e.job, AmountCents: e.cents, CreatedAt: tx.Now,
	}
	row.RowSum = entryRows.Of(row)
	added, err := tx.LedgerAdd(ctx, row)
	if err != nil {
		return fmt.Errorf("%s %s: %w", e.kind, e.reference, err)
	}
	if added == 0 {
		return checkRepeat(ctx, tx, e)
	}
	for account, cents := range map[string]int64{e.from: -e.cents, e.to: e.cents} {
		err := tx.LedgerPost(ctx, query.LedgerPostParams{TransactionID: transaction, Account: account, AmountCents: cents})
		if err != nil {
			return fmt.Errorf("%s %s: post to %s: %w", e.kind, e.reference, account, err)
		}
	}
	moved, err := tx.WalletMove(ctx, query.WalletMoveParams{WorkspaceID: e.workspace, Available: e.available, Reserved: e.reserved, Owed: e.owed})
	if err != nil {
		return fmt.Errorf("%s %s: %w", e.kind, e.reference, err)
	}
	if moved == 0 {
		return insufficient(ctx, tx, e)
	}
	if e.available <= 0 && e.owed <= 0 {
		return nil
	}
	return settleDebt(ctx, tx, e, transaction)
}

// unsettled refuses to capture or release a reservation that does not exist, or that
// the other kind has settled. The ledger's unique reference cannot see the latter,
// because capture and release are different kinds.
func unsettled(ctx context.Context, tx *db.Tx, e entry) error {
	// The lock makes a concurrent capture and release see each other: the second one
	// fails.
	r, err := tx.LedgerLock(ctx, query.LedgerLockParams{Kind: string(Reserved), Reference: e.job})
	if err != nil {
		return fmt.Errorf("%s %s: no reservation: %w", e.kind, e.job, err)
	}
	if r.AmountCents != e.cents || r.WorkspaceID != e.workspace {
		return fmt.Errorf("%s %s: %d cents of %s, but reserved are %d of %s", e.kind, e.job, e.cents, e.workspace, r.AmountCents, r.WorkspaceID)
	}
	other := Released
	if e.kind == Released {
		other = Captured
	}
	settled, err := exists(ctx, tx, other, e.job)
	if err == nil && settled {
		err = fmt.Errorf("%s %s: already settled by a %s", e.kind, e.job, other)
	}
	return err
}

// exists reports whether an entry of this kind and reference is in the ledger.
func exists(ctx context.Context, tx *db.Tx, kind Kind, reference string) (bool, error) {
	_, err := tx.LedgerGet(ctx, query.LedgerGetParams{Kind: string(kind), Reference: reference})
	if db.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up %s %s: %w", kind, reference, err)
	}
	return true, nil
}

// checkRepeat accepts a repeated entry when it equals the first in every respect: continuing would
// lose one of two entries with one reference. Those of credits and refunds come from operators; for
// every other kind that is a defect of the caller. Error: invalid_request.
func checkRepeat(ctx context.Context, tx *db.Tx, e entry) error {
	r, err := tx.LedgerGet(ctx, query.LedgerGetParams{Kind: string(e.kind), Reference: e.reference})
	if err != nil {
		return fmt.Errorf("%s %s: %w", e.kind, e.reference, err)
	}
	if r.WorkspaceID != e.workspace || r.AmountCents != e.cents || r.JobID != e.job {
		if e.kind == Credited || e.kind == Refunded {
			return fault.Field("reference", "was used for another %s; choose a new one", e.kind)
		}
		return fmt.Errorf("%s %s: the reference was used for another entry", e.kind, e.reference)
	}
	return nil
}

// insufficient explains why the wallet refused. Only a reservation can fail for lack of
// money because of a caller; for every other kind a negative balance would mean a
// defect.
func insufficient(ctx context.Context, tx *db.Tx, e entry) error {
	b, err := Get(ctx, tx, e.workspace)
	if err != nil {
		return err
	}
	if e.kind != Reserved {
		return fmt.Errorf("%s %s: would make a balance negative (available %d, reserved %d)", e.kind, e.reference, b.AvailableCents, b.ReservedCents)
	}
	return fault.New(fault.InsufficientFunds, "This job costs %s; the wallet has %s available.", numbers.Dollars(e.cents), numbers.Dollars(b.AvailableCents)).
		With(Shortage{RequiredCents: e.cents, AvailableCents: b.AvailableCents})
}

// Shortage is the detail of insufficient_funds (decisions 6), in cents. RequiredCents
// is the price of the job, not what is missing.
type Shortage struct {
	RequiredCents  int64 `json:"required_cents"`
	AvailableCents int64 `json:"available_cents"`
}

// Decimal formats cents with a sign for a spreadsheet: "-0.04", "5.00".
func Decimal(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// Transaction is a ledger entry as its workspace sees it. AmountCents is positive
// in either direction, which Kind gives. JobID is "" for entries without a job.
type Transaction struct {
	ID          string
	Kind        Kind
	Reference   string
	JobID       string
	AmountCents int64
	CreatedAt   time.Time
}

// effect is by how much an entry changes what is available, in cents: a capture takes what
// was reserved before, and what is taken back is owed until a settlement pays it.
func (t Transaction) effect() int64 {
	switch t.Kind {
	case Reserved:
		return -t.AmountCents
	case Captured, TopUpRefunded, ChargedBack:
		return 0
	case Settled:
		return -t.AmountCents
	case Credited, Released, Refunded, TopUp, ChargebackWon:
	}
	return t.AmountCents
}

// Entry is an entry of the ledger with the balance that it led to.
type Entry struct {
	Transaction
	// EffectCents is by how much it changed what is available, and AvailableCents
	// what was available after it.
	EffectCents, AvailableCents int64
}

// Entries lists what Transactions lists, with balances. tx reads all of it as it is at one
// time.
func Entries(ctx context.Context, tx *db.Tx, workspaceID, before string, limit int) ([]Entry, error) {
	now, err := Get(ctx, tx, workspaceID)
	if err != nil {
		return nil, err
	}
	after := now.AvailableCents
	if before != "" {
		since, err := tx.LedgerEffectSince(ctx, query.LedgerEffectSinceParams{WorkspaceID: workspaceID, Since: before})
		if err != nil {
			return nil, fmt.Errorf("sum the ledger: %w", err)
		}
		after -= since
	}
	all, err := Transactions(ctx, tx, workspaceID, before, limit)
	out := make([]Entry, 0, len(all))
	for _, t := range all {
		out = append(out, Entry{t, t.effect(), after})
		after -= t.effect()
	}
	return out, err
}

// Newer returns the before of the page that ends where a page of Entries begins, and "" where that
// is the first page, or this one is.
func Newer(ctx context.Context, tx *db.Tx, workspaceID, before string, limit int) (string, error) {
	if before == "" {
		return "", nil
	}
	found, err := db.OrEmpty(tx.LedgerNewer(ctx, query.LedgerNewerParams{WorkspaceID: workspaceID, Before: before, Max: int64(limit)}))
	if err != nil {
		return "", fmt.Errorf("find the page of newer entries: %w", err)
	}
	return found, nil
}

// Transactions lists a workspace's entries, newest first, after the entry before; ""
// starts at the newest. limit is 1 or more. Ids grow with time, so a page never repeats
// an entry of the previous one, even if entries are added meanwhile.
func Transactions(ctx context.Context, tx *db.Tx, workspaceID, before string, limit int) ([]Transaction, error) {
	if before == "" {
		before = id.Behind(id.Transaction)
	}
	rows, err := tx.LedgerOfWorkspace(ctx, query.LedgerOfWorkspaceParams{WorkspaceID: workspaceID, Before: before, Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("list ledger: %w", err)
	}
	out := make([]Transaction, 0, len(rows))
	for _, r := range rows {
		out = append(out, Transaction{r.TransactionID, Kind(r.Kind), r.Reference, r.JobID, r.AmountCents, db.Time(r.CreatedAt)})
	}
	return out, nil
}
