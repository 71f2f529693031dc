package console

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/job"
	"svc.example/internal/work/savedfilter"
	"svc.example/internal/work/share"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// exported is what a workspace gets of itself, but for the lists of any length: jobs, ledger, invoices and comments, which are read page by page.
type exported struct {
	WorkspaceID string             `json:"workspace_id"`
	CreatedAt   time.Time          `json:"created_at"`
	Emails      []string           `json:"emails"`
	ExportedAt  time.Time          `json:"exported_at"`
	Balance     exportedBalance    `json:"wallet"`
	AgentKeys   []exportedKey      `json:"agent_keys"`
	AccountKeys []exportedKey      `json:"account_keys"`
	Endpoints   []webhook.Endpoint `json:"webhook_endpoints"`
	Billing     exportedParty      `json:"billing"`
	Filters     []exportedFilter   `json:"saved_filters"`
}

// exportedFilter is a search that the person who exports has saved.
type exportedFilter struct {
	Name      string     `json:"name"`
	Status    job.Status `json:"status"`
	Text      string     `json:"q"`
	Tag       string     `json:"tag"`
	From      string     `json:"from"`
	To        string     `json:"to"`
	Person    string     `json:"person"`
	Frames    string     `json:"frames"`
	CreatedAt time.Time  `json:"created_at"`
}

type exportedBalance struct {
	AvailableCents int64 `json:"available_cents"`
	ReservedCents  int64 `json:"reserved_cents"`
	OwedCents      int64 `json:"owed_cents"`
}

// exportedKey is a key without its secret, which is not stored.
type exportedKey struct {
	KeyID           string          `json:"key_id"`
	Name            string          `json:"name"`
	MaskedPrefix    string          `json:"masked_prefix"`
	CreatedAt       time.Time       `json:"created_at"`
	LastUsedAt      *time.Time      `json:"last_used_at"`
	RevokedAt       *time.Time      `json:"revoked_at"`
	SpendLimitCents *int64          `json:"spend_limit_cents"`
	SpentCents      int64           `json:"spent_cents"` // in this calendar month (UTC)
	ExpiresAt       *time.Time      `json:"expires_at"`
	CreatedBy       *identity.Actor `json:"created_by"`
}

// exportedEntry is an entry of the ledger.
type exportedEntry struct {
	TransactionID  string          `json:"transaction_id"`
	Kind           wallet.Kind     `json:"kind"`
	JobID          string          `json:"job_id,omitempty"`
	AmountCents    int64           `json:"amount_cents"`
	AvailableCents int64           `json:"available_after_cents"`
	CreatedAt      time.Time       `json:"created_at"`
	StartedBy      *identity.Actor `json:"started_by"`
}

// exportedParty is who sells or buys.
type exportedParty struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	TaxID   string `json:"tax_id"`
}

// exportedInvoice is an invoice or a credit note.
type exportedInvoice struct {
	Number     string        `json:"number"`
	Kind       invoice.Kind  `json:"kind"`
	TopUpID    string        `json:"top_up_id"`
	NetCents   int64         `json:"net_cents"`
	TaxCents   int64         `json:"tax_cents"`
	TotalCents int64         `json:"total_cents"`
	Seller     exportedParty `json:"seller"`
	Buyer      exportedParty `json:"buyer"`
	IssuedAt   time.Time     `json:"issued_at"`
}

// exportPage is how many jobs, entries, invoices or comments are read at once.
const exportPage = 200

// export serves all that the service has of a workspace, as JSON: what is short first, then
// the jobs, the ledger, the invoices and the comments of visitors, the newest first.
func (s *Site) export(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	head, err := s.exportHead(r, who)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="workspace.json"`)
	h.Set("Cache-Control", "no-store")
	if err := s.writeExport(w, r, who, head); err != nil && r.Context().Err() == nil {
		s.Log.Error("an export broke off", "err", err)
	}
	return nil
}

func (s *Site) exportHead(r *http.Request, who identity.Principal) (head exported, err error) {
	ctx := r.Context()
	head.WorkspaceID = who.WorkspaceID
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		head.ExportedAt = tx.Time()
		workspace, emails, err := identity.WorkspaceOf(ctx, tx, who.WorkspaceID)
		if err != nil {
			return err
		}
		head.CreatedAt, head.Emails = db.Time(workspace.CreatedAt), emails
		money, err := wallet.Get(ctx, tx, who.WorkspaceID)
		if err != nil {
			return err
		}
		head.Balance = exportedBalance(money)
		buyer, err := invoice.Billing(ctx, tx, who.WorkspaceID)
		if err != nil {
			return err
		}
		head.Billing = exportedParty(buyer)
		agent, err := identity.AgentKeys(ctx, tx, who.WorkspaceID)
		if err != nil {
			return err
		}
		account, err := identity.AccountKeys(ctx, tx, who.WorkspaceID)
		for _, k := range agent {
			head.AgentKeys = append(head.AgentKeys, exportedKey(k))
		}
		for _, k := range account {
			head.AccountKeys = append(head.AccountKeys, exportedKey(k))
		}
		if err != nil {
			return err
		}
		filters, err := savedfilter.List(ctx, tx, who)
		for _, f := range filters {
			head.Filters = append(head.Filters, exportedFilter{f.Name, f.Status, f.Search.Text, f.Search.Tag, f.Search.From, f.Search.To, f.Search.Person, f.Search.Frames, f.CreatedAt})
		}
		return err
	})
	if err == nil {
		head.Endpoints, err = s.Webhooks.List(ctx, who.WorkspaceID)
	}
	return head, err
}

// writeExport writes one JSON object. Its errors are those of the store, and of a browser
// that is gone.
func (s *Site) writeExport(w http.ResponseWriter, r *http.Request, who identity.Principal, head exported) error {
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	if _, err := w.Write(append(text[:len(text)-2], `,
  "jobs": [`...)); err != nil {
		return err
	}
	list := func(comma bool, v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		before := "\n    "
		if comma {
			before = "," + before
		}
		_, err = w.Write(append([]byte(before), text...))
		return err
	}
	if err := s.exportJobs(r.Context(), who.WorkspaceID, list); err != nil {
		return err
	}
	for _, of := range []struct {
		name string
		list func(ctx context.Context, tx *db.Tx, workspaceID, before string) (all []any, last string, err error)
	}{{"ledger", ledgerPage}, {"invoices", invoicesPageOf}, {"comments", commentsPageOf}} {
		if _, err := w.Write([]byte("\n  ],\n  \"" + of.name + "\": [")); err != nil {
			return err
		}
		for before, n := "", exportPage; n == exportPage; {
			var all []any
			last := ""
			err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
				all, last, err = of.list(r.Context(), tx, who.WorkspaceID, before)
				return err
			})
			if err != nil {
				return err
			}
			for i, one := range all {
				if err := list(before != "" || i > 0, one); err != nil {
					return err
				}
			}
			n, before = len(all), last
		}
	}
	_, err = w.Write([]byte("\n  ]\n}\n"))
	return err
}

func (s *Site) exportJobs(ctx context.Context, workspaceID string, list func(comma bool, v any) error) (err error) {
	for before, more := "", true; more; {
		var page []job.Object
		if page, more, err = s.Jobs.List(ctx, job.ListRequest{WorkspaceID: workspaceID, Before: before, Limit: exportPage}); err != nil {
			return err
		}
		for _, o := range page {
			if err := list(before != "", o); err != nil {
				return err
			}
			before = o.JobID
		}
	}
	return nil
}

func ledgerPage(ctx context.Context, tx *db.Tx, workspaceID, before string) (all []any, last string, err error) {
	entries, err := wallet.Entries(ctx, tx, workspaceID, before, exportPage)
	if err != nil {
		return nil, "", err
	}
	actors, err := actorsOf(ctx, tx, workspaceID, entries)
	for _, e := range entries {
		all, last = append(all, exportedEntry{e.ID, e.Kind, e.JobID, e.AmountCents, e.AvailableCents, e.CreatedAt, actors[e.ID]}), e.ID
	}
	return all, last, err
}

func invoicesPageOf(ctx context.Context, tx *db.Tx, workspaceID, before string) (all []any, last string, err error) {
	found, err := invoice.List(ctx, tx, workspaceID, before, exportPage)
	for _, i := range found {
		all, last = append(all, exportedInvoice{i.Number, i.Kind, i.TopUpID, i.NetCents, i.TaxCents, i.TotalCents, exportedParty(i.Seller), exportedParty(i.Buyer), i.IssuedAt}), i.Number
	}
	return all, last, err
}

func commentsPageOf(ctx context.Context, tx *db.Tx, workspaceID, before string) (all []any, last string, err error) {
	found, err := share.All(ctx, tx, workspaceID, before, exportPage)
	for _, c := range found {
		all, last = append(all, c), c.CommentID
	}
	return all, last, err
}
