package public

import (
	"encoding/json"
	"html/template"
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/front"
	"svc.example/internal/ground/plainjson"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
)

// proofScripts are what a proof page runs, in order.
var proofScripts = []string{"ed25519.js", "verify.js"}

// proofBody is the JSON form of a proof page (decisions 8). The page embeds a part of it
// for its script, which shows nothing that it has not verified.
type proofBody struct {
	OK        bool            `json:"ok"`
	ReceiptID string          `json:"receipt_id"`
	Receipt   receipt.Receipt `json:"receipt"`
	Envelope  json.RawMessage `json:"envelope"`
	receipt.Inclusion
	Keys []proofKey `json:"keys"`
}

// proofKey is a published signing key.
type proofKey struct {
	KeyID        string  `json:"key_id"`
	PublicKeyPEM string  `json:"public_key_pem"`
	EndReason    *string `json:"end_reason"`   // null: no end is set
	EndLogSize   *int64  `json:"end_log_size"` // as of /v1/signing-keys
}

// newProofBody returns the proof of a public receipt with all published keys:
// the receipt and the checkpoint can be signed by different ones.
func newProofBody(p job.Public) (proofBody, error) {
	b := proofBody{OK: true, ReceiptID: p.ReceiptID, Receipt: p.Receipt, Envelope: p.Envelope, Inclusion: p.Inclusion}
	for _, k := range p.Keys {
		text, err := k.Key.PEM()
		if err != nil {
			return b, err
		}
		b.Keys = append(b.Keys, proofKey{k.Key.ID(), string(text), k.WhyEnded(), k.LogSizeAtEnd()})
	}
	return b, nil
}

// proofView is the content of a proof page: what its script checks, and nothing of it in
// plain.
type proofView struct {
	Proof embedded
	Copy  string // the address of the page as one file; "" on that one
}

// embedded is a proofBody without the plain members.
type embedded struct {
	Envelope json.RawMessage `json:"envelope"`
	receipt.Inclusion
	Keys []proofKey `json:"keys"`
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
		body, err = newProofBody(public)
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
	v := proofView{embedded{body.Envelope, body.Inclusion, body.Keys}, "?" + copyQuery}
	return page.Page{Template: "proof", Title: "Proof of a receipt", Unlisted: true, Scripts: proofScripts, Content: v}
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
	for _, name := range proofScripts {
		copied.Scripts = append(copied.Scripts, template.JS(page.AssetBody(name)))
	}
	copied.Content.Proof = embedded{body.Envelope, body.Inclusion, body.Keys}
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
