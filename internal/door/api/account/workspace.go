package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/wallet"
)

// rendersInput selects a page of the workspace's jobs.
type rendersInput struct {
	Limit  int        `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Status job.Status `query:"status" enum:"awaiting_submit,queued,rendering,packaging,completed,failed,cancelled" doc:"Only renders in this state."`
	Query  string     `query:"q" maxLength:"200" doc:"At most four words. Each is a part of the file's name or of a tag, in any case; one word alone may also begin the job id."`
	Tag    string     `query:"tag" maxLength:"200" doc:"Only renders with this tag."`
	From   string     `query:"from" format:"date" doc:"Only renders created on this day (UTC) or later."`
	To     string     `query:"to" format:"date" doc:"Only renders created on this day (UTC) or earlier."`
	Person string     `query:"person" maxLength:"200" doc:"Only renders that this person started, or keys that they made: a person_id of started_by, an e-mail address, or what is before the @ of a member's address."`
	Frames string     `query:"frames" maxLength:"200" doc:"Only renders that have all of these frames, such as 118 or 1-20,40-60x5."`
	Before string     `query:"before" pattern:"^JOB-[0-9a-f]{32}$" doc:"Job id; the page starts after it. The Link header contains it."`
}

// rendersOutput is spec 2.10. The next page is in a header, because the
// published body has no member for it.
type rendersOutput struct {
	Link string `header:"Link" doc:"The next page, rel=next; absent on the last one."`
	Body struct {
		OK      bool         `json:"ok" const:"true"`
		Renders []job.Object `json:"renders" doc:"Newest first."`
	}
}

// walletOutput is the workspace's balance in cents.
type walletOutput struct {
	Body struct {
		OK             bool             `json:"ok" const:"true"`
		WorkspaceID    string           `json:"workspace_id"`
		AvailableCents int64            `json:"available_cents" minimum:"0" doc:"Can be spent."`
		ReservedCents  int64            `json:"reserved_cents" minimum:"0" doc:"Set aside for jobs that have not ended."`
		OwedCents      int64            `json:"owed_cents" minimum:"0" doc:"Taken back of payments after it was spent. What comes in pays it first."`
		LowBalance     *wallet.Shortage `json:"low_balance" doc:"What is available does not cover another job like the newest; null when it does."`
		AlertBelow     *int64           `json:"alert_below_cents" minimum:"1" doc:"The workspace is told when less is available; null: never."`
		DailyLimit     *int64           `json:"daily_limit_cents" minimum:"1" doc:"The most that its jobs may cost in a calendar day (UTC), as the operator set it; null: no limit."`
		SpentToday     *int64           `json:"spent_today_cents" minimum:"0" doc:"What counts towards the daily limit today; null: no limit."`
		MonthlyLimit   *int64           `json:"monthly_limit_cents" minimum:"0" doc:"The most that the person behind the credential may spend in this workspace in a calendar month (UTC), as an owner set it; null: no limit."`
		SpentThisMonth *int64           `json:"spent_this_month_cents" minimum:"0" doc:"What counts towards the person's monthly limit; null: no limit."`
		Currency       string           `json:"currency" const:"USD"`
	}
}

// alertInput says when a workspace wants to be warned that its wallet runs low.
type alertInput struct {
	Body struct {
		BelowCents int64 `json:"below_cents" minimum:"0" maximum:"1000000000000" doc:"Tell when less than so many cents are available; 0: never."`
	}
}

// transactionsInput selects a page of the ledger.
type transactionsInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Before string `query:"before" pattern:"^TXN-[0-9a-f]{32}$" doc:"Transaction id; the page starts after it. The Link header contains it."`
}

// transactionBody is one entry of the ledger. The amount is in cents and always
// positive; the kind says where it went.
type transactionBody struct {
	TransactionID string          `json:"transaction_id"`
	Kind          wallet.Kind     `json:"kind" enum:"credit,reserve,capture,release,refund,top_up,top_up_refund,chargeback,chargeback_won,settlement"`
	Reference     string          `json:"reference" doc:"Happens once for its kind."`
	JobID         *string         `json:"job_id"`
	StartedBy     *identity.Actor `json:"started_by" doc:"Who started the job, or began the payment; the operator for credit and refunds."`
	AmountCents   int64           `json:"amount_cents" minimum:"1"`
	Currency      string          `json:"currency" const:"USD"`
	CreatedAt     time.Time       `json:"created_at"`
}

type transactionsOutput struct {
	Link string `header:"Link" doc:"The next page, rel=next; absent on the last one."`
	Body struct {
		OK           bool              `json:"ok" const:"true"`
		Transactions []transactionBody `json:"transactions" doc:"Newest first."`
	}
}

// proofPagesInput switches the public proof pages of a workspace.
type proofPagesInput struct {
	Body struct {
		Shown bool `json:"shown" doc:"False answers 404 for every proof page of the workspace."`
	}
}

type proofPagesOutput struct {
	Body struct {
		OK    bool `json:"ok" const:"true"`
		Shown bool `json:"shown"`
	}
}

// workspace registers the list of renders, the wallet, and the switch of the
// proof pages. Only a session may use the switch: it publishes what the
// workspace did.
func (s *Server) workspace(api huma.API) {
	renders := func(id, path, jobs, tag, scheme string, who operation.Middleware) {
		huma.Register(api, huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{tag}, Summary: "The workspace's renders, newest first",
			Security: []map[string][]string{{scheme: {}}}, Middlewares: huma.Middlewares{operation.KeepRequestID, who},
		}, s.listRenders(path, jobs))
	}
	renders("listRenders", "/v1/workspace/renders", links.RendersPath, "Workspace", operation.AccountScheme, s.Guard.AccountKey())
	renders("listJobs", links.NodeJobsPath, links.NodeJobsPath, "Job API", operation.AgentScheme, s.Guard.AgentKey())
	own := func(id, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"Workspace"}, Summary: summary,
			Security:    []map[string][]string{{operation.AccountScheme: {}}, {operation.AgentScheme: {}}, {operation.SessionScheme: {}}},
			Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AnyCredential()},
		}
	}
	huma.Register(api, huma.Operation{
		OperationID: "setProofPages", Method: http.MethodPut, Path: "/v1/workspace/proof-pages", Tags: []string{"Workspace"},
		Summary: "Whether the workspace's receipts have public proof pages", MaxBodyBytes: contract.MaxJSONBodyBytes,
		Security: []map[string][]string{{operation.SessionScheme: {}}}, Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.Session()},
	}, func(ctx context.Context, in *proofPagesInput) (*proofPagesOutput, error) {
		out := &proofPagesOutput{}
		out.Body.OK, out.Body.Shown = true, in.Body.Shown
		return out, s.DB.Write(ctx, func(tx *db.Tx) error {
			return identity.SetProofPages(ctx, tx, operation.Caller(ctx).WorkspaceID, in.Body.Shown)
		})
	})
	huma.Register(api, huma.Operation{
		OperationID: "setWalletAlert", Method: http.MethodPut, Path: "/v1/wallet/alert", Tags: []string{"Workspace"},
		Summary: "When to tell that the wallet runs low", MaxBodyBytes: contract.MaxJSONBodyBytes,
		Description: "A start that takes the balance below the amount sends the event `wallet.low` to the workspace's webhook endpoints, and a mail to its people where the service sends mail; once for each time that it falls below it, and at most once an hour.",
		Security:    []map[string][]string{{operation.AccountScheme: {}}, {operation.SessionScheme: {}}},
		Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKeyOrSession()},
	}, func(ctx context.Context, in *alertInput) (*walletOutput, error) {
		err := s.DB.Write(ctx, func(tx *db.Tx) error {
			return alert.Set(ctx, tx, operation.Caller(ctx).WorkspaceID, in.Body.BelowCents)
		})
		if err != nil {
			return nil, err
		}
		return s.wallet(ctx, nil)
	})
	huma.Register(api, own("getWallet", "/v1/wallet", "What the workspace can spend"), s.wallet)
	s.spend(api)
	huma.Register(api, own("listTransactions", "/v1/wallet/transactions", "The workspace's ledger, newest first"), s.transactions)
}

// listRenders lists a page of the workspace's jobs, newest first. path is where the
// next page is, for the same kind of key, and the jobs' links lead below jobs.
func (s *Server) listRenders(path, jobs string) func(context.Context, *rendersInput) (*rendersOutput, error) {
	return func(ctx context.Context, in *rendersInput) (*rendersOutput, error) {
		page, more, err := s.Jobs.List(ctx, job.ListRequest{
			WorkspaceID: operation.Caller(ctx).WorkspaceID, Status: in.Status, Before: in.Before, Limit: in.Limit,
			Filter: job.Filter{Text: in.Query, Tag: in.Tag, From: in.From, To: in.To, Person: in.Person, Frames: in.Frames},
		})
		if err != nil {
			return nil, err
		}
		out := &rendersOutput{}
		out.Body.OK, out.Body.Renders = true, page
		for i, o := range page {
			page[i] = o.Through(s.Links, jobs)
		}
		if more {
			out.Link = operation.NextPage(s.Links, path, page[len(page)-1].JobID, in.Limit, map[string]string{
				"status": string(in.Status), "q": in.Query, "tag": in.Tag, "from": in.From, "to": in.To, "person": in.Person, "frames": in.Frames,
			})
		}
		return out, nil
	}
}

// wallet returns the balance of the credential's own workspace.
func (s *Server) wallet(ctx context.Context, _ *struct{}) (*walletOutput, error) {
	out := &walletOutput{}
	out.Body.OK, out.Body.WorkspaceID, out.Body.Currency = true, operation.Caller(ctx).WorkspaceID, contract.Currency
	return out, s.DB.Read(ctx, func(tx *db.Tx) error {
		b, err := wallet.Get(ctx, tx, out.Body.WorkspaceID)
		out.Body.AvailableCents, out.Body.ReservedCents, out.Body.OwedCents = b.AvailableCents, b.ReservedCents, b.OwedCents
		if err != nil {
			return err
		}
		if out.Body.LowBalance, err = job.LowBalance(ctx, tx, out.Body.WorkspaceID, b); err != nil {
			return err
		}
		below, err := alert.Below(ctx, tx, out.Body.WorkspaceID)
		out.Body.AlertBelow = db.Optional(below)
		if err != nil {
			return err
		}
		limit, spent, err := job.Today(ctx, tx, out.Body.WorkspaceID)
		if limit > 0 {
			out.Body.DailyLimit, out.Body.SpentToday = &limit, &spent
		}
		if err != nil {
			return err
		}
		monthly, month, err := job.ThisMonth(ctx, tx, out.Body.WorkspaceID, operation.Caller(ctx).Credential.Person())
		if monthly != nil {
			out.Body.MonthlyLimit, out.Body.SpentThisMonth = monthly, &month
		}
		return err
	})
}

// transactions lists a page of the ledger, newest first. It reads one row more
// than the page has, to learn whether another page follows.
func (s *Server) transactions(ctx context.Context, in *transactionsInput) (*transactionsOutput, error) {
	out := &transactionsOutput{}
	out.Body.OK, out.Body.Transactions = true, []transactionBody{}
	err := s.DB.Read(ctx, func(tx *db.Tx) error {
		rows, err := wallet.Transactions(ctx, tx, operation.Caller(ctx).WorkspaceID, in.Before, in.Limit+1)
		if err != nil {
			return err
		}
		if len(rows) > in.Limit {
			rows = rows[:in.Limit]
			out.Link = operation.NextPage(s.Links, "/v1/wallet/transactions", rows[in.Limit-1].ID, in.Limit, nil)
		}
		ids := make([]string, len(rows))
		for i, r := range rows {
			ids[i] = r.ID
		}
		actors, err := job.LedgerActors(ctx, tx, operation.Caller(ctx).WorkspaceID, ids)
		if err != nil {
			return err
		}
		for _, r := range rows {
			t := transactionBody{
				StartedBy:     actors[r.ID],
				TransactionID: r.ID, Kind: r.Kind, Reference: r.Reference, AmountCents: r.AmountCents, Currency: contract.Currency, CreatedAt: r.CreatedAt,
			}
			if r.JobID != "" {
				t.JobID = &r.JobID
			}
			out.Body.Transactions = append(out.Body.Transactions, t)
		}
		return nil
	})
	return out, err
}
