package operator

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/testmode"
	"svc.example/internal/work/wallet"
)

// The types of this file, too, are what svc admin prints with --json and what the operators' API
// answers.

// KeyList is the keys of a workspace, or of workers.
type KeyList struct {
	OK   bool        `json:"ok" const:"true"`
	Keys []ListedKey `json:"keys" doc:"The newest first, revoked ones included."`
}

// KeysList lists the keys of a workspace; "" lists those of workers. Error: workspace_not_found.
func KeysList(ctx context.Context, tx *db.Tx, workspaceID string) (KeyList, error) {
	l := KeyList{OK: true}
	if workspaceID == "" {
		keys, err := identity.NodeKeys(ctx, tx)
		l.Keys = ListKeys("node", keys)
		return l, err
	}
	if _, err := wallet.Get(ctx, tx, workspaceID); err != nil { // there is such a workspace
		return l, err
	}
	var err error
	l.Keys, err = KeysOf(ctx, tx, workspaceID)
	return l, err
}

// OperatorKeyList is the keys of the operators' API.
type OperatorKeyList struct {
	OK   bool                         `json:"ok" const:"true"`
	Keys []identity.ListedOperatorKey `json:"keys" doc:"The newest first, revoked ones included."`
}

// ListedSigningKey is a key that signs, or signed, receipts and the log.
type ListedSigningKey struct {
	KeyID     string     `json:"key_id"`
	ValidFrom time.Time  `json:"valid_from"`
	ValidTo   *time.Time `json:"valid_to" doc:"Null if no end is set."`
	EndReason *string    `json:"end_reason" doc:"Null if no end is set."`
	EndSize   *int64     `json:"end_log_size" doc:"Leaves of the log at the end; null if it has not ended, or ended a moment ago."`
	Here      *bool      `json:"here,omitempty" doc:"Whether its private half is in the data folder. Only svc admin next to the store says so."`
}

// SigningKeyList is every published signing key.
type SigningKeyList struct {
	OK   bool               `json:"ok" const:"true"`
	Keys []ListedSigningKey `json:"signing_keys" doc:"The newest first, ended ones included."`
}

// SigningKeysList lists the published keys.
func SigningKeysList(ctx context.Context, tx *db.Tx) (SigningKeyList, error) {
	keys, err := signing.All(ctx, tx)
	l := SigningKeyList{OK: true, Keys: make([]ListedSigningKey, 0, len(keys))}
	for _, k := range keys {
		var end *time.Time
		if !k.ValidTo.IsZero() {
			end = &k.ValidTo
		}
		l.Keys = append(l.Keys, ListedSigningKey{KeyID: k.Key.ID(), ValidFrom: k.ValidFrom, ValidTo: end, EndReason: k.WhyEnded(), EndSize: k.LogSizeAtEnd()})
	}
	return l, err
}

// ListedInvoice is an invoice or a credit note.
type ListedInvoice struct {
	Number      string         `json:"number"`
	Kind        invoice.Kind   `json:"kind"`
	IssuedAt    time.Time      `json:"issued_at"`
	WorkspaceID string         `json:"workspace_id"`
	TopUpID     string         `json:"top_up_id"`
	Corrects    string         `json:"corrects" doc:"The invoice that a credit note corrects, or the credit note that an invoice reverses; empty otherwise."`
	Reason      invoice.Reason `json:"reason" enum:",refund,chargeback,chargeback_won" doc:"Why it corrects another document; empty otherwise."`
	Buyer       string         `json:"buyer"`
	BuyerTaxID  string         `json:"buyer_tax_id"`
	NetCents    int64          `json:"net_cents"`
	TaxCents    int64          `json:"tax_cents"`
	TotalCents  int64          `json:"total_cents"`
}

// InvoiceList is a page of invoices.
type InvoiceList struct {
	OK       bool            `json:"ok" const:"true"`
	Invoices []ListedInvoice `json:"invoices" doc:"The newest first."`
}

// ListInvoices is invoices as operators read them.
func ListInvoices(all []invoice.Invoice) InvoiceList {
	l := InvoiceList{OK: true, Invoices: make([]ListedInvoice, 0, len(all))}
	for _, i := range all {
		l.Invoices = append(l.Invoices, ListedInvoice{i.Number, i.Kind, i.IssuedAt, i.WorkspaceID, i.TopUpID, i.Corrects, i.Reason, i.Buyer.Name, i.Buyer.TaxID, i.NetCents, i.TaxCents, i.TotalCents})
	}
	return l
}

// Documents are the invoices for a table, as far as a list has them.
func (l InvoiceList) Documents() []invoice.Invoice {
	all := make([]invoice.Invoice, 0, len(l.Invoices))
	for _, i := range l.Invoices {
		all = append(all, invoice.Invoice{
			Number: i.Number, Kind: i.Kind, IssuedAt: i.IssuedAt, WorkspaceID: i.WorkspaceID, TopUpID: i.TopUpID, Corrects: i.Corrects, Reason: i.Reason,
			Buyer: invoice.Party{Name: i.Buyer, TaxID: i.BuyerTaxID}, NetCents: i.NetCents, TaxCents: i.TaxCents, TotalCents: i.TotalCents,
		})
	}
	return all
}

// ListedDomain is a domain of addresses whose people join a workspace.
type ListedDomain struct {
	Domain      string        `json:"domain"`
	WorkspaceID string        `json:"workspace_id"`
	Role        identity.Role `json:"role" enum:"member,viewer" doc:"What those who join get."`
	ClaimedBy   string        `json:"claimed_by" doc:"The owner who claimed it."`
	ClaimedAt   time.Time     `json:"claimed_at"`
}

// DomainList is a page of domains.
type DomainList struct {
	OK      bool           `json:"ok" const:"true"`
	Domains []ListedDomain `json:"domains" doc:"The newest first."`
}

// Domains lists the domains of a workspace, or with "" of all.
func Domains(ctx context.Context, tx *db.Tx, workspaceID, before string, limit int) (DomainList, error) {
	all, err := identity.DomainsOf(ctx, tx, workspaceID, before, limit)
	l := DomainList{OK: true, Domains: make([]ListedDomain, 0, len(all))}
	for _, d := range all {
		l.Domains = append(l.Domains, ListedDomain{d.Name, d.WorkspaceID, d.Role, d.ClaimedBy, d.ClaimedAt})
	}
	return l, err
}

// Seller is what invoices say of the company that sells.
type Seller struct {
	Company        string `json:"company"`
	Address        string `json:"address" doc:"Lines, separated by line feeds."`
	TaxID          string `json:"tax_id"`
	TaxBasisPoints int64  `json:"tax_basis_points" doc:"Rate of the tax that each payment contains, in hundredths of a percent."`
	Prefix         string `json:"prefix" doc:"What numbers begin with."`
	Note           string `json:"note"`
}

// SellerOf is an issuer as operators read it.
func SellerOf(i invoice.Issuer) Seller {
	return Seller{i.Name, i.Address, i.TaxID, i.TaxBasisPoints, i.Prefix, i.Note}
}

// Issuer is the seller as it is set.
func (s Seller) Issuer() invoice.Issuer {
	return invoice.Issuer{Party: invoice.Party{Name: s.Company, Address: s.Address, TaxID: s.TaxID}, TaxBasisPoints: s.TaxBasisPoints, Prefix: s.Prefix, Note: s.Note}
}

// PersonList is the people who operate the service in the browser.
type PersonList struct {
	OK        bool                `json:"ok" const:"true"`
	Operators []identity.Operator `json:"operators"`
}

// ReuseList is the classes of workers whose reused frames were rendered again.
type ReuseList struct {
	OK      bool                  `json:"ok" const:"true"`
	Classes []reuse.ComparedClass `json:"classes"`
}

// MeasuredWorld is a test world with what it takes.
type MeasuredWorld struct {
	testmode.World
	Bytes int64 `json:"size_bytes"`
}

// TestWorldList is the test worlds of workspaces.
type TestWorldList struct {
	OK     bool            `json:"ok" const:"true"`
	Worlds []MeasuredWorld `json:"test_worlds" doc:"The one that was used last comes first."`
	Bytes  int64           `json:"size_bytes" doc:"The sum of their sizes."`
}

// TestWorldsList measures worlds.
func TestWorldsList(ctx context.Context, worlds []testmode.World, size func(ctx context.Context, workspaceID string) (int64, error)) (TestWorldList, error) {
	l := TestWorldList{OK: true, Worlds: make([]MeasuredWorld, 0, len(worlds))}
	for _, w := range worlds {
		n, err := size(ctx, w.WorkspaceID)
		if err != nil {
			return l, err
		}
		l.Worlds, l.Bytes = append(l.Worlds, MeasuredWorld{w, n}), l.Bytes+n
	}
	return l, nil
}

// LastAudited is the outcome of the last audit of the whole store.
type LastAudited struct {
	OK         bool        `json:"ok" const:"true"`
	Audit      *AuditFound `json:"audit" doc:"Null before the first audit."`
	DeadLetter int64       `json:"dead_letters" doc:"Internal tasks that failed too often, as of now."`
}

// AuditFound is what an audit looked at and found.
type AuditFound struct {
	BeganAt     time.Time     `json:"began_at"`
	EndedAt     time.Time     `json:"ended_at"`
	Jobs        int           `json:"jobs"`
	Wallets     int           `json:"wallets"`
	Receipts    int           `json:"receipts"`
	Benchmarks  int           `json:"benchmarks"`
	Leaves      int           `json:"leaves" doc:"Of the log of receipts."`
	BreachCount int           `json:"breach_count" doc:"How many breaches it found."`
	Breaches    []FoundBreach `json:"breaches" doc:"The first 100 of them."`
}

// FoundBreach is a breach that an audit found.
type FoundBreach struct {
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	Detail  string `json:"detail"`
}

// LastAuditOf reads the outcome of the last audit.
func LastAuditOf(ctx context.Context, tx *db.Tx) (LastAudited, error) {
	l := LastAudited{OK: true}
	run, err := LastAudit(ctx, tx)
	if err != nil {
		return l, err
	}
	if run != nil {
		l.Audit = &AuditFound{run.BeganAt, run.EndedAt, run.Jobs, run.Wallets, run.Receipts, run.Benchmarks, run.Leaves, run.BreachCount, []FoundBreach{}}
		for _, b := range run.Breaches {
			l.Audit.Breaches = append(l.Audit.Breaches, FoundBreach(b))
		}
	}
	if l.DeadLetter, err = tx.DeadLetterCount(ctx); err != nil {
		return l, fmt.Errorf("count dead letters: %w", err)
	}
	return l, nil
}

// maxRequeue bounds how many dead letters of a queue are put back at once, because one
// transaction holds them all.
const maxRequeue = 10_000

// DeadLettersOf returns the ids of a queue's dead letters, 10,000 at most.
func DeadLettersOf(ctx context.Context, tx *db.Tx, queue string) ([]string, error) {
	dead, err := lease.DeadLetters(ctx, tx, queue, maxRequeue)
	ids := make([]string, 0, len(dead))
	for _, d := range dead {
		ids = append(ids, d.ID)
	}
	return ids, err
}
