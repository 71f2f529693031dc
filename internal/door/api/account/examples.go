package account

import (
	"strings"
	"time"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/job"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/wallet"
)

// Examples returns the bodies of these routes, by schema name, with URLs built
// by at.
func Examples(at links.Links) map[string]any {
	var money walletOutput
	money.Body.OK, money.Body.WorkspaceID, money.Body.AvailableCents, money.Body.ReservedCents, money.Body.Currency = true, sample.WorkspaceID, 9750, 250, contract.Currency
	var ledger transactionsOutput
	ledger.Body.OK = true
	ledger.Body.Transactions = []transactionBody{{
		TransactionID: "TXN-0198c0de000070008000000000000007", Kind: wallet.Reserved, Reference: "job:" + sample.JobID, JobID: new(sample.JobID), StartedBy: sample.Person(), AmountCents: 250,
		Currency: contract.Currency, CreatedAt: sample.Time(time.Minute),
	}}
	var renders rendersOutput
	renders.Body.OK, renders.Body.Renders = true, []job.Object{sample.Job(at, job.FlowJobAPI, job.Completed)}
	var pages proofPagesInput
	var paged proofPagesOutput
	pages.Body.Shown, paged.Body.OK, paged.Body.Shown = true, true, true
	var topUp topUpOutput
	topUp.Body.OK, topUp.Body.TopUp = true, shownTopUp(payment.TopUp{
		ID: "TOP-0198c0de000070008000000000000007", Status: payment.Open, AmountCents: 2500, CheckoutURL: "https://checkout.stripe.com/c/pay/cs_live_a1b2", CreatedAt: sample.Time(0),
	})
	var topUps topUpsOutput
	topUps.Body.OK, topUps.Body.TopUps = true, []TopUp{topUp.Body.TopUp}
	var billed invoiceOutput
	billed.Body.OK, billed.Body.Invoice = true, shownInvoice(at, invoice.Invoice{
		Number: "INV-000042", Kind: invoice.Bill, TopUpID: topUp.Body.TopUpID, NetCents: 2101, TaxCents: 399, TotalCents: 2500, TaxBasisPoints: 1900, CreditCents: 2500,
		Seller: invoice.Party{Name: "Render Farm GmbH", Address: "Example Street 1\n10115 Berlin", TaxID: "DE123456789"}, Buyer: invoice.Party{Name: "Ada's Studio", Address: "1 Main Street\nLondon"},
		IssuedAt: sample.Time(0),
	})
	var invoices invoicesOutput
	invoices.Body.OK, invoices.Body.Invoices = true, []Invoice{billed.Body.Invoice}
	var spent spendOutput
	spent.Body.OK, spent.Body.ChargedCents, spent.Body.RefundedCents, spent.Body.SpentCents, spent.Body.Currency = true, 250, 20, 230, contract.Currency
	spent.Body.Rows = []spendRow{{StartedBy: sample.Person(), ChargedCents: 250, RefundedCents: 20, SpentCents: 230}}
	var filter filterOutput
	filter.Body.OK, filter.Body.SavedFilter = true, SavedFilter{FilterID: "FLT-0198c0de000070008000000000000007", Name: "Failed hero shots", Status: job.Failed, Tag: "hero", CreatedAt: sample.Time(0)}
	var filters filtersOutput
	filters.Body.OK, filters.Body.Filters = true, []SavedFilter{filter.Body.SavedFilter}
	var unfiltered filterDeletedOutput
	unfiltered.Body.OK, unfiltered.Body.FilterID, unfiltered.Body.Deleted = true, filter.Body.FilterID, true
	bodies := map[string]any{
		"FilterWish": filterWish{Name: filter.Body.Name, Status: job.Failed, Tag: "hero"}, "FilterOutput": filter.Body, "FiltersOutput": filters.Body, "FilterDeletedOutput": unfiltered.Body,
		"Spend":         spent.Body,
		"InvoiceOutput": billed.Body, "InvoicesOutput": invoices.Body,
		"TopUpInput": map[string]int{"amount_cents": 2500}, "AlertInput": map[string]int{"below_cents": 500}, "TopUpOutput": topUp.Body, "TopUpsOutput": topUps.Body,
		"EventOutput":      map[string]bool{"ok": true},
		"WorkspaceRenders": renders.Body, "Wallet": money.Body, "WalletTransactions": ledger.Body,
		"ProofPagesInput": pages.Body, "ProofPagesOutput": paged.Body,
		"LinkRequest": map[string]string{"email": "you@example.com"}, "Done": map[string]bool{"ok": true}, "SignedOut": map[string]bool{"ok": true},
		"BrowserSession": sessionBody{true, "you@example.com", sample.WorkspaceID},
	}
	addKeys(bodies)
	return bodies
}

// addKeys adds the examples of keys.
func addKeys(bodies map[string]any) {
	secret := strings.Repeat("0aZ9bY8cX7d", 4)[:43]
	used, spend := sample.Time(time.Hour), new(int64(5000))
	days, ends := int64(90), sample.Time(90*24*time.Hour)
	bodies["ApiKeyCreateRequest"] = apiKeyCreateRequest{Name: "render farm"}
	bodies["ApiKeyCreated"] = apiKeyCreated{true, contract.AccountKeyPrefix + secret, sample.KeyID, "render farm", sample.Time(0)}
	bodies["ApiKeyList"] = apiKeyList{true, []apiKeyMetadata{
		{sample.KeyID, "render farm", contract.AccountKeyPrefix + secret[:8] + "…", sample.Time(0), &used, nil, sample.Person()},
	}}
	ahead := 86400.0
	bodies["TestClockRequest"] = testClockRequest{AdvanceSeconds: &ahead}
	bodies["TestClock"] = testClockBody{true, sample.Time(24 * time.Hour), ahead}
	bodies["ApiKeyRevoked"] = apiKeyRevoked{true, sample.KeyID, true}
	bodies["AgentKeyCreateRequest"] = agentKeyCreateRequest{Name: "nightly agent", SpendLimitCents: spend, ExpiresInDays: &days}
	bodies["AgentKeyCreated"] = agentKeyCreated{true, contract.AgentKeyPrefix + secret, sample.KeyID, "nightly agent", spend, sample.Time(0), &ends}
	bodies["AgentKeyList"] = agentKeyList{true, []agentKeyMetadata{
		{sample.KeyID, "nightly agent", contract.AgentKeyPrefix + secret[:8] + "…", spend, sample.Time(0), &used, nil, 120, &ends, sample.Person()},
	}}
}
