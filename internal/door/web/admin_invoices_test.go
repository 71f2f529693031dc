package web_test

import (
	"net/http"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/stripetest"
)

// TestOperatorsFindInvoicesByNumberAndWorkspace, with the same PDFs that workspaces have. For
// others neither the list nor a PDF exists.
func TestOperatorsFindInvoicesByNumberAndWorkspace(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, databaseURL string) {
		provider := stripetest.New(t)
		running, url := apptest.Start(t, app.Config{Data: t.TempDir(), Database: databaseURL, Stripe: &app.Stripe{Key: stripetest.Key, Secrets: []string{stripetest.Secret}, URL: provider.URL}})
		w := &apptest.World{App: running, URL: url}
		ada, bob, op := personOf(t, w, 0), personOf(t, w, 0), operatorOf(t, w)
		op.open("/admin/invoices").want(t, http.StatusOK, "No invoices yet.")
		pay := func(p *person) (id string) {
			p.submit("/console/wallet/top-ups", "amount", "25").want(t, http.StatusOK)
			id = provider.Newest()
			if err := provider.Pay(id); err != nil {
				t.Fatal(err)
			}
			ring(t, url, provider)
			return id
		}
		ada.submit("/console/wallet/billing", "name", "<b>Ada & Co</b>").want(t, http.StatusOK)
		first := pay(ada)
		pay(bob)
		if err := provider.Refund(first, 500); err != nil {
			t.Fatal(err)
		}
		ring(t, url, provider)

		finds := func(query string, numbers ...string) {
			t.Helper()
			text := op.open("/admin/invoices?"+query).want(t, http.StatusOK).text
			for _, number := range []string{"INV-000001", "INV-000002", "INV-000003"} {
				listed := strings.Contains(text, `href="/admin/invoices/`+number+`"`)
				if listed != strings.Contains(strings.Join(numbers, " "), number) {
					t.Errorf("%s: %s is listed: %v", query, number, listed)
				}
			}
		}
		finds("", "INV-000003", "INV-000002", "INV-000001")
		finds("before=INV-000003", "INV-000002", "INV-000001")
		finds("q=inv-000001+", "INV-000003", "INV-000001")
		finds("q=INV-000003", "INV-000003", "INV-000001")
		finds("q="+ada.ID, "INV-000003", "INV-000001")
		finds("q=" + op.ID)
		for _, unknown := range []string{"q=INV-000004", "q=%25", "before=x", "q=WSP-0&before=INV-000001"} {
			finds(unknown)
		}
		page := op.open("/admin/invoices").want(t, http.StatusOK, "Credit note for INV-000001", "&lt;b&gt;Ada &amp; Co&lt;/b&gt;", "$5.00", "/admin/workspaces/"+bob.ID+`">`+bob.Email+"</a>")
		if strings.Contains(page.text, "<b>Ada") {
			t.Error("the buyer's name is markup")
		}
		for _, number := range []string{"INV-000001", "INV-000003"} {
			theirs, operators := ada.open("/console/wallet/invoices/"+number), op.open("/admin/invoices/"+number)
			if operators.status != http.StatusOK || !strings.HasPrefix(operators.text, "%PDF-") || operators.text != theirs.text {
				t.Errorf("%s: %d, %d bytes; the workspace has %d", number, operators.status, len(operators.text), len(theirs.text))
			}
		}
		op.open("/admin/invoices/INV-000009").want(t, http.StatusNotFound)
		for _, path := range []string{"/admin/invoices", "/admin/invoices/INV-000001"} {
			ada.open(path).want(t, http.StatusNotFound)
		}
	})
}
