package operator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// pageFlags select a page of a list, the newest first.
type pageFlags struct {
	Limit  int    `default:"100" help:"How many to list, the newest first."`
	Before string `placeholder:"ID" help:"Continue after this id, the last one of the previous page."`
}

// Validate refuses a page without a size.
func (f pageFlags) Validate() error {
	if f.Limit < 1 || f.Limit > 10_000 {
		return fmt.Errorf("--limit is %d; it must be 1 to 10000", f.Limit)
	}
	return nil
}

// workspaceList is svc admin workspace list.
type workspaceList struct {
	viewFlags
	pageFlags
	Email string `help:"List only the workspace of this person."`
}

// Run lists workspaces with their balances.
func (c *workspaceList) Run(k *kong.Context) error {
	answer, query := operator.WorkspaceList{OK: true}, c.query()
	query.Set("email", c.Email)
	err := c.view("/workspaces", query, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Workspaces, err = identity.Workspaces(ctx, tx, c.Email, c.Before, c.Limit)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	list := terminal.NewList(terminal.Column{Title: "WORKSPACE"}, terminal.Column{Title: "NAME"}, terminal.Column{Title: "CREATED", Spare: 2},
		terminal.Column{Title: "AVAILABLE"}, terminal.Column{Title: "RESERVED", Spare: 1}, terminal.Column{Title: "JOBS"})
	for _, w := range answer.Workspaces {
		list.Row(w.WorkspaceID, w.Name, w.CreatedAt.Format(time.DateTime), numbers.Dollars(w.AvailableCents), numbers.Dollars(w.ReservedCents), fmt.Sprint(w.Jobs))
	}
	list.Print(k.Stdout)
	return nil
}

// workspaceShow is svc admin workspace show.
type workspaceShow struct {
	viewFlags
	Workspace string `arg:"" help:"Workspace id."`
}

// Run shows one workspace. Error: workspace_not_found.
func (c *workspaceShow) Run(k *kong.Context) error {
	var w operator.Workspace
	err := c.view("/workspaces"+part(c.Workspace), nil, &w, func(ctx context.Context, tx *db.Tx) (err error) {
		w, err = operator.WorkspaceOf(ctx, tx, c.Workspace)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, w)
	}
	terminal.Printf(k.Stdout, "%s  %s, created %s", w.WorkspaceID, w.Name, w.CreatedAt.Format(time.DateTime))
	shown := "hidden"
	if w.ProofPage {
		shown = "public"
	}
	terminal.Printf(k.Stdout, "available %s, reserved %s, proof pages %s", numbers.Dollars(w.AvailableCents), numbers.Dollars(w.ReservedCents), shown)
	printTerms(k.Stdout, w)
	if w.OwedCents > 0 {
		terminal.Printf(k.Stdout, "owes %s: payments were taken back after they were spent", numbers.Dollars(w.OwedCents))
	}
	if w.ErasedAt != nil {
		terminal.Printf(k.Stdout, "erased %s", w.ErasedAt.Format(time.DateTime))
	}
	if w.Frozen != nil {
		terminal.Printf(k.Stdout, "frozen since %s: %s", w.Frozen.Since.Format(time.DateTime), w.Frozen.Reason)
	}
	for _, email := range w.People {
		terminal.Printf(k.Stdout, "person %s", email)
	}
	for _, status := range sortedKeys(w.Jobs) {
		terminal.Printf(k.Stdout, "%s %s", terminal.CountOf(int(w.Jobs[status]), "job"), status)
	}
	ledger := terminal.NewList(terminal.Column{Title: "TIME"}, terminal.Column{Title: "ENTRY"}, terminal.Column{Title: "AMOUNT"},
		terminal.Column{Title: "JOB"}, terminal.Column{Title: "REFERENCE"})
	for _, e := range w.Entries {
		ledger.Row(e.CreatedAt.Format(time.DateTime), e.Kind, numbers.Dollars(e.AmountCents), e.JobID, e.Reference)
	}
	ledger.PrintBelow(k.Stdout)
	listOfKeys(w.Keys).PrintBelow(k.Stdout)
	return nil
}

// printTerms prints what an operator has set for a workspace.
func printTerms(out io.Writer, w operator.Workspace) {
	if w.DailyCents > 0 {
		terminal.Printf(out, "spends at most %s in a day (UTC)", numbers.Dollars(w.DailyCents))
	}
	if len(w.Tags) > 0 {
		terminal.Printf(out, "rendered by workers with the tags %s", strings.Join(w.Tags, ", "))
	}
	if w.FramesAtOnce > 0 {
		terminal.Printf(out, "at most %s rendered at the same time", terminal.CountOf(int(w.FramesAtOnce), "frame"))
	}
	if w.ArtifactDays > 0 {
		terminal.Printf(out, "ZIPs are kept for %s", terminal.CountOf(int(w.ArtifactDays), "day"))
	}
}

// workspaceCreate is svc admin workspace create.
type workspaceCreate struct {
	viewFlags
	Email       string `required:"" help:"E-mail address of the workspace's owner."`
	CreditCents int64  `help:"Opening balance, in cents."`
}

// Run makes person, workspace, wallet, two keys and the opening balance in one
// transaction. For a known address it changes nothing and prints the workspace that the
// person has: the secrets of its keys cannot be shown again.
func (c *workspaceCreate) Run(k *kong.Context) error {
	var made operator.MadeWorkspace
	create := func() error {
		return c.write(func(ctx context.Context, tx *db.Tx) (err error) {
			made, err = operator.CreateWorkspace(ctx, tx, operator.Account(whoami()), c.Email, c.CreditCents)
			return err
		})
	}
	if c.remote() {
		body := map[string]any{"email": c.Email, "credit_cents": c.CreditCents}
		create = func() error {
			return c.ask(context.Background(), call{method: http.MethodPost, path: "/admin/v1/workspaces", body: body}, &made)
		}
	}
	err := create()
	if err != nil {
		return err
	}
	if !made.Created {
		terminal.Printf(k.Stderr, "svc: %s has this workspace already: no key and no balance was added, and secrets are shown only once", strings.TrimSpace(c.Email))
		terminal.Printf(k.Stderr, "To create a key for it, or to add money:")
		terminal.Printf(k.Stderr, "  svc admin key create --kind agent --workspace %s --name NAME", made.WorkspaceID)
		terminal.Printf(k.Stderr, "  svc admin workspace credit %s --cents N", made.WorkspaceID)
		return c.print(k, field{"workspace_id", made.WorkspaceID}, field{"created", false})
	}
	return c.print(k, field{"workspace_id", made.WorkspaceID}, field{"account_key", made.AccountKey}, field{"agent_key", made.AgentKey}, field{"credit_cents", c.CreditCents}, field{"created", true})
}
