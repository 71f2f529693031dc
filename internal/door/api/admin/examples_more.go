package admin

import (
	"strings"
	"time"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/contract"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/testmode"
)

// keyExamples are the answers of the routes that list keys.
type keyExamples struct {
	node, workspace operator.KeyList
	operator        operator.OperatorKeyList
	signing         operator.SigningKeyList
}

func exampleKeys() keyExamples {
	key := func(kind, name, prefix string) operator.KeyList {
		return operator.KeyList{OK: true, Keys: []operator.ListedKey{{KeyID: sample.KeyID, Kind: kind, Name: name, MaskedPrefix: prefix + "1aB9xY0z…", CreatedAt: sample.Time(0)}}}
	}
	return keyExamples{
		node: key("node", "gpu-1", contract.NodeKeyPrefix), workspace: key("agent", "nightly agent", contract.AgentKeyPrefix),
		operator: operator.OperatorKeyList{OK: true, Keys: []identity.ListedOperatorKey{{
			KeyID: sample.KeyID, Name: "dashboard", Scope: identity.OperatorReads, MaskedPrefix: contract.OperatorKeyPrefix + "1aB9xY0z…", CreatedAt: sample.Time(0),
		}}},
		signing: operator.SigningKeyList{OK: true, Keys: []operator.ListedSigningKey{{KeyID: strings.Repeat("5e", 32), ValidFrom: sample.Time(0)}}},
	}
}

// checkExamples are the answers of the routes that look for what is wrong.
type checkExamples struct {
	audit          operator.LastAudited
	reconciliation Reconciliation
	worlds         operator.TestWorldList
}

func exampleChecks() checkExamples {
	return checkExamples{
		audit: operator.LastAudited{OK: true, Audit: &operator.AuditFound{
			BeganAt: sample.Time(0), EndedAt: sample.Time(time.Minute), Jobs: 12, Wallets: 3, Receipts: 11, Leaves: 11, Breaches: []operator.FoundBreach{},
		}},
		reconciliation: Reconciliation{OK: true, From: sample.Time(-30 * 24 * time.Hour), To: sample.Time(0), Reconciled: payment.Reconciled{Pages: 1, TopUps: 1, PaidCents: 10_000, Differences: []payment.Difference{}}},
		worlds: operator.TestWorldList{OK: true, Bytes: 1 << 20, Worlds: []operator.MeasuredWorld{{
			World: testmode.World{WorkspaceID: sample.WorkspaceID, CreatedAt: sample.Time(0), UsedAt: sample.Time(time.Minute)}, Bytes: 1 << 20,
		}}},
	}
}

// invoiceExamples are the answers of the routes of invoices.
type invoiceExamples struct {
	invoices operator.InvoiceList
	seller   operator.Seller
}

func exampleInvoices() invoiceExamples {
	return invoiceExamples{
		invoices: operator.InvoiceList{OK: true, Invoices: []operator.ListedInvoice{{
			Number: "INV-1", Kind: invoice.Bill, IssuedAt: sample.Time(0), WorkspaceID: sample.WorkspaceID, TopUpID: "TOP-0198c0de00007000800000000000000e", Buyer: "Example Studio", NetCents: 8_403, TaxCents: 1_597, TotalCents: 10_000,
		}}},
		seller: operator.Seller{Company: "Example Ltd", Address: "1 Example Street\nExample Town", TaxID: "EX123456789", TaxBasisPoints: 1_900, Prefix: "INV-"},
	}
}

// upkeepExamples are the answers of routes that keep the service in order.
type upkeepExamples struct {
	people  operator.PersonList
	domains operator.DomainList
	reuse   operator.ReuseList
}

func exampleUpkeep() upkeepExamples {
	return upkeepExamples{
		people: operator.PersonList{OK: true, Operators: []identity.Operator{{Email: "you@example.com", WorkspaceID: sample.WorkspaceID, Since: sample.Time(0)}}},
		domains: operator.DomainList{OK: true, Domains: []operator.ListedDomain{{
			Domain: "studio.example", WorkspaceID: sample.WorkspaceID, Role: identity.Member, ClaimedBy: "you@studio.example", ClaimedAt: sample.Time(0),
		}}},
		reuse: operator.ReuseList{OK: true, Classes: []reuse.ComparedClass{{
			ClassID: strings.Repeat("c1", 8), Class: reuse.Class{Renderer: contract.RendererID, Device: contract.RenderDevice, DeviceName: sample.Device, BlenderVersion: contract.BlenderVersion}, Agreed: 40,
		}}},
	}
}
