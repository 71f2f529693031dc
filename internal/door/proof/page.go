package proof

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/render"
)

//go:embed page/page.html
var pageText string

//go:embed page/page.css
var pageStyle string

//go:embed page/verify.js
var pageScript string

// foldFrames is from how many frames on their table is folded at first.
const foldFrames = 40

// shown is the JSON form of a proof page, which is also what the page's script
// checks.
type shown struct {
	OK        bool            `json:"ok"`
	ReceiptID string          `json:"receipt_id"`
	Receipt   receipt.Receipt `json:"receipt"`
	Envelope  json.RawMessage `json:"envelope"`
	receipt.Inclusion
	Keys []shownKey `json:"keys"`
}

type shownKey struct {
	KeyID        string `json:"key_id"`
	PublicKeyPEM string `json:"public_key_pem"`
}

func newShown(p render.Public) (shown, error) {
	s := shown{OK: true, ReceiptID: p.ReceiptID, Receipt: p.Receipt, Envelope: p.Envelope, Inclusion: p.Inclusion}
	for _, k := range p.Keys {
		text, err := k.Key.PEM()
		if err != nil {
			return s, err
		}
		s.Keys = append(s.Keys, shownKey{k.Key.ID(), string(text)})
	}
	return s, nil
}

// page shows a receipt to anybody who knows its id: HTML for browsers, JSON for
// the rest.
func (s Rooms) page(w http.ResponseWriter, r *http.Request) error {
	public, err := s.Jobs.Public(r.Context(), r.PathValue("receipt_id"))
	if err != nil {
		return err
	}
	content, err := newShown(public)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "no-cache") // the owner can switch the page off
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	var body bytes.Buffer
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", pagePolicy())
		err = writePage(&body, content)
	} else {
		h.Set("Content-Type", "application/json")
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(content)
	}
	if err != nil {
		return fmt.Errorf("write the proof page of %s: %w", content.ReceiptID, err)
	}
	_, _ = w.Write(body.Bytes()) // a failed write means the caller is gone
	return nil
}

// pagePolicy lets the page run its own script and style, by their hashes, and
// load nothing.
func pagePolicy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(pageScript) + "; style-src " + hash(pageStyle) +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

func writePage(w *bytes.Buffer, s shown) error {
	page, err := template.New("proof").Funcs(template.FuncMap{
		"bytes":   byteText,
		"seconds": func(v float64) string { return fmt.Sprintf("%.2f s", v) },
		"money": func(cents int64, currency string) string {
			return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, currency)
		},
	}).Parse(pageText)
	if err != nil {
		return err
	}
	painter := "" // what stood in Blender's place
	if s.Receipt.Renderer.ID == contract.SyntheticRenderer {
		painter = contract.SyntheticApplication
	}
	return page.Execute(w, struct {
		Proof   shown
		Style   template.CSS
		Script  template.JS
		Fold    bool
		Painter string
	}{s, template.CSS(pageStyle), template.JS(pageScript), len(s.Receipt.Frames) > foldFrames, painter})
}

func byteText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
