package web

import (
	"encoding/json"
	"fmt"
	"net/http"

	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/plainjson"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
)

// foldFrames is the number of frames above which their table starts folded.
const foldFrames = 40

// proofBody is the JSON form of a proof page (decisions 8). The page embeds the
// same JSON for its script to check.
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
	KeyID        string `json:"key_id"`
	PublicKeyPEM string `json:"public_key_pem"`
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
		b.Keys = append(b.Keys, proofKey{k.Key.ID(), string(text)})
	}
	return b, nil
}

// proofView is the content of a proof page.
type proofView struct {
	Proof proofBody
	// Fold starts with the table of frames folded.
	Fold bool
	// SyntheticApplication is what produced the frames instead of Blender; ""
	// means that Blender rendered them. The page must say so at the top.
	SyntheticApplication string
}

// proof serves a receipt to anybody who knows its id: HTML to browsers, JSON to
// everything else. Any origin may read it, because it is public and no cookie
// counts here. Errors: receipt_not_found.
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
	case front.AcceptsHTML(r.Header.Get("Accept")):
		return s.show(w, r, proofPage(body))
	}
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache") // the owner can switch the page off
	_ = plainjson.Write(w, body)       // a failed write means the caller is gone
	return nil
}

// proofPage builds the page of a proof. It is the only page with a script,
// which checks the proof in the visitor's browser.
func proofPage(body proofBody) page {
	v := proofView{Proof: body, Fold: len(body.Receipt.Frames) > foldFrames}
	if body.Receipt.Renderer.ID == contract.SyntheticRenderer {
		v.SyntheticApplication = contract.SyntheticApplication
	}
	return page{Template: "proof", Title: "Proof of " + body.Receipt.Artifact.Filename, Unlisted: true, Scripts: []string{"verify.js"}, Content: v}
}

// moneyText writes an amount in cents, such as "2.50 USD".
func moneyText(cents int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, currency)
}

// fileSizeText writes a size in bytes in the largest binary unit that it fills.
func fileSizeText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
