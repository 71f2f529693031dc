package invoice

import (
	"context"
	"fmt"
	"regexp"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// issuerID is the key of the one row of the seller.
const issuerID = 1

// DefaultPrefix begins the numbers of a service whose operator has chosen none.
const DefaultPrefix = "INV-"

// MostBasisPoints bounds the rate of a tax: 100 percent.
const MostBasisPoints = 10_000

// Issuer is the seller as an operator sets it, for invoices from then on.
type Issuer struct {
	Party
	// TaxBasisPoints is the rate of the tax that a payment contains: 1900 for 19 %. 0 for none.
	TaxBasisPoints int64
	// Prefix begins each number.
	Prefix string
	// Note is printed below the figures, such as why there is no tax.
	Note string
}

// prefixes is the form of a prefix. It does not end with a digit.
var prefixes = regexp.MustCompile(`^[A-Z0-9-]{0,15}-$`)

// Check returns the settings as they are stored. Error: invalid_request.
func (i Issuer) Check() (Issuer, error) {
	var err error
	if i.Party, err = i.clean("company"); err != nil {
		return i, err
	}
	if i.Note, err = clean("note", i.Note, mostNote, mostLines); err != nil {
		return i, err
	}
	switch {
	case i.Name == "" && i.Party != Party{}:
		return i, fault.Field("company", "is empty; an address or a tax id needs the name of a company")
	case i.TaxBasisPoints < 0 || i.TaxBasisPoints > MostBasisPoints:
		return i, fault.Field("tax_basis_points", "is %d; it must be 0 to %d", i.TaxBasisPoints, MostBasisPoints)
	case i.TaxBasisPoints > 0 && i.TaxID == "":
		return i, fault.Field("tax_basis_points", "is %d; a tax needs a tax id", i.TaxBasisPoints)
	case !prefixes.MatchString(i.Prefix):
		return i, fault.Field("prefix", "is %q; it must be up to 16 capital letters, digits and hyphens, and end with a hyphen", i.Prefix)
	}
	return i, nil
}

// SetIssuer sets the seller from now on. Error: invalid_request.
func SetIssuer(ctx context.Context, tx *db.Tx, i Issuer) error {
	i, err := i.Check()
	if err != nil {
		return err
	}
	row := query.InvoiceIssuer{
		IssuerID: issuerID, Name: i.Name, Address: i.Address, TaxID: i.TaxID, TaxBasisPoints: i.TaxBasisPoints, Prefix: i.Prefix, Note: i.Note,
	}
	err = tx.InvoiceIssuerSet(ctx, query.InvoiceIssuerSetParams{
		IssuerID: row.IssuerID, Name: row.Name, Address: row.Address, TaxID: row.TaxID, TaxBasisPoints: row.TaxBasisPoints,
		Prefix: row.Prefix, Note: row.Note, RowSum: issuerRows.Of(row),
	})
	if err != nil {
		return fmt.Errorf("set the issuer of invoices: %w", err)
	}
	return nil
}

// IssuerNow reads the seller.
func IssuerNow(ctx context.Context, tx *db.Tx) (Issuer, error) {
	row, err := tx.InvoiceIssuerGet(ctx)
	if db.IsNotFound(err) {
		return Issuer{Prefix: DefaultPrefix}, nil
	}
	if err != nil {
		return Issuer{}, fmt.Errorf("read the issuer of invoices: %w", err)
	}
	return Issuer{Party{row.Name, row.Address, row.TaxID}, row.TaxBasisPoints, row.Prefix, row.Note}, nil
}

// Taxed reports whether this service writes the invoices that count for taxes. The payment
// provider then writes none, so that a payment has one.
func Taxed(ctx context.Context, tx *db.Tx) (bool, error) {
	i, err := IssuerNow(ctx, tx)
	return i.TaxID != "", err
}
