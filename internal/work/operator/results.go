package operator

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/wallet"
)

// Acted is what every answer to an act begins with.
type Acted struct {
	OK   bool   `json:"ok" const:"true"`
	What string `json:"what" doc:"What the act does, in words that follow: This will."`
	Done bool   `json:"done" doc:"False for a dry run, which changed nothing."`
}

// Set fills the answer.
func (a *Acted) Set(act Act, done bool) { *a = Acted{true, act.What, done} }

// JobActed is a job after an act.
type JobActed struct {
	Acted
	JobID        string           `json:"job_id"`
	Status       job.Status       `json:"status"`
	PausedBy     *dispatch.Pauser `json:"paused_by" doc:"Null unless the job is paused." enum:"workspace,operator"`
	Priority     *int             `json:"priority" doc:"Its priority among the jobs of its workspace; null unless it is queued or rendering." minimum:"1" maximum:"100"`
	ChargedCents int64            `json:"charged_cents"`
}

// JobAfter reads a job after an act.
func JobAfter(ctx context.Context, tx *db.Tx, jobs *job.Jobs, jobID string) (JobActed, error) {
	o, err := jobs.Object(ctx, tx, jobID)
	return JobActed{JobID: o.JobID, Status: o.Status, PausedBy: o.PausedBy, Priority: o.Priority, ChargedCents: o.ChargedCents}, err
}

// WorkerActed is a worker after an act.
type WorkerActed struct {
	Acted
	WorkerID string               `json:"worker_id"`
	State    dispatch.WorkerState `json:"state"`
}

// WorkerForgotten is the state of a worker that was removed from the list.
const WorkerForgotten dispatch.WorkerState = "forgotten"

// WorkerAfter reads a worker after an act.
func WorkerAfter(ctx context.Context, tx *db.Tx, workerID string) (WorkerActed, error) {
	w, err := dispatch.FindWorker(ctx, tx, workerID)
	return WorkerActed{WorkerID: workerID, State: w.State}, err
}

// WalletActed is a wallet after money moved.
type WalletActed struct {
	Acted
	WorkspaceID    string `json:"workspace_id"`
	AvailableCents int64  `json:"available_cents"`
	ReservedCents  int64  `json:"reserved_cents"`
}

// WalletAfter reads a wallet after an act.
func WalletAfter(ctx context.Context, tx *db.Tx, workspaceID string) (WalletActed, error) {
	b, err := wallet.Get(ctx, tx, workspaceID)
	return WalletActed{WorkspaceID: workspaceID, AvailableCents: b.AvailableCents, ReservedCents: b.ReservedCents}, err
}

// WorkspaceActed is what operators have set for a workspace, after an act.
type WorkspaceActed struct {
	Acted
	WorkspaceID  string   `json:"workspace_id"`
	Frozen       bool     `json:"frozen"`
	ArtifactDays int64    `json:"artifact_days"`
	DailyCents   int64    `json:"daily_cents"`
	ProofPage    bool     `json:"proof_page"`
	Tags         []string `json:"tags"`
	FramesAtOnce int64    `json:"frames_at_once"`
}

// WorkspaceAfter reads a workspace after an act.
func WorkspaceAfter(ctx context.Context, tx *db.Tx, workspaceID string) (WorkspaceActed, error) {
	w, err := WorkspaceOf(ctx, tx, workspaceID)
	return WorkspaceActed{
		WorkspaceID: workspaceID, Frozen: w.Frozen != nil, ProofPage: w.ProofPage, ArtifactDays: w.ArtifactDays, DailyCents: w.DailyCents, Tags: append([]string{}, w.Tags...), FramesAtOnce: w.FramesAtOnce,
	}, err
}

// MadeKey is a key that was made. The secret is in no other answer.
type MadeKey struct {
	Acted
	KeyID string `json:"key_id"`
	Kind  string `json:"kind" doc:"account, agent or node."`
	Name  string `json:"name"`
	Key   string `json:"key" doc:"The secret of the key, shown this once; empty for a dry run."`
}

// KeyRevoked is a key after its end.
type KeyRevoked struct {
	Acted
	KeyID   string `json:"key_id"`
	Revoked bool   `json:"revoked"`
}

// Requeued is dead letters that were put back.
type Requeued struct {
	Acted
	Requeued []string `json:"requeued" doc:"Their ids."`
}

// ResultsChanged is how many benchmark results were named, and how many of them changed.
type ResultsChanged struct {
	Acted
	Results int   `json:"results"`
	Changed int64 `json:"changed"`
}

// SellerSet is the seller after it was set.
type SellerSet struct {
	Acted
	Seller
}

// Erased is a workspace after its erasure.
type Erased struct {
	Acted
	WorkspaceID    string    `json:"workspace_id"`
	ErasedAt       time.Time `json:"erased_at"`
	ErasedBefore   bool      `json:"erased_before" doc:"True if it was erased earlier: only remains were erased now."`
	AvailableCents int64     `json:"available_cents" doc:"What is left in its wallet, which nobody can spend."`
}

// MadeWorkspace is a workspace that was made, or the one that its person has. The secrets are
// in no other answer.
type MadeWorkspace struct {
	OK          bool   `json:"ok" const:"true"`
	WorkspaceID string `json:"workspace_id"`
	Created     bool   `json:"created" doc:"False if the person had the workspace: nothing was added, and no secret is shown."`
	AccountKey  string `json:"account_key,omitempty" doc:"The secret of its account key, shown this once."`
	AgentKey    string `json:"agent_key,omitempty" doc:"The secret of its agent key, shown this once."`
	CreditCents int64  `json:"credit_cents,omitempty"`
}

// CreateWorkspace makes person, workspace, wallet, two keys and the opening balance, and
// records it. For a known address it changes nothing. Errors: invalid_request.
func CreateWorkspace(ctx context.Context, tx *db.Tx, by Actor, email string, creditCents int64) (MadeWorkspace, error) {
	before, err := identity.Workspaces(ctx, tx, email, "", 1)
	if err != nil {
		return MadeWorkspace{}, err
	}
	p, err := identity.CreateWorkspace(ctx, tx, email)
	made := MadeWorkspace{OK: true, WorkspaceID: p.WorkspaceID}
	if err != nil || len(before) > 0 {
		return made, err
	}
	owner := identity.Principal{WorkspaceID: p.WorkspaceID, Credential: identity.Credential{PersonID: p.PersonID}}
	account, err := identity.CreateOwnAccountKey(ctx, tx, owner, "first account key", false)
	if err != nil {
		return made, err
	}
	agent, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "first agent key", MadeBy: p.PersonID})
	if err != nil {
		return made, err
	}
	made.Created, made.AccountKey, made.AgentKey, made.CreditCents = true, account.Secret, agent.Secret, creditCents
	// The record doesn't name the address: it would outlive the person.
	act := Act{
		What: fmt.Sprintf("create the workspace %s with an account key and an agent key", p.WorkspaceID), WorkspaceID: p.WorkspaceID,
		Do: func(context.Context, *db.Tx) error { return nil },
	}
	if err := act.Perform(ctx, tx, by); err != nil || creditCents == 0 {
		return made, err
	}
	credit, err := Credit(ctx, tx, p.WorkspaceID, wallet.NewReference(), creditCents)
	if err == nil {
		err = credit.Perform(ctx, tx, by)
	}
	return made, err
}
