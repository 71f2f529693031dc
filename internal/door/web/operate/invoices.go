package operate

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/operator"
)

// adminInvoicesView is the content of the list of invoices.
type adminInvoicesView struct {
	adminView
	Invoices []invoice.Invoice
	Names    map[string]string // of their workspaces, by id
	// Find is what the field has: a number, or the id of a workspace.
	Find   string
	Around page.Pager
}

// adminInvoices lists the invoices and credit notes of all workspaces, or of one, the newest
// first. A number finds the documents of its payment: an invoice with its credit notes.
func (s *Site) adminInvoices(r *http.Request, _ identity.Principal) (page.Page, error) {
	ctx, q := r.Context(), r.URL.Query()
	v := adminInvoicesView{adminView: viewOf(r, adminInvoicesPath), Find: strings.TrimSpace(page.CutQuery(q.Get("q")))}
	workspaceID, filter := "", url.Values{}
	if strings.HasPrefix(v.Find, "WSP-") {
		workspaceID, filter = v.Find, url.Values{"q": {v.Find}}
	}
	around := page.Around{Before: q.Get("before")}
	err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if v.Find != workspaceID {
			if v.Invoices, err = invoice.Related(ctx, tx, strings.ToUpper(v.Find)); err != nil {
				return err
			}
			return v.name(ctx, tx)
		}
		if v.Invoices, err = invoice.List(ctx, tx, workspaceID, around.Before, adminRows+1); err != nil {
			return err
		}
		if around.Newer, err = invoice.Newer(ctx, tx, workspaceID, around.Before, adminRows); err != nil {
			return err
		}
		return v.name(ctx, tx)
	})
	if fault.Is(err, fault.InvoiceNotFound) { // the page says that there is none
		err = nil
	}
	if v.Find == workspaceID {
		v.Invoices, around.Last = page.Ahead(v.Invoices, adminRows, func(i invoice.Invoice) string { return i.Number })
		v.Around = page.PagerOf("invoices", adminInvoicesPath, filter, around)
	}
	return page.Page{Template: "admin_invoices", Title: "Invoices", Content: v}, err
}

// name reads the names of the workspaces of the invoices.
func (v *adminInvoicesView) name(ctx context.Context, tx *db.Tx) (err error) {
	v.Names, err = namesOf(ctx, tx, v.Invoices, func(i invoice.Invoice) string { return i.WorkspaceID })
	return err
}

// adminInvoice sends an invoice of any workspace as PDF, the same bytes that the workspace gets.
// Error: invoice_not_found.
func (s *Site) adminInvoice(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	if _, err := operator.Person(who); err != nil {
		return err
	}
	return s.SendInvoice(w, r, "")
}
