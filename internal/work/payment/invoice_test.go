package payment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/sheet"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/wallet"
)

// studio is a seller with a tax.
var studio = invoice.Issuer{
	Party: invoice.Party{Name: "Větrná Farma GmbH", Address: "Straße 1\n10115 Berlin", TaxID: "DE123456789"}, TaxBasisPoints: 1900, Prefix: "R-2027-", Note: "Payable at once.",
}

func (w *world) issuer(i invoice.Issuer) {
	w.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error { return invoice.SetIssuer(ctx, tx, i) })
}

// invoices reads the invoices of a workspace, or all of them for "", the oldest first.
func (w *world) invoices(workspace string) (all []invoice.Invoice) {
	w.Helper()
	w.must(w.DB.Read(w.Context(), func(tx *db.Tx) (err error) {
		all, err = invoice.List(w.Context(), tx, workspace, "", 1000)
		return err
	}))
	slices.Reverse(all)
	return all
}

// pay makes a top-up of 25 dollars that is paid and booked.
func (w *world) pay() string {
	w.Helper()
	made := w.create()
	w.must(w.provider.Pay(made.ID))
	w.deliver()
	return made.ID
}

// TestNumbersOfInvoicesHaveNoGapsHoweverManyPayAtOnce: fifty payments are booked at the same
// time, each told of twice, while other transactions take a number and fail.
func TestNumbersOfInvoicesHaveNoGapsHoweverManyPayAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const payments = 50
		for i := range payments {
			if i%5 == 0 {
				w.open(fmt.Sprintf("WSP-%d", 100+i))
			}
			w.must(w.provider.Pay(w.create().ID))
		}
		events := w.provider.Events()
		failed := errors.New("it fails after its number is taken")
		var all sync.WaitGroup
		for i, e := range slices.Concat(events, events) {
			all.Go(func() {
				if err := w.ring(e); err != nil {
					t.Error(err)
				}
			})
			if i%10 > 0 {
				continue
			}
			all.Go(func() {
				err := w.DB.Write(t.Context(), func(tx *db.Tx) error {
					err := invoice.Issue(t.Context(), tx, invoice.Payment{WorkspaceID: w.workspace, TopUpID: w.first(tx), CreditCents: 1, TotalCents: 1})
					return errors.Join(failed, err)
				})
				if !errors.Is(err, failed) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var got []string
		for _, i := range w.invoices("") {
			got = append(got, i.Number)
		}
		for i := range payments {
			if want := fmt.Sprintf("INV-%06d", i+1); i >= len(got) || got[i] != want {
				t.Fatalf("number %d is missing or twice in %v", i+1, got)
			}
		}
		if len(got) != payments {
			t.Errorf("%d payments have %d invoices", payments, len(got))
		}
	})
}

// Each page of a workspace's invoices knows where the page before it begins.
func TestAListOfInvoicesLeadsBackToThePageBefore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for range 5 {
			w.pay()
		}
		all := w.invoices(w.workspace) // the oldest first; a page of two ends with the fourth, the next with the second
		for before, want := range map[string]string{"": "", all[3].Number: "", all[1].Number: all[3].Number} {
			w.must(w.DB.Read(w.Context(), func(tx *db.Tx) error {
				got, err := invoice.Newer(w.Context(), tx, w.workspace, before, 2)
				if got != want {
					t.Errorf("the page before the one after %q begins after %q, want %q", before, got, want)
				}
				return err
			}))
		}
	})
}

// first names a top-up that exists.
func (w *world) first(tx *db.Tx) string {
	page, err := tx.TopUpAfter(w.Context(), "")
	if err != nil || len(page) == 0 {
		return ""
	}
	return page[0].TopUpID
}

// TestAnInvoiceSaysWhatWasPaidAndNeverChanges: its tax is the provider's, or contained in
// the price; credit notes of a payment that is given back whole add up to it.
func TestAnInvoiceSaysWhatWasPaidAndNeverChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.pay() // before any setting: a receipt
		w.issuer(studio)
		buyer := invoice.Party{Name: "Ada's Studio", Address: "1 Main St\nTown", TaxID: "GB 1"}
		w.write(func(ctx context.Context, tx *db.Tx) error { return invoice.SetBilling(ctx, tx, w.workspace, buyer) })
		contained := w.pay()
		w.provider.SetTax(7)
		added := w.pay()
		before := w.invoices(w.workspace)
		for _, cents := range []int64{333, 1, 2166} {
			w.must(w.provider.Refund(contained, cents))
			w.deliver()
		}
		for _, cents := range []int64{1000, 1675} {
			w.must(w.provider.Refund(added, cents))
			w.deliver()
		}
		w.issuer(invoice.Issuer{Prefix: "NEW-"})
		w.write(func(ctx context.Context, tx *db.Tx) error {
			return invoice.SetBilling(ctx, tx, w.workspace, invoice.Party{})
		})
		all := w.invoices(w.workspace)
		if !slices.Equal(all[:3], before) {
			t.Errorf("invoices changed: %+v was %+v", all[:3], before)
		}
		var got []string
		for _, i := range all {
			got = append(got, fmt.Sprintf("%s %s %d = %d + %d at %d, %d to the wallet, %s of %q to %q", i.Number, i.Kind, i.TotalCents, i.NetCents, i.TaxCents, i.TaxBasisPoints, i.CreditCents, i.Corrects, i.Seller.Name, i.Buyer.Name))
		}
		const parties = ` of "Větrná Farma GmbH" to "Ada's Studio"`
		want := []string{
			`INV-000001 receipt 2500 = 2500 + 0 at 0, 2500 to the wallet,  of "" to ""`,
			`R-2027-000002 invoice 2500 = 2101 + 399 at 1900, 2500 to the wallet, ` + parties,
			`R-2027-000003 invoice 2675 = 2500 + 175 at 0, 2500 to the wallet, ` + parties,
			`R-2027-000004 credit_note 333 = 280 + 53 at 1900, 333 to the wallet, R-2027-000002` + parties,
			`R-2027-000005 credit_note 1 = 1 + 0 at 1900, 1 to the wallet, R-2027-000002` + parties,
			`R-2027-000006 credit_note 2166 = 1820 + 346 at 1900, 2166 to the wallet, R-2027-000002` + parties,
			`R-2027-000007 credit_note 1000 = 935 + 65 at 0, 934 to the wallet, R-2027-000003` + parties,
			`R-2027-000008 credit_note 1675 = 1565 + 110 at 0, 1566 to the wallet, R-2027-000003` + parties,
		}
		if !slices.Equal(got, want) {
			t.Errorf("invoices are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestALostDisputeHasACreditNoteAndAnOpenOneHasNone: the notes of refunds and chargebacks add up
// to the invoice, however the provider repeats itself.
func TestALostDisputeHasACreditNoteAndAnOpenOneHasNone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.issuer(studio)
		w.provider.SetTax(7)
		id := w.pay()
		numbers := func(want int, when string) []invoice.Invoice {
			all := w.invoices(w.workspace)
			if len(all) != want {
				t.Fatalf("%s: %d documents, want %d: %+v", when, len(all), want, all)
			}
			return all
		}
		dispute := func() {
			_, err := w.provider.Dispute(id)
			w.must(err)
			w.deliver()
		}
		dispute()
		numbers(1, "an open dispute")
		w.must(w.provider.Close(id, true))
		w.deliver()
		numbers(1, "a dispute that is won")
		w.must(w.provider.Refund(id, 1000))
		w.deliver()
		numbers(2, "a refund")
		dispute()
		numbers(2, "another open dispute")
		w.must(w.provider.Close(id, false))
		w.deliver()
		for _, e := range w.provider.Events() {
			w.must(w.ring(e)) // again
		}
		w.must(w.Read(t.Context(), id, nil))
		all := numbers(3, "a dispute that is lost")
		var got []string
		for _, i := range all {
			got = append(got, fmt.Sprintf("%s %s %q of %d = %d + %d, %d to the wallet, corrects %s", i.Number, i.Kind, i.Reason, i.TotalCents, i.NetCents, i.TaxCents, i.CreditCents, i.Corrects))
		}
		want := []string{
			`R-2027-000001 invoice "" of 2675 = 2500 + 175, 2500 to the wallet, corrects `,
			`R-2027-000002 credit_note "refund" of 1000 = 935 + 65, 934 to the wallet, corrects R-2027-000001`,
			`R-2027-000003 credit_note "chargeback" of 1675 = 1565 + 110, 1565 to the wallet, corrects R-2027-000001`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("documents are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		text := read(t, all[2])
		for _, part := range []string{"Credit note", "Corrects R-2027-000001", "Render credit, charged back", "Reason: chargeback", "16.75"} {
			if !strings.Contains(text, part) {
				t.Errorf("the PDF has no %q in\n%s", part, text)
			}
		}
		var csv bytes.Buffer
		w.must(invoice.WriteCSV(sheet.New(&csv, sheet.Form{}), all))
		if !strings.Contains(csv.String(), "-16.75,chargeback") || !strings.Contains(csv.String(), "-10.00,refund") {
			t.Errorf("the CSV is %s", csv.String())
		}
		w.audit()

		w.must(w.provider.Overturn(id))
		w.deliver()
		for _, e := range w.provider.Events() {
			w.must(w.ring(e)) // again
		}
		w.must(w.Read(t.Context(), id, nil))
		back := numbers(4, "a lost dispute that the bank gives back")[3]
		if back.Number != "R-2027-000004" || back.Kind != invoice.Bill || back.Reason != invoice.ChargebackWon || back.Corrects != "R-2027-000003" ||
			back.Signed(back.TotalCents) != 1675 || back.TaxCents != 110 || back.CreditCents != 1565 {
			t.Errorf("it is %+v", back)
		}
		text = read(t, back)
		for _, part := range []string{"Invoice", "Reverses R-2027-000003", "Render credit, chargeback reversed", "gave the payment back", "Credit added to the wallet: 15.65"} {
			if !strings.Contains(text, part) {
				t.Errorf("the PDF has no %q in\n%s", part, text)
			}
		}
		w.audit()

		w.must(w.provider.Refund(id, 1675)) // the rest
		w.deliver()
		sum := int64(0)
		for _, i := range numbers(5, "a refund of all") {
			sum += i.Signed(i.TotalCents)
		}
		if sum != 0 {
			t.Errorf("the documents of a payment that is given back add up to %d cents", sum)
		}
		w.audit()
	})
}

// TestTheAuditMissesNoInvoice: of one that is gone or changed, whatever its checksum says, of
// a number that was given to none, and of a payment or a refund without one.
func TestTheAuditMissesNoInvoice(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, dbtest.Open(t, db.Config{URL: url}))
		for range 3 {
			w.pay()
		}
		id := w.pay()
		w.must(w.provider.Refund(id, 100))
		w.deliver()
		lost := w.pay() // number 6, and its credit note 7
		_, err := w.provider.Dispute(lost)
		w.must(err, w.provider.Close(lost, false))
		w.deliver()
		back := w.pay() // number 8, its credit note 9, and what reverses that
		_, err = w.provider.Dispute(back)
		w.must(err, w.provider.Close(back, false))
		w.deliver()
		w.must(w.provider.Overturn(back))
		w.deliver()
		w.audit()
		raw := dbtest.Raw(t, url)
		for _, c := range []struct{ damage, repair, rule string }{
			{`UPDATE invoice_issuer SET last_serial = 11`, `UPDATE invoice_issuer SET last_serial = 10`, "no gaps"},
			{`UPDATE invoice SET serial = 12 WHERE serial = 2`, `UPDATE invoice SET serial = 2 WHERE serial = 12`, "no gaps"},
			{`UPDATE invoice SET reference = 'x won' WHERE serial = 10`, `UPDATE invoice SET reference = (SELECT n.reference FROM invoice n WHERE n.serial = 9) || ' won' WHERE serial = 10`, "each credit note of a chargeback"},
			{`UPDATE invoice SET total_cents = 2499, net_cents = 2499 WHERE serial = 10`, `UPDATE invoice SET total_cents = 2500, net_cents = 2500 WHERE serial = 10`, "take off no more"},
			{`UPDATE invoice SET credit_cents = 2499 WHERE serial = 10`, `UPDATE invoice SET credit_cents = 2500 WHERE serial = 10`, "what the ledger says"},
			{`UPDATE invoice SET kind = 'credit_note' WHERE serial = 10`, `UPDATE invoice SET kind = 'receipt' WHERE serial = 10`, "add up"},
			{`UPDATE invoice SET corrects = '' WHERE serial = 10`, `UPDATE invoice SET corrects = (SELECT n.number FROM invoice n WHERE n.serial = 9) WHERE serial = 10`, "add up"},
			{`UPDATE invoice SET reference = 'x' WHERE serial = 2`, `UPDATE invoice SET reference = top_up_id WHERE serial = 2`, "each payment has one invoice"},
			{`UPDATE invoice SET reference = 'x' WHERE serial = 5`, `UPDATE invoice SET reference = top_up_id || ' refund 100' WHERE serial = 5`, "each payment has one invoice"},
			{`UPDATE invoice SET credit_cents = 2501 WHERE serial = 3`, `UPDATE invoice SET credit_cents = 2500 WHERE serial = 3`, "what the ledger says"},
			{`UPDATE invoice SET credit_cents = 2501 WHERE serial = 7`, `UPDATE invoice SET credit_cents = 2500 WHERE serial = 7`, "what the ledger says"},
			{`UPDATE invoice SET reason = '' WHERE serial = 7`, `UPDATE invoice SET reason = 'chargeback' WHERE serial = 7`, "what the ledger says"},
			{`UPDATE invoice SET reason = 'chargeback' WHERE serial = 5`, `UPDATE invoice SET reason = '' WHERE serial = 5`, "what the ledger says"},
			{`UPDATE invoice SET reason = 'chargeback' WHERE serial = 3`, `UPDATE invoice SET reason = '' WHERE serial = 3`, "add up"},
			{`UPDATE invoice SET reason = 'gift' WHERE serial = 7`, `UPDATE invoice SET reason = 'chargeback' WHERE serial = 7`, "add up"},
			{`UPDATE invoice SET total_cents = 2501 WHERE serial = 3`, `UPDATE invoice SET total_cents = 2500 WHERE serial = 3`, "add up"},
			{`UPDATE invoice SET total_cents = 99, net_cents = 99 WHERE serial = 4`, `UPDATE invoice SET total_cents = 2500, net_cents = 2500 WHERE serial = 4`, "take off no more"},
		} {
			if _, err := raw.ExecContext(t.Context(), c.damage); err != nil {
				t.Fatalf("%s: %v", c.damage, err)
			}
			var rules []string
			w.must(w.DB.Read(w.Context(), func(tx *db.Tx) error {
				return invoice.Audit(w.Context(), tx, func(rule, _, _ string, _ ...any) { rules = append(rules, rule) })
			}))
			if !strings.Contains(strings.Join(rules, "; "), c.rule) {
				t.Errorf("%s: the audit finds %v, want %q", c.damage, rules, c.rule)
			}
			if _, err := raw.ExecContext(t.Context(), c.repair); err != nil {
				t.Fatalf("%s: %v", c.repair, err)
			}
		}
		w.audit()
	})
}

// TestTheFiguresOfAPDFAreThoseOfTheLedger reads the PDFs back with another program.
func TestTheFiguresOfAPDFAreThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.issuer(studio)
		id := w.pay()
		w.must(w.provider.Refund(id, 1234))
		w.deliver()
		booked := map[wallet.Kind]int64{}
		w.must(w.DB.Read(w.Context(), func(tx *db.Tx) error {
			entries, err := wallet.Transactions(w.Context(), tx, w.workspace, "", 100)
			for _, e := range entries {
				booked[e.Kind] += e.AmountCents
			}
			return err
		}))
		for _, i := range w.invoices(w.workspace) {
			text := read(t, i)
			kind := map[invoice.Kind]wallet.Kind{invoice.Bill: wallet.TopUp, invoice.CreditNote: wallet.TopUpRefunded}[i.Kind]
			net, tax, total := cents(t, text, `Render credit.*?`), cents(t, text, `Tax, 19%`), cents(t, text, `Total`)
			if total != booked[kind] || net+tax != total || cents(t, text, `the wallet:`) != total {
				t.Errorf("%s of %d cents: %d and %d of tax are %d in\n%s", kind, booked[kind], net, tax, total, text)
			}
			for _, want := range []string{i.Number, "Větrná Farma GmbH", "Straße 1", "DE123456789", "Workspace " + w.workspace, i.TopUpID, "Payable at once."} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
		}
	})
}

// cents reads the amount after a label.
func cents(t *testing.T, text, label string) (n int64) {
	t.Helper()
	found := regexp.MustCompile(`(?m)` + label + `\s+(\d+)\.(\d\d)\b`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no amount of %s in\n%s", label, text)
	}
	if _, err := fmt.Sscan(found[1]+found[2], &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// read is the text of an invoice's PDF, which is the same each time.
func read(t *testing.T, i invoice.Invoice) string {
	t.Helper()
	first, err := i.PDF(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := i.PDF(t.Context()); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the PDF of %s differs from itself: %v", i.Number, err)
	}
	program := exec.CommandContext(t.Context(), "pdftotext", "-layout", "-", "-")
	program.Stdin = bytes.NewReader(first)
	text, err := program.Output()
	if err != nil {
		t.Fatalf("pdftotext (scripts/install-tools pdf): %v", err)
	}
	return string(text)
}

// TestWhatAnInvoiceCannotShowIsRefused, and a row that has it shows an escape.
func TestWhatAnInvoiceCannotShowIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for text, why := range map[string]string{
			"東京スタジオ": "'東'", "a\u202eb": "cannot show", "a\x00b": "cannot show", "🎬": "cannot show", strings.Repeat("x", 121): "at most 120", "two\nlines": "must have one",
		} {
			err := w.DB.Write(t.Context(), func(tx *db.Tx) error {
				return invoice.SetBilling(t.Context(), tx, w.workspace, invoice.Party{Name: text})
			})
			if !fault.Is(err, fault.InvalidRequest) || !strings.Contains(err.Error(), why) {
				t.Errorf("%q: %v, want %q", text, err, why)
			}
		}
		for _, i := range []invoice.Issuer{
			{Prefix: "A1"}, {Prefix: "a-"}, {Prefix: "../-"}, {Prefix: strings.Repeat("A", 16) + "-"}, {},
			{Prefix: "A-", TaxBasisPoints: 1900}, {Prefix: "A-", Party: invoice.Party{TaxID: "1"}}, {Prefix: "A-", TaxBasisPoints: 10_001, Party: studio.Party},
		} {
			if err := w.DB.Write(t.Context(), func(tx *db.Tx) error { return invoice.SetIssuer(t.Context(), tx, i) }); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("%+v: %v", i, err)
			}
		}
		long := invoice.Party{Name: strings.Repeat("Ω(\\)Ж", 24), Address: strings.TrimSpace(strings.Repeat("Ulica e\u0301 <b>%s 9\r\n", 6)), TaxID: strings.Repeat("W", 40)}
		w.write(func(ctx context.Context, tx *db.Tx) error { return invoice.SetBilling(ctx, tx, w.workspace, long) })
		w.pay()
		i := w.invoices(w.workspace)[0]
		text := read(t, i)
		if got := strings.Join(strings.Fields(text), ""); !strings.Contains(got, long.Name) || !strings.Contains(got, long.TaxID) || strings.Count(got, "Ulicaé<b>%s9") != 6 {
			t.Errorf("a text is not whole in\n%s", text)
		}
		i.Buyer.Name = "東京 & \u202eevil"
		if text := read(t, i); !strings.Contains(text, `\u6771\u4eac & \u202eevil`) {
			t.Errorf("what the font cannot show vanished in\n%s", text)
		}
		if pages := strings.Count(text, "\f"); pages != 1 {
			t.Errorf("the longest texts need %d pages", pages)
		}
	})
}

// TestThePaymentProviderWritesNoInvoiceWhereWeWriteOne, so that a payment has one.
func TestThePaymentProviderWritesNoInvoiceWhereWeWriteOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.create()
		w.issuer(studio)
		w.create()
		if got := w.provider.Invoices(); !slices.Equal(got, []bool{true, false}) {
			t.Errorf("the provider was asked for invoices: %v", got)
		}
	})
}
