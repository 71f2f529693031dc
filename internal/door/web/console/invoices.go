package console

import (
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
)

// invoicesPath is the page of a workspace's invoices.
const invoicesPath = walletPath + "/invoices"

// invoicesOnPage is how many invoices a page lists.
const invoicesOnPage = 50

// invoicesView is the content of the page of invoices.
type invoicesView struct {
	// Buyer is what the workspace wants on them, or what was typed and refused.
	Buyer    invoice.Party
	Invoices []invoice.Invoice
	// Around leads to the newer and the older invoices.
	Around page.Pager
	// Problem is why the last form was refused; nil when none was.
	Problem *fault.Wire
	// Notice confirms the last action; "" shows none.
	Notice string
}

// invoices builds the page of a workspace's invoices.
func (s *Site) invoices(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.invoicesPage(r, who, invoicesView{})
}

func (s *Site) invoicesPage(r *http.Request, who identity.Principal, v invoicesView) (page.Page, error) {
	asked := r.URL.Query()
	var found []invoice.Invoice
	around := page.Around{Before: asked.Get("before")}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		if v.Problem == nil {
			if v.Buyer, err = invoice.Billing(r.Context(), tx, who.WorkspaceID); err != nil {
				return err
			}
		}
		if found, err = invoice.List(r.Context(), tx, who.WorkspaceID, around.Before, invoicesOnPage+1); err != nil {
			return err
		}
		around.Newer, err = invoice.Newer(r.Context(), tx, who.WorkspaceID, around.Before, invoicesOnPage)
		return err
	})
	v.Invoices, around.Last = page.Ahead(found, invoicesOnPage, func(i invoice.Invoice) string { return i.Number })
	v.Around = page.PagerOf("invoices", invoicesPath, nil, around)
	if asked.Get("did") == "billing" {
		v.Notice = "Saved. It is on your invoices from now on."
	}
	return page.Page{Template: "invoices", Title: "Invoices", Section: page.WalletSection, Content: v}, err
}

// setBilling keeps what the workspace wants on its invoices.
func (s *Site) setBilling(r *http.Request, who identity.Principal) (page.Page, error) {
	typed := invoice.Party{Name: r.PostForm.Get("name"), Address: r.PostForm.Get("address"), TaxID: r.PostForm.Get("tax_id")}
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error {
		return invoice.SetBilling(r.Context(), tx, who.WorkspaceID, typed)
	})
	if err == nil {
		return page.Page{Location: invoicesPath + "?did=billing"}, nil
	}
	status, problem := page.Refused(err)
	if status == http.StatusInternalServerError {
		return page.Page{}, err
	}
	p, err := s.invoicesPage(r, who, invoicesView{Buyer: typed, Problem: problem})
	p.Status = status
	return p, err
}

// invoiceFile sends an invoice as PDF.
func (s *Site) invoiceFile(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	return s.SendInvoice(w, r, who.WorkspaceID)
}
