package invoice

import (
	"encoding/csv"
	"io"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/wallet"
)

// WriteCSV writes invoices as CSV, with a head. What was given back is below zero.
func WriteCSV(w io.Writer, all []Invoice) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"number", "kind", "issued_at", "workspace_id", "top_up_id", "corrects", "buyer_name", "buyer_tax_id", "currency", "net", "tax", "total", "reason"}) // Flush keeps the error
	for _, i := range all {
		_ = out.Write([]string{
			i.Number, string(i.Kind), i.IssuedAt.Format(time.RFC3339), i.WorkspaceID, i.TopUpID, i.Corrects, plaintext.Cell(i.Buyer.Name), plaintext.Cell(i.Buyer.TaxID),
			contract.Currency, wallet.Decimal(i.Signed(i.NetCents)), wallet.Decimal(i.Signed(i.TaxCents)), wallet.Decimal(i.Signed(i.TotalCents)), string(i.Reason),
		})
	}
	out.Flush()
	return out.Error()
}
