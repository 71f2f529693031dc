package agent

import (
	"context"
	"fmt"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/job"
	"svc.example/internal/work/wallet"
)

// cancelDef describes svc_cancel.
func cancelDef() def {
	return def{
		name: cancelTool, title: "Cancel a render", writes: true, idempotent: true,
		description: "Ends a job that no worker has begun, and gives its whole price back. A job that is being rendered goes to its end.",
	}
}

// cancel handles svc_cancel. Errors: render_not_found, render_not_cancellable.
func (s *server) cancel(ctx context.Context, in jobIn) (jobStatus, error) {
	var o job.Object
	err := s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		o, err = s.Jobs.Cancel(ctx, tx, callerOf(ctx).WorkspaceID, string(in.JobID))
		return err
	})
	if err != nil {
		return jobStatus{}, err
	}
	return jobOf(o), nil
}

// jobsDef describes svc_jobs.
func jobsDef() def {
	return def{
		name: jobsTool, title: "List renders", idempotent: true,
		description: "The workspace's newest jobs; at most 20.",
	}
}

// mostListed bounds what svc_jobs lists, and so what a model reads of it.
const mostListed = 20

// jobsIn selects jobs.
type jobsIn struct {
	Status *job.Status `json:"status,omitempty" jsonschema:"Only jobs in this state."`
	Search *string     `json:"search,omitempty" jsonschema:"Words of names or tags."`
}

// jobList is the result of svc_jobs.
type jobList struct {
	OK   yes         `json:"ok"`
	Jobs []listedJob `json:"jobs"`
	step
}

// listedJob is one line of it.
type listedJob struct {
	JobID           jobID      `json:"job_id"`
	Status          job.Status `json:"status"`
	Filename        string     `json:"filename"`
	Tags            []string   `json:"tags"`
	Frames          string     `json:"frames"`
	FramesCompleted count      `json:"frames_completed"`
	PriceCents      cents      `json:"price_cents"`
	CreatedAt       moment     `json:"created_at"`
}

// jobs handles svc_jobs.
func (s *server) jobs(ctx context.Context, in jobsIn) (jobList, error) {
	request := job.ListRequest{WorkspaceID: callerOf(ctx).WorkspaceID, Limit: mostListed}
	if in.Status != nil {
		request.Status = *in.Status
	}
	if in.Search != nil {
		request.Filter.Text = *in.Search
	}
	page, _, err := s.Jobs.List(ctx, request)
	out := jobList{OK: true, Jobs: []listedJob{}, step: done("There are no such jobs.")}
	for _, o := range page {
		name, _ := escapeText(o.Filename, longName)
		out.Jobs = append(out.Jobs, listedJob{jobID(o.JobID), o.Status, name, shownTags(o), o.FrameList, count(o.FramesCompleted), cents(o.PriceCents), at(o.CreatedAt)})
	}
	if len(page) > 0 {
		out.step = call(statusTool, arguments{"job_id": page[0].JobID}, "svc_status tells more about one of them.")
	}
	return out, err
}

// lines implements answer.
func (l jobList) lines() string {
	var b strings.Builder
	for _, j := range l.Jobs {
		fmt.Fprintf(&b, "%s %s: %s, frames %s, %d done, %s\n", j.JobID, j.Status, j.Filename, j.Frames, j.FramesCompleted, numbers.Dollars(int64(j.PriceCents)))
	}
	return b.String() + l.SuggestedAction
}

// walletDef describes svc_wallet.
func walletDef() def {
	return def{
		name: walletTool, title: "Read the wallet", idempotent: true,
		description: "What the workspace can spend, and where a person adds credit.",
	}
}

// walletIn is what svc_wallet takes.
type walletIn struct {
	PriceCents *cents `json:"price_cents,omitempty" jsonschema:"A price, of which missing_cents tells what the wallet lacks."`
}

// balance is the result of svc_wallet.
type balance struct {
	OK             yes    `json:"ok"`
	AvailableCents cents  `json:"available_cents"`
	ReservedCents  cents  `json:"reserved_cents"`
	OwedCents      cents  `json:"owed_cents" jsonschema:"Taken back of payments."`
	MissingCents   cents  `json:"missing_cents"`
	Currency       string `json:"currency"`
	WalletURL      string `json:"wallet_url" jsonschema:"For adding credit."`
	step
}

// wallet handles svc_wallet.
func (s *server) wallet(ctx context.Context, in walletIn) (out balance, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		b, err := wallet.Get(ctx, tx, callerOf(ctx).WorkspaceID)
		out = balance{
			OK: true, AvailableCents: cents(b.AvailableCents), ReservedCents: cents(b.ReservedCents), OwedCents: cents(b.OwedCents), Currency: contract.Currency,
			WalletURL: s.Links.Wallet(), step: done("Give the person wallet_url when the balance is too low."),
		}
		if in.PriceCents != nil {
			out.MissingCents = max(0, *in.PriceCents-out.AvailableCents)
		}
		return err
	})
	return out, err
}

// lines implements answer.
func (b balance) lines() string {
	return fmt.Sprintf("%s can be spent, %s are reserved. %s (%s)",
		numbers.Dollars(int64(b.AvailableCents)), numbers.Dollars(int64(b.ReservedCents)), b.SuggestedAction, b.WalletURL)
}

// actionFor is what an agent does about a refusal where the API's advice is for programs: a
// person has to agree to what costs money. "" leaves the advice as it is.
func (s *server) actionFor(code fault.Code) string {
	switch code {
	case fault.LegalRequired:
		return "Ask the person you work for whether they accept the price and the terms (" + s.Links.Terms() + "). Call svc_start again only after their yes; never accept for them."
	case fault.InsufficientFunds, fault.SpendLimitReached:
		return "Tell the person what is missing. They add credit or raise the key's limit at " + s.Links.Wallet() + ", or ask the operator for a higher limit of the workspace; or quote fewer frames."
	}
	return ""
}
