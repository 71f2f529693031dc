package invoice

import (
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/sheet"
)

// WriteCSV writes invoices as CSV, with a head. What was given back is below zero.
func WriteCSV(out *sheet.Writer, all []Invoice) error {
	out.Row("number", "kind", "issued_at", "workspace_id", "top_up_id", "corrects", "buyer_name", "buyer_tax_id", "currency", "net", "tax", "total", "reason")
	for _, i := range all {
		out.Row(i.Number, i.Kind, i.IssuedAt.Format(time.RFC3339), i.WorkspaceID, i.TopUpID, i.Corrects, i.Buyer.Name, i.Buyer.TaxID,
			contract.Currency, sheet.Amount(i.Signed(i.NetCents)), sheet.Amount(i.Signed(i.TaxCents)), sheet.Amount(i.Signed(i.TotalCents)), i.Reason)
	}
	return out.Flush()
}
