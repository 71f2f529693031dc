package page

import (
	"bytes"
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/digest"
	"svc.example/internal/work/invoice"
)

// SendInvoice sends the invoice that the path's number names as PDF. It must be of the workspace,
// unless that is "". Error: invoice_not_found.
func (s *Base) SendInvoice(w http.ResponseWriter, r *http.Request, workspaceID string) error {
	var found invoice.Invoice
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		found, err = invoice.Get(r.Context(), tx, workspaceID, r.PathValue("number"))
		return err
	})
	if err != nil {
		return err
	}
	file, err := found.PDF(r.Context())
	if err != nil {
		return err
	}
	sum, err := digest.Of(bytes.NewReader(file))
	if err == nil {
		s.Errors.ServeAttachment(w, r, invoice.Type, found.Filename(), sum, bytes.NewReader(file))
	}
	return err
}
