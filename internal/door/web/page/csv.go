package page

import (
	"net/http"

	"svc.example/internal/ground/blob"
)

// StartCSV sets the headers of a file of rows that a browser saves under a name.
func StartCSV(w http.ResponseWriter, filename string) {
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", blob.Attachment(filename))
	h.Set("Cache-Control", "no-store")
}
