// Package operator is what an operator of the service does: acts on workers, jobs, money,
// results and keys of the whole service, and the record of who did what (decisions 24).
//
// What always holds: an act and its entry in the record happen in one transaction, so
// nothing is done that the record does not show. Only an Actor acts, and only an operator,
// an operator key that writes, or a person with access to the store, is one. An entry never changes, except for an
// erased workspace, whose words and addresses are removed.
//
// Each package does its own part; this one describes an act in words before it is done.
// The console and svc admin ask with the same words. They print the result of an act.
// Start reading at Act, then acts.go.
package operator

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/work/identity"
)

// Way is how an operator acts.
type Way string

// Ways. The texts are stored.
const (
	Console Way = "console" // in the browser, signed in
	Command Way = "command" // by svc admin, on a machine that reads the store
	API     Way = "api"     // by a program with an operator key
)

// Actor is the person, account or key that acts. The zero Actor may do nothing.
type Actor struct {
	name string
	way  Way
}

// Person is the actor of a signed-in person. Error: route_not_found for someone who is
// not an operator: what only operators have does not exist for others.
func Person(who identity.Principal) (Actor, error) {
	if !who.Operator {
		return Actor{}, fault.New(fault.RouteNotFound, "There is no such page.")
	}
	return Actor{who.Credential.Email, Console}, nil
}

// Key is the actor of a program with an operator key. Error: insufficient_scope for one that
// only reads.
func Key(key identity.OperatorKey) (Actor, error) {
	if key.Scope != identity.OperatorWrites {
		return Actor{}, fault.New(fault.InsufficientScope, "This operator key only reads. Use one that was created with --scope write.").
			Challenged("error", string(fault.InsufficientScope)).Challenged("scope", string(identity.OperatorWrites))
	}
	return Actor{key.KeyID, API}, nil
}

// Account is the actor of svc admin: the account on the machine that runs it. Anyone who
// can write the store may act.
func Account(name string) Actor {
	return Actor{cmp.Or(plaintext.Line(name), "unknown"), Command}
}

// Act is one thing that an operator may do. A function of this package makes it of what it
// reads, and fails where the act would.
type Act struct {
	// What describes the act, in words that follow "This will".
	What string
	// WorkspaceID is the workspace that owns the target; "" for none.
	WorkspaceID string
	// Reason is the operator's own words; "" where the act has none.
	Reason string
	// Do does it. It may run more than once, as every transaction may.
	Do func(ctx context.Context, tx *db.Tx) error
}

// Perform does the act and records it. Its errors are those of the act.
func (a Act) Perform(ctx context.Context, tx *db.Tx, by Actor) error {
	if by == (Actor{}) {
		return fault.New(fault.RouteNotFound, "There is no such page.")
	}
	if err := a.Do(ctx, tx); err != nil {
		return err
	}
	row := query.OperatorAct{
		ActID: id.New(id.Act), ActedAt: tx.Now, Actor: by.name, Way: string(by.way), What: a.What, WorkspaceID: a.WorkspaceID, Reason: a.Reason,
		RequestID: fault.RequestID(ctx),
	}
	row.RowSum = actRows.Of(row)
	if err := tx.ActAdd(ctx, query.ActAddParams(row)); err != nil {
		return fmt.Errorf("record what an operator did: %w", err)
	}
	return nil
}

// Done is an act in the record.
type Done struct {
	ActID       string    `json:"act_id"`
	ActedAt     time.Time `json:"acted_at"`
	Actor       string    `json:"actor"` // an e-mail address, an account on a machine, or the id of an operator key
	Way         Way       `json:"way"`
	What        string    `json:"what"`
	WorkspaceID string    `json:"workspace_id"` // "" for none
	Reason      string    `json:"reason"`       // "" for none
}

// Acts reads a page of the record, the newest first, after the act before; "" starts at
// the newest.
func Acts(ctx context.Context, tx *db.Tx, before string, limit int) ([]Done, error) {
	rows, err := tx.Acts(ctx, query.ActsParams{Before: cmp.Or(before, id.Behind(id.Act)), Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("list what operators did: %w", err)
	}
	all := make([]Done, 0, len(rows))
	for _, r := range rows {
		all = append(all, Done{r.ActID, db.Time(r.ActedAt), r.Actor, Way(r.Way), r.What, r.WorkspaceID, r.Reason})
	}
	return all, nil
}

// NewerActs returns the before of the page that ends where a page of Acts begins, and "" where that
// is the first page, or this one is.
func NewerActs(ctx context.Context, tx *db.Tx, before string, limit int) (string, error) {
	if before == "" {
		return "", nil
	}
	found, err := db.OrEmpty(tx.ActsNewer(ctx, query.ActsNewerParams{Before: before, Max: int64(limit)}))
	if err != nil {
		return "", fmt.Errorf("find the page of newer acts: %w", err)
	}
	return found, nil
}

// Erase empties the words that were said of a workspace, and the addresses of those of its people
// who are in no other one. It comes before the people are erased.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	people, err := identity.Members(ctx, tx, workspaceID)
	if err != nil {
		return err
	}
	rows, err := tx.ActsErase(ctx, query.ActsEraseParams{WorkspaceID: workspaceID, Tagged: onlyTagged, Untagged: "let only workers with some tags render for " + workspaceID})
	for _, p := range people {
		if err != nil {
			break
		}
		var in []identity.Membership
		if in, err = identity.Memberships(ctx, tx, p.PersonID); err != nil || len(in) > 1 {
			continue
		}
		var more []query.OperatorAct
		more, err = tx.ActorErase(ctx, p.Email)
		rows = append(rows, more...)
	}
	if err != nil {
		return fmt.Errorf("erase what operators did: %w", err)
	}
	for _, row := range rows {
		if err := actRows.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}

// actRows carry checksums: what an operator did cannot be derived from anything
// else.
var actRows = rowsum.Table[query.OperatorAct]{Name: "operator_act", Key: 1, Later: []string{"RequestID"}}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{actRows, runRows}

// Audit reports acts, and outcomes of audits, that are not as they were recorded. An error
// means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	if err := actRows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	return runRows.Audit(ctx, tx, breach, nil)
}
