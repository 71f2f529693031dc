package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/invoice"
)

// invoicesPath is the address of the list of invoices.
const invoicesPath = "/v1/wallet/invoices"

// Party is the seller or the buyer of an invoice. Its members are "" where nobody has named them.
type Party struct {
	Name    string `json:"name"`
	Address string `json:"address" doc:"Lines."`
	TaxID   string `json:"tax_id"`
}

// Invoice is the document about a payment, or about a refund of one. It is exported because
// huma leaves out the members of embedded types that are not.
type Invoice struct {
	Number         string          `json:"number"`
	Kind           invoice.Kind    `json:"kind" enum:"receipt,invoice,credit_note" doc:"A receipt where the service's operator has named no tax id. A credit note is about a refund or a chargeback."`
	TopUpID        string          `json:"top_up_id" pattern:"^TOP-[0-9a-f]{32}$"`
	Corrects       *string         `json:"corrects" doc:"The number of the invoice that a credit note corrects, or of the credit note that an invoice reverses; null otherwise."`
	Reason         *invoice.Reason `json:"reason" enum:"refund,chargeback,chargeback_won" nullable:"true" doc:"Why a document corrects another one. A credit note: the payment was refunded, or its bank took it back for good. An invoice or receipt: the bank gave that back after all. Null otherwise."`
	NetCents       int64           `json:"net_cents" minimum:"0"`
	TaxCents       int64           `json:"tax_cents" minimum:"0"`
	TotalCents     int64           `json:"total_cents" minimum:"0" doc:"What was paid, or given back: net and tax."`
	TaxBasisPoints *int64          `json:"tax_basis_points" doc:"The rate of the tax, 1900 for 19 %; null without a tax, or where the payment provider calculated it."`
	CreditCents    int64           `json:"credit_cents" minimum:"0" doc:"What the wallet got, or gave back."`
	Currency       string          `json:"currency" const:"USD"`
	Seller         Party           `json:"seller"`
	Buyer          Party           `json:"buyer"`
	Note           string          `json:"note" doc:"The seller's words."`
	PDFURL         string          `json:"pdf_url" format:"uri" doc:"The PDF, for the same credentials."`
	IssuedAt       time.Time       `json:"issued_at"`
}

type invoiceOutput struct {
	Body struct {
		OK bool `json:"ok" const:"true"`
		Invoice
	}
}

type invoicePath struct {
	Number string `path:"number" maxLength:"64"`
}

// invoicesInput selects a page of the invoices.
type invoicesInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Before string `query:"before" maxLength:"64" doc:"Number; the page starts after it. The Link header contains it."`
}

type invoicesOutput struct {
	Link string `header:"Link" doc:"The next page, rel=next; absent on the last one."`
	Body struct {
		OK       bool      `json:"ok" const:"true"`
		Invoices []Invoice `json:"invoices" nullable:"false" doc:"Newest first."`
	}
}

// pdfOutput is a PDF that browsers save under its number.
type pdfOutput struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	CacheControl       string `header:"Cache-Control"`
	Body               []byte
}

func shownInvoice(at links.Links, i invoice.Invoice) Invoice {
	b := Invoice{
		Number: i.Number, Kind: i.Kind, TopUpID: i.TopUpID, NetCents: i.NetCents, TaxCents: i.TaxCents, TotalCents: i.TotalCents, CreditCents: i.CreditCents,
		Currency: contract.Currency, Seller: Party(i.Seller), Buyer: Party(i.Buyer), Note: i.Note, PDFURL: at.To(invoicesPath + "/" + i.Number + "/pdf"), IssuedAt: i.IssuedAt,
	}
	if i.Corrects != "" {
		b.Corrects, b.Reason = &i.Corrects, &i.Reason
	}
	if i.TaxBasisPoints != 0 {
		b.TaxBasisPoints = &i.TaxBasisPoints
	}
	return b
}

// invoices registers the routes of invoices. They take the credentials that payments take.
func (s *Server) invoices(api huma.API) {
	huma.Register(api, s.ofMoney("listInvoices", http.MethodGet, invoicesPath, "The workspace's invoices and credit notes, newest first"), s.listInvoices)
	huma.Register(api, s.ofMoney("getInvoice", http.MethodGet, invoicesPath+"/{number}", "An invoice or a credit note"), func(ctx context.Context, in *invoicePath) (*invoiceOutput, error) {
		found, err := s.invoice(ctx, in.Number)
		out := &invoiceOutput{}
		out.Body.OK, out.Body.Invoice = true, shownInvoice(s.Links, found)
		return out, err
	})
	op := s.ofMoney("getInvoicePDF", http.MethodGet, invoicesPath+"/{number}/pdf", "An invoice or a credit note as PDF")
	op.Description = "The same bytes each time: an invoice never changes."
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The PDF", Content: map[string]*huma.MediaType{invoice.Type: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
	huma.Register(api, op, func(ctx context.Context, in *invoicePath) (*pdfOutput, error) {
		found, err := s.invoice(ctx, in.Number)
		if err != nil {
			return nil, err
		}
		file, err := found.PDF(ctx)
		return &pdfOutput{invoice.Type, blob.Attachment(found.Filename()), "private, no-cache", file}, err
	})
}

// invoice reads one of the caller's.
func (s *Server) invoice(ctx context.Context, number string) (found invoice.Invoice, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		found, err = invoice.Get(ctx, tx, operation.Caller(ctx).WorkspaceID, number)
		return err
	})
	return found, err
}

func (s *Server) listInvoices(ctx context.Context, in *invoicesInput) (*invoicesOutput, error) {
	out := &invoicesOutput{}
	out.Body.OK, out.Body.Invoices = true, []Invoice{}
	err := s.DB.Read(ctx, func(tx *db.Tx) error {
		found, err := invoice.List(ctx, tx, operation.Caller(ctx).WorkspaceID, in.Before, in.Limit+1)
		if len(found) > in.Limit {
			found = found[:in.Limit]
			out.Link = operation.NextPage(s.Links, invoicesPath, found[in.Limit-1].Number, in.Limit, nil)
		}
		for _, i := range found {
			out.Body.Invoices = append(out.Body.Invoices, shownInvoice(s.Links, i))
		}
		return err
	})
	return out, err
}
