package invoice

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/ratelimit"
)

// Type is the media type of a PDF.
const Type = "application/pdf"

// Filename is the name that browsers save the PDF under.
func (i Invoice) Filename() string { return i.Number + ".pdf" }

// Measures of the page, in millimetres.
const (
	margin    = 20.0
	pageWide  = 210.0
	textWide  = pageWide - 2*margin
	half      = textWide / 2
	lineHigh  = 5.2
	amountCol = 40.0
)

// family is the name of the font in the PDF.
const family = "Go"

// PDF draws the invoice on a page of A4. The same invoice gives the same bytes.
func (i Invoice) PDF(ctx context.Context) (file []byte, err error) {
	ratelimit.Work(ctx, func() { file, err = i.pdf() })
	return file, err
}

func (i Invoice) pdf() ([]byte, error) {
	d := drawing{fpdf.New("P", "mm", "A4", "")}
	d.SetCatalogSort(true)
	d.SetCreationDate(i.IssuedAt)
	d.SetModificationDate(i.IssuedAt)
	d.SetTitle(i.title()+" "+i.Number, true)
	d.SetLang("en")
	d.AddUTF8FontFromBytes(family, "", goregular.TTF)
	d.AddUTF8FontFromBytes(family, "B", gobold.TTF)
	d.SetMargins(margin, margin, margin)
	d.SetCellMargin(0)
	d.AddPage()
	i.head(d)
	i.figures(d)
	var out bytes.Buffer
	if err := d.Output(&out); err != nil {
		return nil, fmt.Errorf("draw the PDF of %s: %w", i.Number, err)
	}
	return out.Bytes(), nil
}

// drawing is a PDF under way.
type drawing struct{ *fpdf.Fpdf }

// block writes lines of text at a place and returns where it ends.
func (d drawing) block(x, y, wide float64, style string, size float64, align, text string) (end float64) {
	if text == "" {
		return y
	}
	d.SetFont(family, style, size)
	d.SetXY(x, y)
	d.MultiCell(wide, size*0.5, visible(text), "", align, false)
	return d.GetY()
}

// party writes who sells or buys.
func (d drawing) party(y float64, p Party) (end float64) {
	y = d.block(margin, y, half, "B", 10.5, "L", p.Name)
	y = d.block(margin, y, half, "", 10.5, "L", p.Address)
	if p.TaxID != "" {
		y = d.block(margin, y, half, "", 10.5, "L", "Tax ID: "+p.TaxID)
	}
	return y
}

// head writes the seller, the number and the buyer.
func (i Invoice) head(d drawing) {
	right := d.block(margin+half, margin, half, "B", 20, "R", i.title()) + 2
	for _, line := range i.facts() {
		right = d.block(margin+half, right, half, "", 10.5, "R", line)
	}
	y := max(d.party(margin, i.Seller), right, margin+40) + 10
	d.SetTextColor(100, 100, 100)
	y = d.block(margin, y, half, "", 9, "L", "Billed to") + 0.5
	d.SetTextColor(0, 0, 0)
	d.SetY(d.party(y, i.Buyer))
	d.SetTextColor(100, 100, 100)
	d.SetY(d.block(margin, d.GetY()+0.5, textWide, "", 9, "L", "Workspace "+i.WorkspaceID) + 14)
	d.SetTextColor(0, 0, 0)
}

// title is what the document calls itself.
func (i Invoice) title() string {
	switch i.Kind {
	case Bill:
		return "Invoice"
	case CreditNote:
		return "Credit note"
	case Receipt:
	}
	return "Receipt"
}

// facts are the lines below the title.
func (i Invoice) facts() []string {
	all := []string{"Number " + i.Number, "Date " + i.IssuedAt.UTC().Format(time.DateOnly)}
	switch {
	case i.Reason == ChargebackWon:
		all = append(all, "Reverses "+i.Corrects)
	case i.Corrects != "":
		all = append(all, "Corrects "+i.Corrects)
	}
	return all
}

// figures writes the table, and what was paid.
func (i Invoice) figures(d drawing) {
	d.SetDrawColor(170, 170, 170)
	d.line("Description", "Amount, "+contract.Currency, "B", true)
	what, paid := "Render credit", "Paid on "
	if i.Kind == CreditNote {
		what, paid = "Render credit, refunded", "Refunded on "
	}
	switch i.Reason {
	case ChargedBack:
		what, paid = "Render credit, charged back", "Reason: chargeback, which the payer's bank decided. Noted on "
	case ChargebackWon:
		what, paid = "Render credit, chargeback reversed", "The payer's bank gave the payment back. Noted on "
	case Refunded:
	}
	d.line(what, amount(i.NetCents), "", false)
	if i.TaxCents > 0 || i.TaxBasisPoints > 0 {
		d.line(i.taxWords(), amount(i.TaxCents), "", true)
	}
	d.line("Total", amount(i.TotalCents), "B", false)
	y := d.GetY() + 8
	y = d.block(margin, y, textWide, "", 9.5, "L", paid+i.IssuedAt.UTC().Format(time.DateOnly)+". Payment "+i.TopUpID+".")
	sign := "added to"
	if i.Kind == CreditNote {
		sign = "taken from"
	}
	y = d.block(margin, y+1, textWide, "", 9.5, "L", fmt.Sprintf("Credit %s the wallet: %s %s.", sign, amount(i.CreditCents), contract.Currency))
	d.block(margin, y+5, textWide, "", 9.5, "L", i.Note)
}

// taxWords name the tax.
func (i Invoice) taxWords() string {
	if i.TaxBasisPoints == 0 {
		return "Tax, as calculated with the payment"
	}
	return "Tax, " + strconv.FormatFloat(float64(i.TaxBasisPoints)/100, 'f', -1, 64) + "%"
}

// line writes a row of the table; ruled draws a line below it.
func (d drawing) line(what, cents, style string, ruled bool) {
	border := ""
	if ruled {
		border = "B"
	}
	d.SetX(margin)
	d.SetFont(family, style, 10.5)
	d.CellFormat(textWide-amountCol, lineHigh+3, what, border, 0, "L", false, 0, "")
	d.CellFormat(amountCol, lineHigh+3, cents, border, 1, "R", false, 0, "")
}

// amount writes cents without the currency.
func amount(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// visible writes what the font cannot show as an escape: a row of another version may have
// such characters.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || shows(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(plaintext.Escape(r))
		}
	}
	return b.String()
}

// fonts are those of the PDF, parsed: regular and bold.
var fonts = sync.OnceValue(func() (all []*sfnt.Font) {
	for _, text := range [][]byte{goregular.TTF, gobold.TTF} {
		if parsed, err := sfnt.Parse(text); err == nil { // both are part of the binary
			all = append(all, parsed)
		}
	}
	return all
})

// shows reports whether the fonts of the PDF have a picture of a character.
func shows(r rune) bool {
	if plaintext.Hidden(r) {
		return false
	}
	for _, f := range fonts() {
		if glyph, err := f.GlyphIndex(nil, r); err != nil || glyph == 0 {
			return false
		}
	}
	return true
}
