package page

import (
	"net/http"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/sheet"
)

// StartCSV sets the headers of a file of rows that a browser saves under a name, and returns
// its writer. ?decimal=comma asks for the form of languages with a decimal comma.
func StartCSV(w http.ResponseWriter, r *http.Request, filename string) (*sheet.Writer, error) {
	asked := r.URL.Query().Get("decimal")
	if asked != "" && asked != "point" && asked != "comma" {
		return nil, fault.Field("decimal", "must be point or comma")
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", blob.Attachment(filename))
	h.Set("Cache-Control", "no-store")
	return sheet.New(w, sheet.Form{DecimalComma: asked == "comma"}), nil
}
