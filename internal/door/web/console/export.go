package console

import (
	"encoding/json"
	"net/http"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// exported is what a workspace gets of itself, but for the lists of any length: jobs and
// ledger, which are read page by page.
type exported struct {
	WorkspaceID string             `json:"workspace_id"`
	CreatedAt   time.Time          `json:"created_at"`
	Emails      []string           `json:"emails"`
	ExportedAt  time.Time          `json:"exported_at"`
	Balance     exportedBalance    `json:"wallet"`
	AgentKeys   []exportedKey      `json:"agent_keys"`
	AccountKeys []exportedKey      `json:"account_keys"`
	Endpoints   []webhook.Endpoint `json:"webhook_endpoints"`
}

type exportedBalance struct {
	AvailableCents int64 `json:"available_cents"`
	ReservedCents  int64 `json:"reserved_cents"`
	OwedCents      int64 `json:"owed_cents"`
}

// exportedKey is a key without its secret, which is not stored.
type exportedKey struct {
	KeyID           string     `json:"key_id"`
	Name            string     `json:"name"`
	MaskedPrefix    string     `json:"masked_prefix"`
	CreatedAt       time.Time  `json:"created_at"`
	LastUsedAt      *time.Time `json:"last_used_at"`
	RevokedAt       *time.Time `json:"revoked_at"`
	SpendLimitCents *int64     `json:"spend_limit_cents"`
	SpentCents      int64      `json:"spent_cents"` // in this calendar month (UTC)
	ExpiresAt       *time.Time `json:"expires_at"`
}

// exportedEntry is an entry of the ledger.
type exportedEntry struct {
	TransactionID  string      `json:"transaction_id"`
	Kind           wallet.Kind `json:"kind"`
	JobID          string      `json:"job_id,omitempty"`
	AmountCents    int64       `json:"amount_cents"`
	AvailableCents int64       `json:"available_after_cents"`
	CreatedAt      time.Time   `json:"created_at"`
}

// exportPage is how many jobs or entries are read at once.
const exportPage = 200

// export serves all that the service has of a workspace, as JSON: what is short first, then
// the jobs and the ledger, the newest first.
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
	for before, more := "", true; more; {
		var page []job.Object
		if page, more, err = s.Jobs.List(r.Context(), job.ListRequest{WorkspaceID: who.WorkspaceID, Before: before, Limit: exportPage}); err != nil {
			return err
		}
		for _, o := range page {
			if err := list(before != "", o); err != nil {
				return err
			}
			before = o.JobID
		}
	}
	if _, err := w.Write([]byte("\n  ],\n  \"ledger\": [")); err != nil {
		return err
	}
	for before, n := "", exportPage; n == exportPage; {
		var entries []wallet.Entry
		err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
			entries, err = wallet.Entries(r.Context(), tx, who.WorkspaceID, before, exportPage)
			return err
		})
		if err != nil {
			return err
		}
		n = len(entries)
		for _, e := range entries {
			if err := list(before != "", exportedEntry{e.ID, e.Kind, e.JobID, e.AmountCents, e.AvailableCents, e.CreatedAt}); err != nil {
				return err
			}
			before = e.ID
		}
	}
	_, err = w.Write([]byte("\n  ]\n}\n"))
	return err
}
