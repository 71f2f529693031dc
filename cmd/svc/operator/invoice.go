package operator

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/ground/sheet"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/operator"
)

// invoiceShow is svc admin invoice show.
type invoiceShow struct{ viewFlags }

// Run shows who sells on invoices.
func (c *invoiceShow) Run(k *kong.Context) error {
	var seller operator.Seller
	err := c.view("/seller", nil, &seller, func(ctx context.Context, tx *db.Tx) error {
		i, err := invoice.IssuerNow(ctx, tx)
		seller = operator.SellerOf(i)
		return err
	})
	if err != nil {
		return err
	}
	return printSeller(k, c.adminFlags, seller)
}

func printSeller(k *kong.Context, f adminFlags, s operator.Seller) error {
	address := s.Address
	if !f.JSON {
		address = strings.ReplaceAll(address, "\n", ", ")
	}
	return f.print(k, field{"company", s.Company}, field{"address", address}, field{"tax_id", s.TaxID}, field{"tax_basis_points", s.TaxBasisPoints}, field{"prefix", s.Prefix}, field{"note", s.Note})
}

// invoiceSet is svc admin invoice set.
type invoiceSet struct {
	actFlags
	Company        string   `help:"Name of the company that sells."`
	Address        []string `sep:"none" placeholder:"LINE" help:"A line of its address. Repeat it for more lines, up to 6."`
	TaxID          string   `name:"tax-id" help:"Its tax id. With it, documents are invoices and not receipts, and the payment provider writes none."`
	TaxBasisPoints int64    `placeholder:"RATE" help:"Rate of the tax that each payment contains, in hundredths of a percent: 1900 for 19 %. 0 for none, or where the payment provider adds the tax."`
	Prefix         string   `default:"INV-" help:"What numbers begin with: capital letters, digits and hyphens, with a hyphen at the end."`
	Note           string   `help:"Words below the figures, such as why there is no tax."`
}

// Run sets who sells on invoices from now on; what is not named is empty. Error:
// invalid_request.
func (c *invoiceSet) Run(k *kong.Context) error {
	seller := operator.Seller{Company: c.Company, Address: strings.Join(c.Address, "\n"), TaxID: c.TaxID, TaxBasisPoints: c.TaxBasisPoints, Prefix: c.Prefix, Note: c.Note}
	issuer := seller.Issuer()
	err := c.act(call{method: http.MethodPut, path: "/seller", body: seller}, &seller, func(context.Context, *db.Tx) (operator.Act, error) { return operator.SetInvoiceIssuer(issuer) }, func(ctx context.Context, tx *db.Tx) error {
		i, err := invoice.IssuerNow(ctx, tx)
		seller = operator.SellerOf(i)
		return err
	})
	if err != nil {
		return err
	}
	return printSeller(k, c.adminFlags, seller)
}

// invoiceList is svc admin invoice list.
type invoiceList struct {
	viewFlags
	Limit     int    `default:"100" help:"How many to list, the newest first: 1 to 100000."`
	Before    string `placeholder:"NUMBER" help:"Continue after this number, the last one of the previous page."`
	Workspace string `help:"List only those of this workspace."`
	CSV       bool   `name:"csv" help:"Print CSV. What was given back is below zero."`
}

// Run lists invoices. Error: invoice_not_found.
func (c *invoiceList) Run(k *kong.Context) error {
	if c.Limit < 1 || c.Limit > 100_000 {
		return terminal.WrongUsagef("--limit is %d; it must be 1 to 100000", c.Limit)
	}
	if c.CSV && c.JSON {
		return terminal.WrongUsagef("--csv and --json are two forms; name one")
	}
	var answer operator.InvoiceList
	query := url.Values{"workspace": {c.Workspace}, "before": {c.Before}, "limit": {strconv.Itoa(c.Limit)}}
	err := c.view("/invoices", query, &answer, func(ctx context.Context, tx *db.Tx) error {
		all, err := invoice.List(ctx, tx, c.Workspace, c.Before, c.Limit)
		answer = operator.ListInvoices(all)
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case c.CSV:
		return invoice.WriteCSV(sheet.New(k.Stdout, sheet.Form{}), answer.Documents())
	case c.JSON:
		return terminal.PrintJSON(k.Stdout, answer)
	case len(answer.Invoices) == 0:
		terminal.Printf(k.Stdout, "no invoices")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "NUMBER"}, terminal.Column{Title: "KIND"}, terminal.Column{Title: "DATE", Spare: 1}, terminal.Column{Title: "WORKSPACE", Spare: 2},
		terminal.Column{Title: "BUYER", Cut: true, Spare: 3}, terminal.Column{Title: "TAX", Spare: 4}, terminal.Column{Title: "TOTAL"})
	for _, i := range answer.Invoices {
		list.Row(i.Number, string(i.Kind), i.IssuedAt.Format(time.DateOnly), i.WorkspaceID, i.Buyer, numbers.Dollars(i.TaxCents), numbers.Dollars(i.TotalCents))
	}
	list.Print(k.Stdout)
	return nil
}

// invoicePDF is svc admin invoice pdf.
type invoicePDF struct {
	adminFlags
	Number string `arg:"" help:"Number of the invoice."`
	Out    string `required:"" placeholder:"FILE" help:"The file to write."`
}

// Run writes an invoice as PDF, also one of an erased workspace. Error: invoice_not_found.
func (c *invoicePDF) Run(k *kong.Context) error {
	var found invoice.Invoice
	var file []byte
	err := c.read(func(ctx context.Context, tx *db.Tx) (err error) {
		if found, err = invoice.Get(ctx, tx, "", c.Number); err == nil {
			file, err = found.PDF(ctx)
		}
		return err
	})
	if err == nil {
		err = os.WriteFile(c.Out, file, 0o600)
	}
	if err != nil {
		return err
	}
	return c.print(k, field{"number", found.Number}, field{"file", c.Out}, field{"size_bytes", len(file)})
}
