package invoice

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Bounds of texts, in characters and lines. What is longer does not fit on the page.
const (
	mostName    = 120
	mostAddress = 300
	mostTaxID   = 40
	mostNote    = 300
	mostLines   = 6
)

// SetBilling sets what a workspace wants on its invoices from now on; the zero Party takes
// it away. Error: invalid_request.
func SetBilling(ctx context.Context, tx *db.Tx, workspaceID string, p Party) error {
	p, err := p.clean("name")
	if err != nil {
		return err
	}
	if p == (Party{}) {
		return Erase(ctx, tx, workspaceID)
	}
	if p.Name == "" {
		return fault.Field("name", "is empty; an address or a tax id needs a name")
	}
	row := query.InvoiceBilling{WorkspaceID: workspaceID, Name: p.Name, Address: p.Address, TaxID: p.TaxID}
	row.RowSum = billingRows.Of(row)
	if err := tx.InvoiceBillingSet(ctx, query.InvoiceBillingSetParams(row)); err != nil {
		return fmt.Errorf("set the billing data of %s: %w", workspaceID, err)
	}
	return nil
}

// Billing reads what a workspace wants on its invoices; the zero Party when it has said
// nothing.
func Billing(ctx context.Context, tx *db.Tx, workspaceID string) (Party, error) {
	row, err := tx.InvoiceBillingGet(ctx, workspaceID)
	if err != nil && !db.IsNotFound(err) {
		return Party{}, fmt.Errorf("read the billing data of %s: %w", workspaceID, err)
	}
	return Party{row.Name, row.Address, row.TaxID}, nil
}

// Erase removes the billing data of a workspace. Its invoices stay, with the buyer on them.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.InvoiceBillingDelete(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase the billing data of %s: %w", workspaceID, err)
	}
	return nil
}

// clean returns a party as it is stored. name is the field of its name.
func (p Party) clean(name string) (_ Party, err error) {
	if p.Name, err = clean(name, p.Name, mostName, 1); err != nil {
		return p, err
	}
	if p.Address, err = clean("address", p.Address, mostAddress, mostLines); err != nil {
		return p, err
	}
	p.TaxID, err = clean("tax_id", p.TaxID, mostTaxID, 1)
	return p, err
}

// clean returns text as it is stored: composed, without blanks at the ends of its lines.
// What the font of the PDF cannot show is refused, so that nothing is left out there.
func clean(field, text string, most, lines int) (string, error) {
	all := strings.Split(strings.TrimSpace(strings.ReplaceAll(norm.NFC.String(text), "\r\n", "\n")), "\n")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	text = strings.Join(all, "\n")
	switch n := utf8.RuneCountInString(text); {
	case n > most:
		return "", fault.Field(field, "has %d characters; it must have at most %d", n, most)
	case len(all) > lines && lines == 1:
		return "", fault.Field(field, "has %d lines; it must have one", len(all))
	case len(all) > lines:
		return "", fault.Field(field, "has %d lines; it must have at most %d", len(all), lines)
	}
	for _, line := range all {
		for _, r := range line {
			if !shows(r) {
				return "", fault.Field(field, "has the character %q, which an invoice cannot show; use Latin, Greek or Cyrillic letters", r)
			}
		}
	}
	return text, nil
}
