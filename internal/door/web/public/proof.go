package public

import (
	"html/template"
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/front"
	"svc.example/internal/ground/plainjson"
	"svc.example/internal/work/receipt"
)

// proofBody is the JSON form of a proof page (decisions 8). The page embeds a part of it
// for its script.
type proofBody struct {
	OK        bool            `json:"ok"`
	ReceiptID string          `json:"receipt_id"`
	Receipt   receipt.Receipt `json:"receipt"`
	page.EmbeddedProof
}

// proofView is the content of a proof page: what its script checks, and nothing of it in
// plain.
type proofView struct {
	Proof page.EmbeddedProof
	Copy  string // the address of the page as one file; "" on that one
}

// proof serves a receipt to anyone who knows its id: HTML to browsers, JSON to everything else, and
// as one file if the query asks for a copy. Any origin may read it, because it is public and no
// cookie counts here. Errors: receipt_not_found.
func (s *Site) proof(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*") // any page may read it
	h.Set("Vary", "Accept")
	public, err := s.Proofs.Public(r.Context(), r.PathValue("receipt_id"))
	var body proofBody
	if err == nil {
		body = proofBody{OK: true, ReceiptID: public.ReceiptID, Receipt: public.Receipt}
		body.EmbeddedProof, err = page.EmbedProof(public)
	}
	switch {
	case err != nil:
		return err
	case r.URL.Query().Has(copyQuery):
		return writeCopy(w, body)
	case front.AcceptsHTML(r.Header.Get("Accept")):
		return s.Show(w, r, proofPage(body))
	}
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache") // the owner can switch the page off
	_ = plainjson.Write(w, body)       // a failed write means the caller is gone
	return nil
}

// proofPage builds the page of a proof, whose script checks the proof in the visitor's
// browser.
func proofPage(body proofBody) page.Page {
	v := proofView{body.EmbeddedProof, "?" + copyQuery}
	return page.Page{Template: "proof", Title: "Proof of a receipt", Unlisted: true, Scripts: page.ProofScripts(), Content: v}
}

// copyQuery asks for the page as one file.
const copyQuery = "copy"

// writeCopy writes the page as one file that a browser saves: with its style and scripts,
// so that it verifies itself without a network.
func writeCopy(w http.ResponseWriter, body proofBody) error {
	var copied struct {
		Style   template.CSS
		Scripts []template.JS
		Content proofView
	}
	copied.Style = template.CSS(page.AssetBody("style.css"))
	for _, name := range page.ProofScripts() {
		copied.Scripts = append(copied.Scripts, template.JS(page.AssetBody(name)))
	}
	copied.Content.Proof = body.EmbeddedProof
	text, err := pages.Fragment("proof", "copy", copied)
	if err != nil {
		return err
	}
	h := w.Header()
	page.SetHeaders(h, page.Page{Unlisted: true})
	h.Set("Content-Disposition", `attachment; filename="proof-`+body.ReceiptID+`.html"`)
	_, _ = w.Write(text) // a failed write means that the caller is gone
	return nil
}
