// Package invoice writes an invoice for each payment, and a credit note for each refund of
// one and for each that its bank takes back for good. If the bank gives that back after all, a
// new invoice reverses the credit note.
//
// What always holds: an invoice is written in the transaction that books its payment, and
// its number is taken there, so numbers have neither gaps nor doubles. A written invoice
// never changes: it carries its figures, the seller and the buyer of its time, and its PDF
// is made of its row alone, the same bytes each time. The ledger stays the only truth about
// money; the audit compares each invoice with its entry. Invoices stay when a workspace is
// erased, because the law keeps them.
//
// While a dispute is open the invoice stands. Package payment says what was paid. Start reading
// at Issue.
package invoice

import (
	"context"
	"fmt"
	"math"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Kind is what a document is. The texts are stored and appear in answers.
type Kind string

// Kinds of documents.
const (
	Receipt    Kind = "receipt" // of a service whose operator has named no tax id
	Bill       Kind = "invoice"
	CreditNote Kind = "credit_note"
)

// Reason is why a document corrects another one. The texts are stored, are the kinds of the
// ledger's entries but for refunds, and appear in answers.
type Reason string

// Reasons. A refund is stored as "", as before there were others.
const (
	Refunded      Reason = "refund"
	ChargedBack   Reason = "chargeback"
	ChargebackWon Reason = "chargeback_won" // of what reverses the credit note of a chargeback
)

// Party is the seller or the buyer.
type Party struct {
	Name    string
	Address string // lines
	TaxID   string
}

// Invoice is a document about a payment, or about a refund of one. Amounts are in cents and
// positive, whatever the kind.
type Invoice struct {
	Number         string
	Kind           Kind
	WorkspaceID    string
	TopUpID        string
	Corrects       string // the number of the invoice that a credit note corrects, or of the credit note that is reversed; "" for none
	Reason         Reason // of what corrects another document; "" for none
	CreditCents    int64  // what the wallet got, or gave back
	NetCents       int64
	TaxCents       int64
	TotalCents     int64 // what was paid, or given back
	TaxBasisPoints int64 // of the net amount; 0 for none, or where the provider added the tax
	Seller, Buyer  Party
	Note           string // the seller's
	IssuedAt       time.Time

	serial int64
}

// Signed is one of its amounts, below zero where it was given back.
func (i Invoice) Signed(cents int64) int64 {
	if i.Kind == CreditNote {
		return -cents
	}
	return cents
}

// Words say what it is.
func (i Invoice) Words() string {
	words := map[Kind]string{Receipt: "Receipt", Bill: "Invoice", CreditNote: "Credit note for " + i.Corrects}[i.Kind]
	switch i.Reason {
	case ChargedBack:
		words += ", chargeback"
	case ChargebackWon:
		words += ", reverses credit note " + i.Corrects
	case Refunded:
	}
	return words
}

// Payment is what an invoice is written for.
type Payment struct {
	WorkspaceID, TopUpID string
	CreditCents          int64 // what the wallet got
	TotalCents           int64 // what was paid: more, where the provider added tax
}

// Correction is what a credit note is written for.
type Correction struct {
	TopUpID     string
	Reference   string // of the ledger's entry
	Reason      Reason
	CreditCents int64 // what the wallet gave back
	GivenBack   int64 // of the payment's total: by all its refunds so far, or by this chargeback
}

// Issue writes the invoice of a payment. It comes after the payment's entry in the ledger:
// the locks of wallets are taken before that of the numbers.
func Issue(ctx context.Context, tx *db.Tx, p Payment) error {
	issuer, err := take(ctx, tx)
	if err != nil {
		return err
	}
	buyer, err := Billing(ctx, tx, p.WorkspaceID)
	if err != nil {
		return err
	}
	row := query.Invoice{
		Kind: string(Receipt), WorkspaceID: p.WorkspaceID, TopUpID: p.TopUpID, Reference: p.TopUpID, CreditCents: p.CreditCents, TotalCents: p.TotalCents,
		SellerName: issuer.Name, SellerAddress: issuer.Address, SellerTaxID: issuer.TaxID, Note: issuer.Note,
		BuyerName: buyer.Name, BuyerAddress: buyer.Address, BuyerTaxID: buyer.TaxID,
	}
	if issuer.TaxID != "" {
		row.Kind = string(Bill)
	}
	if row.TaxCents = p.TotalCents - p.CreditCents; row.TaxCents == 0 {
		row.TaxBasisPoints, row.TaxCents = issuer.TaxBasisPoints, contained(p.TotalCents, issuer.TaxBasisPoints)
	}
	row.NetCents = row.TotalCents - row.TaxCents
	return add(ctx, tx, issuer, row)
}

// contained is the tax in a total, rounded to the nearest cent.
func contained(total, basisPoints int64) int64 {
	whole := 10_000 + basisPoints
	return (total*basisPoints + whole/2) / whole
}

// Correct writes the credit note of a refund or a chargeback, after its entry in the ledger and
// once for it. The notes of a payment that is given back whole add up to its invoice, to the
// cent. A payment of before the first invoice has none to correct.
func Correct(ctx context.Context, tx *db.Tx, r Correction) error {
	if _, err := tx.InvoiceOfEntry(ctx, r.Reference); !db.IsNotFound(err) {
		return err
	}
	row, err := tx.InvoiceOfEntry(ctx, r.TopUpID)
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the invoice of %s: %w", r.TopUpID, err)
	}
	earlier, err := tx.InvoiceCorrected(ctx, r.TopUpID)
	if err != nil {
		return fmt.Errorf("read the credit notes of %s: %w", r.TopUpID, err)
	}
	issuer, err := take(ctx, tx)
	if err != nil {
		return err
	}
	given := min(r.GivenBack+earlier.ChargedBackCents, row.TotalCents)
	if r.Reason == ChargedBack {
		given = min(r.GivenBack+earlier.TotalCents, row.TotalCents)
		row.Reason = string(ChargedBack)
	}
	tax := row.TaxCents * given / row.TotalCents
	row.Kind, row.Corrects, row.Reference, row.CreditCents = string(CreditNote), row.Number, r.Reference, r.CreditCents
	row.TotalCents, row.TaxCents = given-earlier.TotalCents, tax-earlier.TaxCents
	row.NetCents = row.TotalCents - row.TaxCents
	return add(ctx, tx, issuer, row)
}

// wonAfter ends the reference of what reverses a credit note, since the ledger's entry has that of
// the chargeback's.
const wonAfter = " won"

// Reverse writes the invoice that reverses the credit note of a chargeback, whose reference is
// given, after what the bank gave back is in the ledger and once for it. A chargeback without a
// credit note, which is one that was won at first, needs none.
func Reverse(ctx context.Context, tx *db.Tx, reference string) error {
	note, err := tx.InvoiceOfEntry(ctx, reference)
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the credit note of %s: %w", reference, err)
	}
	if _, err := tx.InvoiceOfEntry(ctx, reference+wonAfter); !db.IsNotFound(err) {
		return err
	}
	paid, err := tx.InvoiceOfEntry(ctx, note.TopUpID)
	if err != nil {
		return fmt.Errorf("read the invoice of %s: %w", note.TopUpID, err)
	}
	issuer, err := take(ctx, tx)
	if err != nil {
		return err
	}
	note.Kind, note.Corrects, note.Reference, note.Reason = paid.Kind, note.Number, reference+wonAfter, string(ChargebackWon)
	return add(ctx, tx, issuer, note)
}

// take takes the next serial, with the seller of the time.
func take(ctx context.Context, tx *db.Tx) (query.InvoiceIssuer, error) {
	first := query.InvoiceIssuer{IssuerID: issuerID, Prefix: DefaultPrefix}
	row, err := tx.InvoiceSerialTake(ctx, query.InvoiceSerialTakeParams{
		IssuerID: first.IssuerID, Name: first.Name, Address: first.Address, TaxID: first.TaxID, TaxBasisPoints: first.TaxBasisPoints,
		Prefix: first.Prefix, Note: first.Note, RowSum: issuerRows.Of(first),
	})
	if err != nil {
		return row, fmt.Errorf("take the number of an invoice: %w", err)
	}
	return row, nil
}

// numberOf is the number of a serial. A prefix has no digit at its end, so that two numbers
// are never equal.
func numberOf(prefix string, serial int64) string { return fmt.Sprintf("%s%06d", prefix, serial) }

func add(ctx context.Context, tx *db.Tx, issuer query.InvoiceIssuer, row query.Invoice) error {
	row.Serial, row.Number, row.IssuedAt = issuer.LastSerial, numberOf(issuer.Prefix, issuer.LastSerial), tx.Now
	row.RowSum = rows.Of(row)
	if err := tx.InvoiceAdd(ctx, query.InvoiceAddParams(row)); err != nil {
		return fmt.Errorf("write the invoice of %s: %w", row.Reference, err)
	}
	return nil
}

// Get reads an invoice of a workspace; of any with "". Error: invoice_not_found.
func Get(ctx context.Context, tx *db.Tx, workspaceID, number string) (Invoice, error) {
	row, err := tx.InvoiceGet(ctx, number)
	if db.IsNotFound(err) || err == nil && workspaceID != "" && row.WorkspaceID != workspaceID {
		return Invoice{}, fault.New(fault.InvoiceNotFound, "There is no invoice %s.", number)
	}
	if err != nil {
		return Invoice{}, fmt.Errorf("read invoice %s: %w", number, err)
	}
	return read(row), nil
}

// Numbers are the numbers of a workspace's invoices by their top-ups, from one on. What was
// paid before the first invoice has none.
func Numbers(ctx context.Context, tx *db.Tx, workspaceID, oldest string) (map[string]string, error) {
	found, err := tx.InvoiceNumbers(ctx, query.InvoiceNumbersParams{WorkspaceID: workspaceID, Oldest: oldest})
	if err != nil {
		return nil, fmt.Errorf("read the numbers of invoices: %w", err)
	}
	all := make(map[string]string, len(found))
	for _, row := range found {
		all[row.TopUpID] = row.Number
	}
	return all, nil
}

// List reads invoices of a workspace, or of all with "", the newest first, after the one
// with the number before; "" starts at the newest. limit is 1 or more. Error:
// invoice_not_found for before.
func List(ctx context.Context, tx *db.Tx, workspaceID, before string, limit int) ([]Invoice, error) {
	behind := int64(math.MaxInt64)
	if before != "" {
		last, err := Get(ctx, tx, workspaceID, before)
		if err != nil {
			return nil, err
		}
		behind = last.serial
	}
	var found []query.Invoice
	var err error
	if workspaceID == "" {
		found, err = tx.InvoicesOfAll(ctx, query.InvoicesOfAllParams{Before: behind, Max: int64(limit)})
	} else {
		found, err = tx.InvoicesOfWorkspace(ctx, query.InvoicesOfWorkspaceParams{WorkspaceID: workspaceID, Before: behind, Max: int64(limit)})
	}
	if err != nil {
		return nil, fmt.Errorf("list invoices: %w", err)
	}
	all := make([]Invoice, 0, len(found))
	for _, row := range found {
		all = append(all, read(row))
	}
	return all, nil
}

// Related reads the documents of the payment that one is about: an invoice and its credit
// notes, the newest first. Error: invoice_not_found.
func Related(ctx context.Context, tx *db.Tx, number string) ([]Invoice, error) {
	one, err := Get(ctx, tx, "", number)
	if err != nil {
		return nil, err
	}
	found, err := tx.InvoicesOfPayment(ctx, one.TopUpID)
	if err != nil {
		return nil, fmt.Errorf("list the invoices of %s: %w", one.TopUpID, err)
	}
	all := make([]Invoice, 0, len(found))
	for _, row := range found {
		all = append(all, read(row))
	}
	return all, nil
}

// Newer returns the before of the page that ends where a page of List begins, and "" where that is
// the first page, or this one is. Error: as List's.
func Newer(ctx context.Context, tx *db.Tx, workspaceID, before string, limit int) (string, error) {
	if before == "" {
		return "", nil
	}
	last, err := Get(ctx, tx, workspaceID, before)
	if err != nil {
		return "", err
	}
	var number string
	if workspaceID == "" {
		number, err = db.OrEmpty(tx.InvoicesOfAllNewer(ctx, query.InvoicesOfAllNewerParams{Before: last.serial, Max: int64(limit)}))
	} else {
		number, err = db.OrEmpty(tx.InvoicesNewer(ctx, query.InvoicesNewerParams{WorkspaceID: workspaceID, Before: last.serial, Max: int64(limit)}))
	}
	if err != nil {
		return "", fmt.Errorf("find the page of newer invoices: %w", err)
	}
	return number, nil
}

func read(r query.Invoice) Invoice {
	return Invoice{
		Number: r.Number, Kind: Kind(r.Kind), WorkspaceID: r.WorkspaceID, TopUpID: r.TopUpID, Corrects: r.Corrects, Reason: reasonOf(r),
		CreditCents: r.CreditCents, NetCents: r.NetCents, TaxCents: r.TaxCents, TotalCents: r.TotalCents, TaxBasisPoints: r.TaxBasisPoints,
		Seller: Party{r.SellerName, r.SellerAddress, r.SellerTaxID}, Buyer: Party{r.BuyerName, r.BuyerAddress, r.BuyerTaxID},
		Note: r.Note, IssuedAt: db.Time(r.IssuedAt), serial: r.Serial,
	}
}

// reasonOf is why a document corrects another one; "" for one that does not.
func reasonOf(r query.Invoice) Reason {
	if r.Kind == string(CreditNote) && r.Reason == "" {
		return Refunded
	}
	return Reason(r.Reason)
}
