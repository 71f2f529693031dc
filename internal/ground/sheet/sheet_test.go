package sheet_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/sheet"
)

// write writes one row.
func write(t *testing.T, form sheet.Form, cells ...any) string {
	t.Helper()
	var b strings.Builder
	w := sheet.New(&b, form)
	w.Row(cells...)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostile are names of files that spreadsheets would compute.
var hostile = []string{
	"=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", "\t=1", ` "=1`,
	"a;=1+1;b.blend", "a,=1+1.blend", "a\t=1", "a\n=1", `a;"=HYPERLINK(""http://example.com"")`, "a; -1",
}

// TestNoTextBecomesAFormulaOrAnotherCell reads rows as programs of all languages do: they split
// at commas, at semicolons or at tabs, and some at all of them.
func TestNoTextBecomesAFormulaOrAnotherCell(t *testing.T) {
	t.Parallel()
	for _, form := range []sheet.Form{{}, {DecimalComma: true}} {
		for _, text := range hostile {
			row := write(t, form, "before", text, "after")
			for _, separators := range []string{",", ";", "\t", ",;\t"} {
				for _, cell := range strings.FieldsFunc(row, func(r rune) bool { return strings.ContainsRune(separators+"\n", r) }) {
					if cell = strings.Trim(cell, "\" \t\n"); cell != "" && strings.ContainsRune("=+-@＝", []rune(cell)[0]) {
						t.Errorf("%q is %q, of which %q is a formula", text, row, cell)
					}
				}
			}
			in := csv.NewReader(strings.NewReader(row))
			if form.DecimalComma {
				in.Comma = ';'
			}
			if cells, err := in.Read(); err != nil || len(cells) != 3 || strings.ReplaceAll(cells[1], "'", "") != text {
				t.Errorf("%q is read as %q, %v", text, cells, err)
			}
			if strings.ContainsAny(text, ",;\t") && !strings.Contains(row, `"`) {
				t.Errorf("%q is not quoted: %q", text, row)
			}
		}
	}
}

// TestAmountsHaveTheDecimalSignOfTheForm: both forms say the same cents.
func TestAmountsHaveTheDecimalSignOfTheForm(t *testing.T) {
	t.Parallel()
	cells := []any{sheet.Amount(-123456), sheet.Amount(0), sheet.Amount(-3), sheet.Amount(2500), sheet.Seconds(1234.5), 7, "shot.blend", ""}
	got := []string{write(t, sheet.Form{}, cells...), write(t, sheet.Form{DecimalComma: true}, cells...)}
	want := []string{"-1234.56,0.00,-0.03,25.00,1234.500,7,shot.blend,\n", "-1234,56;0,00;-0,03;25,00;1234,500;7;shot.blend;\n"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
