package operator

import (
	"context"
	"fmt"
	"strconv"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/invoice"
)

// SetInvoiceIssuer changes who sells on invoices from now on. Error: invalid_request.
func SetInvoiceIssuer(issuer invoice.Issuer) (Act, error) {
	issuer, err := issuer.Check()
	what := fmt.Sprintf("number invoices from now on with %s and write them without a seller, as receipts", issuer.Prefix)
	switch {
	case issuer.TaxID != "":
		what = fmt.Sprintf("write invoices of %s (tax ID %s) from now on, with numbers that begin with %s and %s%% tax in each payment; the payment provider then writes none",
			issuer.Name, issuer.TaxID, issuer.Prefix, strconv.FormatFloat(float64(issuer.TaxBasisPoints)/100, 'f', -1, 64))
	case issuer.Name != "":
		what = fmt.Sprintf("write receipts of %s from now on, with numbers that begin with %s", issuer.Name, issuer.Prefix)
	}
	return Act{
		What: what,
		Do:   func(ctx context.Context, tx *db.Tx) error { return invoice.SetIssuer(ctx, tx, issuer) },
	}, err
}
