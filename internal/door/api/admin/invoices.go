package admin

import (
	"context"
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/operator"
)

type (
	invoicesInput struct {
		Page
		Workspace string `query:"workspace" maxLength:"100" doc:"Only the invoices of this workspace."`
	}
	sellerInput struct {
		Acting
		Body sellerRequest
	}
	sellerRequest struct {
		Company        string `json:"company,omitempty" doc:"Name of the company that sells."`
		Address        string `json:"address,omitempty" doc:"Up to 6 lines, separated by line feeds."`
		TaxID          string `json:"tax_id,omitempty" doc:"With it, documents are invoices and not receipts, and the payment provider writes none."`
		TaxBasisPoints int64  `json:"tax_basis_points,omitempty" doc:"Rate of the tax that each payment contains, in hundredths of a percent: 1900 for 19 %."`
		Prefix         string `json:"prefix" doc:"What numbers begin with: capital letters, digits and hyphens, with a hyphen at the end."`
		Note           string `json:"note,omitempty" doc:"Words below the figures, such as why there is no tax."`
	}
	// SellerNow is the seller on invoices.
	SellerNow struct {
		OK bool `json:"ok" const:"true"`
		operator.Seller
	}
)

// invoices are the routes of the invoices of payments.
func (s *Server) invoices() []route {
	e := exampleInvoices()
	return []route{
		reads(s, route{id: "listInvoices", path: "/admin/v1/invoices", summary: "List the invoices and credit notes of payments", codes: []fault.Code{fault.InvoiceNotFound}}, e.invoices,
			func(ctx context.Context, tx *db.Tx, in *invoicesInput) (operator.InvoiceList, error) {
				all, err := invoice.List(ctx, tx, in.Workspace, in.Before, in.Limit)
				return operator.ListInvoices(all), err
			}),
		reads(s, route{id: "getSeller", path: "/admin/v1/seller", summary: "Show the seller on invoices"}, SellerNow{true, e.seller},
			func(ctx context.Context, tx *db.Tx, _ *none) (SellerNow, error) {
				i, err := invoice.IssuerNow(ctx, tx)
				return SellerNow{true, operator.SellerOf(i)}, err
			}),
		acts(s, route{id: "setSeller", method: http.MethodPut, path: "/admin/v1/seller", summary: "Set the seller on invoices from now on", request: sellerRequest(e.seller), codes: bodyCodes()}, operator.SellerSet{Seller: e.seller},
			func(_ context.Context, _ *db.Tx, in *sellerInput) (operator.Act, error) {
				return operator.SetInvoiceIssuer(operator.Seller(in.Body).Issuer())
			}, func(ctx context.Context, tx *db.Tx, _ *sellerInput) (operator.SellerSet, error) {
				i, err := invoice.IssuerNow(ctx, tx)
				return operator.SellerSet{Seller: operator.SellerOf(i)}, err
			}),
	}
}
