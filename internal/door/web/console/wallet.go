package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/sheet"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/job"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/wallet"
)

// entriesOnPage is how many entries of the ledger a page shows.
const entriesOnPage = 50

// walletView is the content of the wallet's page.
type walletView struct {
	wallet.Balance
	Currency string
	// Low is set when what is available does not cover another job like the newest one.
	Low *wallet.Shortage
	// Below is the balance below which the workspace is warned, as typed; "" for none.
	Below string
	// Limit is what the workspace may spend in a day, in cents, and Today what it has spent
	// of that; 0 for no limit.
	Limit, Today int64
	// Own is what the person who looks may spend this month.
	Own ownLimit
	// Holding are the jobs that money is reserved for.
	Holding []jobRow
	Entries []entry
	// Spend is what was paid for jobs.
	Spend spendView
	// Payable reports whether people can pay online; TopUps are their payments, and Chosen
	// is the one that they came from.
	Payable bool
	TopUps  []topUpRow
	Chosen  *topUpRow
	// Amount is what was typed and refused, and Problem says why.
	Amount  string
	Problem *fault.Wire
	// Around leads to the newer and the older entries.
	Around page.Pager
	// Notice confirms the last action; "" shows none.
	Notice string
}

// ownLimit is what a person may spend in a workspace in a month.
type ownLimit struct {
	Cents *int64 // nil for no limit
	Spent int64
}

// Left is what is left of it.
func (l ownLimit) Left() int64 { return max(0, *l.Cents-l.Spent) }

// ownLimitOf reads the monthly limit of the person who looks at a page.
func ownLimitOf(ctx context.Context, tx *db.Tx, who identity.Principal) (l ownLimit, err error) {
	l.Cents, l.Spent, err = job.ThisMonth(ctx, tx, who.WorkspaceID, who.Credential.Person())
	return l, err
}

// entry is one entry of the ledger, with the name of its job's file and who did it.
type entry struct {
	wallet.Entry
	Filename string
	Actor    *identity.Actor
}

// actorsOf reads the people and keys behind entries of a workspace.
func actorsOf(ctx context.Context, tx *db.Tx, workspaceID string, found []wallet.Entry) (map[string]*identity.Actor, error) {
	ids := make([]string, len(found))
	for i, e := range found {
		ids[i] = e.ID
	}
	return job.LedgerActors(ctx, tx, workspaceID, ids)
}

// named gives entries of a workspace the names of their jobs' files and says who did them.
func named(ctx context.Context, tx *db.Tx, workspaceID string, found []wallet.Entry) ([]entry, error) {
	var ids []string
	for _, e := range found {
		if e.JobID != "" {
			ids = append(ids, e.JobID)
		}
	}
	names, err := job.Filenames(ctx, tx, workspaceID, ids)
	if err != nil {
		return nil, err
	}
	actors, err := actorsOf(ctx, tx, workspaceID, found)
	out := make([]entry, 0, len(found))
	for _, e := range found {
		out = append(out, entry{e, names[e.JobID], actors[e.ID]})
	}
	return out, err
}

// Words describes the entry.
func (e entry) Words() string {
	return map[wallet.Kind]string{
		wallet.Credited: "Credit", wallet.Reserved: "Reserved for a job", wallet.Captured: "Paid for a completed job",
		wallet.Released: "Given back by a job", wallet.Refunded: "Refund",
		wallet.TopUp: "Payment", wallet.TopUpRefunded: "Payment refunded: owed", wallet.ChargedBack: "Payment taken back by its bank: owed",
		wallet.ChargebackWon: "Payment given back by its bank", wallet.Settled: "Paid what was owed",
	}[e.Kind]
}

// wallet builds the page of a workspace's money.
func (s *Site) wallet(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.walletPage(r, who, walletView{})
}

func (s *Site) walletPage(r *http.Request, who identity.Principal, v walletView) (page.Page, error) {
	v.Currency, v.Payable = contract.Currency, s.Payments.Available()
	asked := r.URL.Query()
	err := s.DB.Read(r.Context(), func(tx *db.Tx) error { return v.read(r.Context(), tx, who, asked) })
	if err != nil {
		return page.Page{}, err
	}
	if asked.Get("did") == "alert" {
		v.Notice = "Saved. You are not notified of a low balance."
		if v.Below != "" {
			v.Notice = fmt.Sprintf("Saved. You are notified when your balance falls below $%s.", v.Below)
		}
	}
	if v.ReservedCents > 0 {
		for _, status := range []job.Status{job.AwaitingSubmit, job.Queued, job.Rendering, job.Packaging} {
			all, _, err := s.Jobs.List(r.Context(), job.ListRequest{WorkspaceID: who.WorkspaceID, Status: status, Limit: jobsOnPage})
			if err != nil {
				return page.Page{}, err
			}
			for _, o := range all {
				v.Holding = append(v.Holding, rowOf(who, o))
			}
		}
	}
	return page.Page{Template: "wallet", Title: "Wallet", Section: page.WalletSection, Content: v}, nil
}

// read reads a workspace's money into the view, with the entries of the page that the query names.
func (v *walletView) read(ctx context.Context, tx *db.Tx, who identity.Principal, asked url.Values) (err error) {
	workspaceID := who.WorkspaceID
	if v.Own, err = ownLimitOf(ctx, tx, who); err != nil {
		return err
	}
	if v.Balance, err = wallet.Get(ctx, tx, workspaceID); err != nil {
		return err
	}
	if v.Limit, v.Today, err = job.Today(ctx, tx, workspaceID); err != nil {
		return err
	}
	below, err := alert.Below(ctx, tx, workspaceID)
	if err != nil {
		return err
	}
	if v.Below == "" && below > 0 {
		v.Below = fmt.Sprintf("%d.%02d", below/100, below%100)
	}
	if v.Low, err = job.LowBalance(ctx, tx, workspaceID, v.Balance); err != nil {
		return err
	}
	paid, err := payment.List(ctx, tx, workspaceID, "", topUpsOnPage)
	if err != nil {
		return err
	}
	v.TopUps, v.Chosen = nil, nil
	numbers := map[string]string{}
	if n := len(paid); n > 0 {
		if numbers, err = invoice.Numbers(ctx, tx, workspaceID, paid[n-1].ID); err != nil {
			return err
		}
	}
	for _, t := range paid {
		row := topUpRow{t, numbers[t.ID]}
		v.TopUps = append(v.TopUps, row)
		if t.ID == asked.Get("top_up") {
			v.Chosen = &row
		}
	}
	if v.Spend, err = readSpend(ctx, tx, workspaceID, asked.Get("month")); err != nil {
		return err
	}
	return v.readEntries(ctx, tx, workspaceID, asked)
}

// readEntries reads the page of the ledger that a query names. The pages around it show the same
// month of the spend.
func (v *walletView) readEntries(ctx context.Context, tx *db.Tx, workspaceID string, asked url.Values) error {
	around := page.Around{Before: asked.Get("before")}
	found, err := wallet.Entries(ctx, tx, workspaceID, around.Before, entriesOnPage+1)
	if err != nil {
		return err
	}
	found, around.Last = page.Ahead(found, entriesOnPage, func(e wallet.Entry) string { return e.ID })
	if around.Newer, err = wallet.Newer(ctx, tx, workspaceID, around.Before, entriesOnPage); err != nil {
		return err
	}
	filter := url.Values{}
	if asked.Get("month") != "" {
		filter.Set("month", page.CutQuery(asked.Get("month")))
	}
	v.Around = page.PagerOf("entries", walletPath, filter, around)
	v.Entries, err = named(ctx, tx, workspaceID, found)
	return err
}

// actorCells are the cells of an actor in CSV.
func actorCells(a *identity.Actor) (kind, person, keyID, keyName string) {
	if a == nil {
		return string(identity.UnknownActor), "", "", ""
	}
	if a.KeyID != nil {
		keyID = *a.KeyID
	}
	if a.KeyName != nil {
		keyName = *a.KeyName
	}
	return string(a.Kind), a.Address, keyID, keyName
}

// ledger serves all entries as CSV, the newest first.
func (s *Site) ledger(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	out, err := page.StartCSV(w, r, "ledger.csv")
	if err != nil {
		return err
	}
	out.Row("transaction_id", "created_at", "kind", "job_id", "amount_cents", "available_after_cents", "currency", "amount", "filename", "started_by", "person", "key_id", "key_name") // Flush tells
	before := ""
	for {
		var found []entry
		err := s.DB.Read(r.Context(), func(tx *db.Tx) error {
			entries, err := wallet.Entries(r.Context(), tx, who.WorkspaceID, before, 1000)
			if err == nil {
				found, err = named(r.Context(), tx, who.WorkspaceID, entries)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, e := range found {
			kind, person, keyID, keyName := actorCells(e.Actor)
			out.Row(e.ID, e.CreatedAt.Format(time.RFC3339), e.Kind, e.JobID, e.AmountCents, e.AvailableCents, contract.Currency, sheet.Amount(e.EffectCents), e.Filename, kind, person, keyID, keyName)
		}
		if err := out.Flush(); err != nil || len(found) < 1000 {
			return nil // a failed write means the browser is gone
		}
		before = found[len(found)-1].ID
	}
}
