package money_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/wallet"
)

// bookkeeper is a person with a browser, and the workspace's keys.
type bookkeeper struct {
	story.Caller
	svc      *story.Service
	provider *stripetest.Provider
	session  string
}

// TestABookkeeperHasAnInvoiceForEachPaymentAndSpendToTheCent: the operator says who sells, a
// person says who buys and pays twice, gets a part back, and renders with two keys. The
// figures of PDFs, page and CSVs are the ledger's, after the workspace is erased too.
func TestABookkeeperHasAnInvoiceForEachPaymentAndSpendToTheCent(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		b := &bookkeeper{provider: stripetest.New(t)}
		config.Stripe = &app.Stripe{Key: stripetest.Key, Secrets: []string{stripetest.Secret}, URL: b.provider.URL}
		if !strings.HasPrefix(config.Database, "postgres:") {
			config.Database = "" // in the data folder, where svc admin looks
		}
		b.svc = story.Start(t, config)
		b.Caller = b.svc.Caller(0)
		b.signIn()
		b.admin("invoice", "set", "--company", "Render Farm GmbH", "--tax-id", "DE123456789", "--tax-basis-points", "1900", "--yes")
		b.send("/console/wallet/billing", "name", "=Ada's Studio", "address", "1 Main St\r\nTown", "tax_id", "GB 1")
		first, second := b.pay("25"), b.pay("10")
		if err := b.provider.Refund(first, 500); err != nil {
			t.Fatal(err)
		}
		b.ring()
		b.svc.Worker(&story.Painter{})
		for _, frames := range []int{3, 2} {
			b.Fetch(b.Await(b.StartFrames(frames).JobID, client.StatusCompleted), frames)
		}
		b.svc.Write(func(ctx context.Context, tx *db.Tx) error {
			all, err := wallet.Transactions(ctx, tx, b.Workspace, "", 100)
			for _, e := range all {
				if e.Kind == wallet.Captured && e.AmountCents == 3 {
					_, err = wallet.Refund(ctx, tx, e.JobID, "one bad frame", 1)
				}
			}
			return err
		})
		b.spendIsTheLedgers()
		b.papersAreTheLedgers(first, second)
		b.strangersReadNone()
	})
}

// signIn opens a session of the workspace's person.
func (b *bookkeeper) signIn() {
	b.T.Helper()
	b.svc.Write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, b.Workspace)
		if err != nil {
			return err
		}
		token, err := identity.CreateSignInLink(ctx, tx, emails[0])
		if err != nil {
			return err
		}
		opened, err := identity.SignIn(ctx, tx, token, "")
		b.session = opened.Token
		return err
	})
}

// admin runs svc admin on the store.
func (b *bookkeeper) admin(words ...string) string {
	b.T.Helper()
	command := exec.CommandContext(b.T.Context(), apptest.Binary(b.T), append([]string{"admin"}, words...)...)
	command.Env = append(os.Environ(), "SVC_DATA="+b.svc.Config.Data)
	if url := b.svc.Config.Database; url != "" {
		command.Env = append(command.Env, "SVC_DATABASE="+url)
	}
	said, err := command.CombinedOutput()
	if err != nil {
		b.T.Fatalf("svc admin %s: %v\n%s", strings.Join(words, " "), err, said)
	}
	return string(said)
}

// ask sends a request of the person's browser.
func (b *bookkeeper) ask(method, path, session string, content io.Reader) (status int, text string) {
	b.T.Helper()
	r, err := http.NewRequestWithContext(story.Patient(b.T), method, b.svc.URL+path, content)
	if err != nil {
		b.T.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: contract.SessionCookie, Value: session})
	if content != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.svc.URL)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.T.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		b.T.Fatal(err)
	}
	return res.StatusCode, string(all)
}

// open reads a page or a file.
func (b *bookkeeper) open(path string) string {
	b.T.Helper()
	status, text := b.ask(http.MethodGet, path, b.session, nil)
	if status != http.StatusOK {
		b.T.Fatalf("%s: %d %s", path, status, text)
	}
	return text
}

// send posts a form.
func (b *bookkeeper) send(path string, fields ...string) string {
	b.T.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	status, text := b.ask(http.MethodPost, path, b.session, strings.NewReader(form.Encode()))
	if status != http.StatusOK {
		b.T.Fatalf("%s: %d %s", path, status, text)
	}
	return text
}

// pay pays for a top-up of so many dollars.
func (b *bookkeeper) pay(dollars string) string {
	b.T.Helper()
	b.send("/console/wallet/top-ups", "amount", dollars)
	id := b.provider.Newest()
	if err := b.provider.Pay(id); err != nil {
		b.T.Fatal(err)
	}
	b.ring()
	return id
}

// ring delivers the provider's events.
func (b *bookkeeper) ring() {
	b.T.Helper()
	for _, e := range b.provider.Events() {
		r, err := http.NewRequestWithContext(story.Patient(b.T), http.MethodPost, b.svc.URL+"/v1/payments/stripe", bytes.NewReader(e.Body))
		if err != nil {
			b.T.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Stripe-Signature", stripetest.Sign(e.Body, stripetest.Secret, time.Now()))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			b.T.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.T.Fatalf("the event %s: %d", e.Type, res.StatusCode)
		}
	}
}

// ledger adds the ledger up by kind.
func (b *bookkeeper) ledger() map[wallet.Kind]int64 {
	b.T.Helper()
	sums := map[wallet.Kind]int64{}
	b.svc.Read(func(ctx context.Context, tx *db.Tx) error {
		all, err := wallet.Transactions(ctx, tx, b.Workspace, "", 1000)
		for _, e := range all {
			sums[e.Kind] += e.AmountCents
		}
		return err
	})
	return sums
}

// column adds up a column of a CSV.
func (b *bookkeeper) column(text, name string) (cents int64) {
	b.T.Helper()
	in, point := csv.NewReader(strings.NewReader(text)), "."
	if head, _, _ := strings.Cut(text, "\n"); strings.Contains(head, ";") {
		in.Comma, point = ';', ","
	}
	rows, err := in.ReadAll()
	if err != nil {
		b.T.Fatal(err)
	}
	for _, row := range rows[1:] {
		for i, head := range rows[0] {
			if head != name {
				continue
			}
			n, err := strconv.ParseInt(strings.Replace(row[i], point, "", 1), 10, 64)
			if err != nil {
				b.T.Fatal(err)
			}
			cents += n
		}
	}
	return cents
}

// spendIsTheLedgers compares CSV and page with the ledger.
func (b *bookkeeper) spendIsTheLedgers() {
	b.T.Helper()
	sums, file := b.ledger(), b.open("/console/wallet/spend.csv")
	charged, refunded := sums[wallet.Captured], sums[wallet.Refunded]
	if charged != 5 || refunded != 1 || b.column(file, "charged") != -charged || b.column(file, "refunded") != refunded || b.column(file, "amount") != refunded-charged {
		b.T.Errorf("the ledger has %d cents charged and %d refunded, the CSV is\n%s", charged, refunded, file)
	}
	page := b.open("/console/wallet")
	for _, want := range []string{"<svg", "Spent from 20", "$0.04", "By person in 20", "By key in 20", "By tags in 20", "without tags", `href="/console/wallet/invoices/INV-000002"`} {
		if !strings.Contains(page, want) {
			b.T.Errorf("the wallet's page lacks %q", want)
		}
	}
	if comma := b.open("/console/wallet/spend.csv?decimal=comma"); !strings.Contains(comma, "amount") || b.column(comma, "amount") != refunded-charged {
		b.T.Errorf("with decimal commas the spend adds up to another sum:\n%s", comma)
	}
	for _, form := range []string{"", "?decimal=comma"} {
		all := b.open("/console/wallet/ledger.csv" + form)
		if available := sums[wallet.TopUp] - sums[wallet.Settled] - charged + refunded; b.column(all, "amount") != available {
			b.T.Errorf("%d cents are available, ledger.csv%s adds up to another sum:\n%s", available, form, all)
		}
	}
}

// papersAreTheLedgers reads PDFs and the operator's CSV.
func (b *bookkeeper) papersAreTheLedgers(first, second string) {
	b.T.Helper()
	sums := b.ledger()
	for number, want := range map[string]string{
		"INV-000001": `Invoice INV-000001 Render credit 21.01 Tax, 19% 3.99 Total 25.00 Payment ` + first,
		"INV-000002": `Invoice INV-000002 Render credit 8.40 Tax, 19% 1.60 Total 10.00 Payment ` + second,
		"INV-000003": `Credit note INV-000003 Corrects INV-000001 Render credit, refunded 4.21 Tax, 19% 0.79 Total 5.00 Payment ` + first,
	} {
		file := b.open("/console/wallet/invoices/" + number)
		text := strings.Join(strings.Fields(b.textOf(file)), " ")
		for _, word := range append(strings.Fields(want), "=Ada's", "Render Farm GmbH", "1 Main St Town") {
			if !strings.Contains(text, word) {
				b.T.Errorf("%s lacks %q:\n%s", number, word, text)
			}
		}
		out := filepath.Join(b.T.TempDir(), number+".pdf")
		b.admin("invoice", "pdf", number, "--out", out)
		if same, err := os.ReadFile(out); err != nil || string(same) != file {
			b.T.Errorf("%s of the operator differs from the person's: %v", number, err)
		}
	}
	list := b.admin("invoice", "list", "--csv")
	if paid, back := sums[wallet.TopUp], sums[wallet.TopUpRefunded]; paid != 3500 || back != 500 || b.column(list, "total") != paid-back || !strings.Contains(list, ",'=Ada's Studio,") {
		b.T.Errorf("%d cents were paid and %d given back, the operator's CSV is\n%s", paid, back, list)
	}
	page := b.open("/console/wallet/invoices")
	for _, want := range []string{"INV-000003", "Credit note for INV-000001", "−$5.00", "=Ada&#39;s Studio"} {
		if !strings.Contains(page, want) {
			b.T.Errorf("the page of invoices lacks %q", want)
		}
	}
}

// textOf reads a PDF with another program.
func (b *bookkeeper) textOf(file string) string {
	b.T.Helper()
	program := exec.CommandContext(b.T.Context(), "pdftotext", "-layout", "-", "-")
	program.Stdin = strings.NewReader(file)
	text, err := program.Output()
	if err != nil {
		b.T.Fatalf("pdftotext (scripts/install-tools pdf): %v", err)
	}
	return string(text)
}

// strangersReadNone asks for invoices by their numbers, which anyone can guess.
func (b *bookkeeper) strangersReadNone() {
	b.T.Helper()
	other := &bookkeeper{svc: b.svc, Caller: b.svc.Caller(0)}
	other.signIn()
	for _, session := range []string{other.session, ""} {
		for _, path := range []string{"/console/wallet/invoices/INV-000001", "/v1/wallet/invoices/INV-000001", "/v1/wallet/invoices/INV-000001/pdf"} {
			if status, text := b.ask(http.MethodGet, path, session, nil); status != http.StatusNotFound && (session != "" || status != http.StatusUnauthorized) || strings.Contains(text, "Ada") {
				b.T.Errorf("a stranger reads %s: %d", path, status)
			}
		}
	}
	if text := other.open("/console/wallet/invoices"); strings.Contains(text, "INV-0") {
		b.T.Error("a stranger's list has invoices of another workspace")
	}
	var kept []invoice.Invoice
	b.svc.Read(func(ctx context.Context, tx *db.Tx) (err error) {
		kept, err = invoice.List(ctx, tx, b.Workspace, "", 10)
		return err
	})
	b.svc.Write(func(ctx context.Context, tx *db.Tx) error { return invoice.Erase(ctx, tx, b.Workspace) })
	if got := b.open("/console/wallet/invoices"); len(kept) != 3 || !strings.Contains(got, "INV-000003") || strings.Contains(got, "Studio") {
		b.T.Errorf("after the billing data is erased the page says\n%s", got)
	}
}
