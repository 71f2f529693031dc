package invoice

import (
	"context"
	"fmt"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Rows carry checksums: seller and buyer follow from nothing else in the store.
var (
	rows        = rowsum.Table[query.Invoice]{Name: "invoice", Key: 1, Later: []string{"Reason"}}
	billingRows = rowsum.Table[query.InvoiceBilling]{Name: "invoice_billing", Key: 1}
	issuerRows  = rowsum.Table[query.InvoiceIssuer]{Name: "invoice_issuer", Key: 1, Except: []string{"LastSerial"}}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{rows, billingRows, issuerRows}

// Audit checks that numbers have no gaps, that the figures of each invoice are right in
// themselves and equal the ledger's, and that each payment and each refund has one. An
// error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	last := int64(0)
	err := rows.Audit(ctx, tx, breach, func(row query.Invoice) error {
		if last++; row.Serial != last || !strings.HasSuffix(row.Number, numberOf("-", row.Serial)) {
			breach(noGaps, row.Number, "it is number %d, and %d was next", row.Serial, last)
			last = row.Serial
		}
		if row.NetCents+row.TaxCents != row.TotalCents || row.NetCents < 0 || row.TaxCents < 0 || !correctsRightly(row) {
			breach("the figures of an invoice add up", row.Number, "a %s of %d cents with %d cents of tax is over %d", row.Kind, row.NetCents, row.TaxCents, row.TotalCents)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := auditLedger(ctx, tx, breach); err != nil {
		return fmt.Errorf("audit invoices: %w", err)
	}
	if err := billingRows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	given := int64(0)
	err = issuerRows.Audit(ctx, tx, breach, func(row query.InvoiceIssuer) error {
		given = row.LastSerial
		return nil
	})
	if given != last {
		breach(noGaps, "invoice_issuer", "%d numbers were given, and the last invoice is number %d", given, last)
	}
	return err
}

// correctsRightly reports whether a document is of the kind, and has the reason, of what it corrects.
func correctsRightly(row query.Invoice) bool {
	switch Reason(row.Reason) {
	case "":
		return (row.Corrects != "") == (row.Kind == string(CreditNote))
	case ChargedBack:
		return row.Corrects != "" && row.Kind == string(CreditNote)
	case ChargebackWon:
		return row.Corrects != "" && row.Kind != string(CreditNote)
	case Refunded: // is not stored
	}
	return false
}

const noGaps = "numbers of invoices have no gaps"

// auditLedger compares invoices with the ledger, in both directions.
func auditLedger(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	const rule = "an invoice says what the ledger says"
	others, err := tx.AuditInvoiceEntries(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		breach(rule, o.Number, "it is about %d cents, the ledger's entry about %d, or of another time", o.CreditCents, o.BookedCents)
	}
	missing, err := tx.AuditInvoiceless(ctx)
	if err != nil {
		return err
	}
	for _, m := range missing {
		breach("each payment has one invoice, each refund of it a credit note, and each credit note of a chargeback that was given back an invoice", m.Reference, "a %s of %d cents has none", m.Kind, m.AmountCents)
	}
	over, err := tx.AuditOvercorrected(ctx)
	for _, o := range over {
		breach("credit notes take off no more than the invoice says", o.Number, "it is over %d cents with %d of tax, its credit notes over %d with %d, or they are of another payment",
			o.TotalCents, o.TaxCents, o.CorrectedCents, o.CorrectedTaxCents)
	}
	return err
}
