package operator

import (
	"context"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/process"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/workertags"
)

// The types of this file are what svc admin prints with --json and what the operators' API
// answers.

// WorkspaceList is a page of workspaces.
type WorkspaceList struct {
	OK         bool                     `json:"ok" const:"true"`
	Workspaces []identity.WorkspaceView `json:"workspaces" doc:"The newest first."`
}

// JobList is a page of jobs.
type JobList struct {
	OK   bool          `json:"ok" const:"true"`
	Jobs []job.Summary `json:"jobs" doc:"The newest first."`
}

// JobHistory is what happened to a job.
type JobHistory struct {
	OK    bool       `json:"ok" const:"true"`
	JobID string     `json:"job_id"`
	Log   []LogEntry `json:"log" doc:"In order of time."`
}

// AlertList is the trouble that is not over.
type AlertList struct {
	OK     bool                 `json:"ok" const:"true"`
	Alerts []operators.Standing `json:"alerts"`
}

// UsageList is what workspaces used.
type UsageList struct {
	OK    bool    `json:"ok" const:"true"`
	Usage []Usage `json:"usage" doc:"The newest month first, and in it the workspace that paid most."`
}

// ActList is a page of the record.
type ActList struct {
	OK   bool   `json:"ok" const:"true"`
	Acts []Done `json:"acts" doc:"The newest first."`
}

// ProcessList is the processes that serve, and those that fell silent within an hour.
type ProcessList struct {
	OK        bool              `json:"ok" const:"true"`
	Processes []process.Process `json:"processes"`
}

// DeadLetterList is the service's own work that failed too often.
type DeadLetterList struct {
	OK          bool               `json:"ok" const:"true"`
	DeadLetters []lease.DeadLetter `json:"dead_letters" doc:"The newest first."`
}

// WorkerList is the workers of a while, with what is wrong with their keys.
type WorkerList struct {
	OK          bool                  `json:"ok" const:"true"`
	Workers     []dispatch.WorkerView `json:"workers" doc:"Those that reported last come first; 1,000 at most."`
	PausedKeys  []dispatch.PausedKey  `json:"paused_keys" doc:"Node keys whose workers get no frames for a while, because far more of their attempts failed than on other keys."`
	RefutedKeys []dispatch.RefutedKey `json:"refuted_keys" doc:"Node keys whose frames two other workers contradicted."`
}

// WorkersOf lists the workers that reported within a time.
func WorkersOf(ctx context.Context, tx *db.Tx, within time.Duration) (WorkerList, error) {
	l := WorkerList{OK: true}
	var err error
	if l.Workers, err = dispatch.ListWorkers(ctx, tx, within); err != nil {
		return l, err
	}
	if l.PausedKeys, err = dispatch.PausedKeys(ctx, tx); err != nil {
		return l, err
	}
	l.RefutedKeys, err = dispatch.RefutedKeys(ctx, tx)
	return l, err
}

// shownFailures is how many failed attempts of a worker or a job are shown.
const shownFailures = 20

// Worker is one worker, the frames that it holds, and its last failures.
type Worker struct {
	OK       bool                   `json:"ok" const:"true"`
	Worker   dispatch.WorkerView    `json:"worker"`
	Frames   []dispatch.HeldFrame   `json:"frames" doc:"The frames that it renders now."`
	Failures []dispatch.FailedFrame `json:"failures" doc:"Its last failed attempts, the newest first."`
}

// WorkerOf reads one worker. Error: worker_not_found.
func WorkerOf(ctx context.Context, tx *db.Tx, workerID string) (Worker, error) {
	w := Worker{OK: true}
	var err error
	if w.Worker, err = dispatch.FindWorker(ctx, tx, workerID); err != nil {
		return w, err
	}
	if w.Frames, err = dispatch.HeldBy(ctx, tx, workerID); err != nil {
		return w, err
	}
	w.Failures, err = dispatch.FailuresBy(ctx, tx, workerID, shownFailures)
	return w, err
}

// Job is one job of any workspace, without the links by which its owner downloads it.
type Job struct {
	OK       bool                   `json:"ok" const:"true"`
	Job      job.Object             `json:"job"`
	Frames   []dispatch.HeldFrame   `json:"frames" doc:"Its frames that workers render now."`
	Failures []dispatch.FailedFrame `json:"failures" doc:"Its last failed attempts, the newest first."`
}

// JobOf reads one job. Error: render_not_found.
func JobOf(ctx context.Context, tx *db.Tx, jobs *job.Jobs, jobID string) (Job, error) {
	j := Job{OK: true}
	if _, err := job.Read(ctx, tx, jobID); err != nil {
		return j, err
	}
	var err error
	if j.Job, err = jobs.Object(ctx, tx, jobID); err != nil {
		return j, err
	}
	j.Job.DownloadURL, j.Job.ReceiptURL, j.Job.ProofURL = nil, nil, nil
	if j.Frames, err = dispatch.HeldOf(ctx, tx, jobID); err != nil {
		return j, err
	}
	j.Failures, err = dispatch.FailuresOf(ctx, tx, jobID, shownFailures)
	return j, err
}

// ListedKey is a key of a workspace or of workers, without its secret.
type ListedKey struct {
	KeyID        string     `json:"key_id"`
	Kind         string     `json:"kind" doc:"account, agent or node."`
	Name         string     `json:"name"`
	MaskedPrefix string     `json:"masked_prefix"`
	CreatedAt    time.Time  `json:"created_at"`
	LastUsedAt   *time.Time `json:"last_used_at" doc:"Precise to a minute; null when never used."`
	RevokedAt    *time.Time `json:"revoked_at" doc:"Null while active."`
	// SpendLimitCents, SpentCents of this calendar month (UTC) and ExpiresAt are those of
	// agent keys; other kinds have null, 0 and null.
	SpendLimitCents *int64     `json:"spend_limit_cents"`
	SpentCents      int64      `json:"spent_cents"`
	ExpiresAt       *time.Time `json:"expires_at"`
	// CreatedBy is who made it; null for workers' keys.
	CreatedBy *identity.Actor `json:"created_by" doc:"Who made it; null for workers' keys."`
}

// ListKeys lists keys of a kind.
func ListKeys(kind string, keys []identity.Key) []ListedKey {
	listed := make([]ListedKey, 0, len(keys))
	for _, k := range keys {
		listed = append(listed, ListedKey{k.KeyID, kind, k.Name, k.MaskedPrefix, k.CreatedAt, k.LastUsedAt, k.RevokedAt, k.SpendLimitCents, k.SpentCents, k.ExpiresAt, k.CreatedBy})
	}
	return listed
}

// KeysOf lists the account and agent keys of a workspace.
func KeysOf(ctx context.Context, tx *db.Tx, workspaceID string) ([]ListedKey, error) {
	accounts, err := identity.AccountKeys(ctx, tx, workspaceID)
	if err != nil {
		return nil, err
	}
	agents, err := identity.AgentKeys(ctx, tx, workspaceID)
	return append(ListKeys("account", accounts), ListKeys("agent", agents)...), err
}

// LedgerEntry is an entry of a workspace's ledger.
type LedgerEntry struct {
	TransactionID string    `json:"transaction_id"`
	Kind          string    `json:"kind"`
	Reference     string    `json:"reference"`
	JobID         string    `json:"job_id" doc:"Empty for an entry of no job."`
	AmountCents   int64     `json:"amount_cents"`
	CreatedAt     time.Time `json:"created_at"`
}

// shownEntries is how many entries of the ledger a workspace is shown with.
const shownEntries = 10

// Workspace is one workspace.
type Workspace struct {
	OK             bool             `json:"ok" const:"true"`
	WorkspaceID    string           `json:"workspace_id"`
	Name           string           `json:"name"`
	CreatedAt      time.Time        `json:"created_at"`
	ErasedAt       *time.Time       `json:"erased_at"`
	People         []string         `json:"people" doc:"E-mail addresses of its members."`
	ProofPage      bool             `json:"proof_page" doc:"Whether the proof pages of its receipts are public."`
	ArtifactDays   int64            `json:"artifact_days" doc:"For how many days its ZIPs are kept; 0 for the setting of the service."`
	DailyCents     int64            `json:"daily_cents" doc:"What it may spend in a day (UTC); 0 for no limit."`
	Tags           []string         `json:"tags" doc:"Tags that a worker must have to render for it."`
	FramesAtOnce   int64            `json:"frames_at_once" doc:"How many of its frames are rendered at the same time; 0 for no limit."`
	AvailableCents int64            `json:"available_cents"`
	ReservedCents  int64            `json:"reserved_cents"`
	OwedCents      int64            `json:"owed_cents"`
	Frozen         *freeze.Frozen   `json:"frozen" doc:"Null unless it is frozen."`
	Jobs           map[string]int64 `json:"jobs" doc:"How many jobs it has in each state."`
	Keys           []ListedKey      `json:"keys"`
	Entries        []LedgerEntry    `json:"entries" doc:"The last entries of its ledger, the newest first."`
}

// WorkspaceOf reads one workspace. Error: workspace_not_found.
func WorkspaceOf(ctx context.Context, tx *db.Tx, workspaceID string) (Workspace, error) {
	row, people, err := identity.WorkspaceOf(ctx, tx, workspaceID)
	if err != nil {
		return Workspace{}, err
	}
	w := Workspace{
		OK: true, WorkspaceID: row.WorkspaceID, Name: row.Name, CreatedAt: db.Time(row.CreatedAt), ErasedAt: db.OptionalTime(row.ErasedAt), People: append([]string{}, people...),
		ProofPage: row.ProofPage == 1, ArtifactDays: row.ArtifactDays, DailyCents: row.DailyCents, Tags: append([]string{}, workertags.Read(row.Tags)...), FramesAtOnce: row.FramesAtOnce,
		Jobs: map[string]int64{}, Entries: []LedgerEntry{},
	}
	b, err := wallet.Get(ctx, tx, workspaceID)
	if err != nil {
		return w, err
	}
	w.AvailableCents, w.ReservedCents, w.OwedCents = b.AvailableCents, b.ReservedCents, b.OwedCents
	if w.Keys, err = KeysOf(ctx, tx, workspaceID); err != nil {
		return w, err
	}
	if w.Frozen, err = freeze.Of(ctx, tx, workspaceID); err != nil {
		return w, err
	}
	states, err := tx.JobStates(ctx, workspaceID)
	for _, s := range states {
		w.Jobs[s.Status] = s.Jobs
	}
	if err != nil {
		return w, err
	}
	ledger, err := wallet.Transactions(ctx, tx, workspaceID, "", shownEntries)
	for _, t := range ledger {
		w.Entries = append(w.Entries, LedgerEntry{t.ID, string(t.Kind), t.Reference, t.JobID, t.AmountCents, t.CreatedAt})
	}
	return w, err
}
