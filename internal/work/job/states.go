package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Status is a job's state (spec 3).
//
// To add one: the constant, its moves below, Terminal, the queries in
// internal/ground/db/queries that name states, the enum of Object.Status, and
// `make generate` for docs/states.md.
type Status string

// States of a job.
const (
	AwaitingSubmit Status = "awaiting_submit"
	Queued         Status = "queued"
	Rendering      Status = "rendering"
	Packaging      Status = "packaging"
	Completed      Status = "completed"
	Failed         Status = "failed"
	Cancelled      Status = "cancelled"
)

// move is one allowed change of state.
type move struct {
	from, to Status
	when     string
}

// moves is the only table of allowed changes; docs/states.md is printed from it.
var moves = []move{
	{AwaitingSubmit, Queued, "the caller submits the uploaded job"},
	{AwaitingSubmit, Cancelled, "the caller cancels it, or does not submit it for 24 hours (`submit_expired`)"},
	{AwaitingSubmit, Failed, "an operator ends it"},
	{Queued, Rendering, "a worker claims the first frame"},
	{Queued, Cancelled, "the caller cancels it before any claim"},
	{Queued, Failed, "an operator ends it"},
	{Rendering, Cancelled, "the caller cancels it while no frame is in and only node keys that held one for too long hold any"},
	{Rendering, Packaging, "the service accepts the last frame"},
	{Rendering, Failed, "a frame fails and no further attempt can help, or an operator ends it"},
	{Packaging, Completed, "one transaction writes artifact, receipt and capture"},
	{Packaging, Rendering, "a stored frame is gone or damaged, and is rendered again"},
	{Packaging, Failed, "an operator ends it, or in test mode the name of its file"},
}

// Terminal reports whether a state never changes again. An unknown state is not
// terminal.
func (s Status) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// Known reports whether there is such a state.
func (s Status) Known() bool {
	return slices.ContainsFunc(moves, func(m move) bool { return s == m.from || s == m.to })
}

// Said is a state in a sentence about a job, such as "has failed".
func (s Status) Said() string {
	switch s {
	case AwaitingSubmit:
		return "is not submitted yet"
	case Failed:
		return "has failed"
	}
	return "is " + string(s)
}

// Cancellable reports whether a job may be cancelled: no worker has claimed it.
func (s Status) Cancellable() bool { return s == AwaitingSubmit || s == Queued }

// CancellableStates lists the states in which cancel succeeds, for discovery (decisions
// 12). It must agree with Cancellable.
func CancellableStates() []string { return []string{string(AwaitingSubmit), string(Queued)} }

// errRaced means that another transaction changed the job first. Callers that hold the
// job's lock never see it.
var errRaced = errors.New("the job has moved on")

// change moves a job from the state that was read to another one. It fails if the table
// does not allow it, or if the job is no longer in that state: the statement names the
// old state, so two transactions cannot both succeed.
func change(ctx context.Context, tx *db.Tx, jobID string, from, to Status) error {
	if !slices.ContainsFunc(moves, func(m move) bool { return m.from == from && m.to == to }) {
		return fmt.Errorf("job %s: no move from %s to %s", jobID, from, to)
	}
	// The statement also raises the job's seq, by which watchers find changes.
	n, err := tx.JobMove(ctx, query.JobMoveParams{ToStatus: string(to), Now: tx.Now, JobID: jobID, FromStatus: string(from)})
	if err != nil {
		return fmt.Errorf("job %s: move from %s to %s: %w", jobID, from, to, err)
	}
	if n != 1 {
		return fmt.Errorf("job %s: is no longer %s: %w", jobID, from, errRaced)
	}
	tx.Announce(Topic(jobID))
	return nil
}

// StatesMarkdown prints the table as docs/states.md, so that the document cannot differ
// from what the code allows.
func StatesMarkdown() string {
	var b strings.Builder
	b.WriteString("# Job states\n\nPrinted from `internal/work/job` by `make generate`; do not edit.\n\n" +
		"If your program follows jobs, these are the states that it sees. `completed`, `failed` and `cancelled` are terminal: they never change.\n\n| from | to | when |\n|---|---|---|\n")
	for _, m := range moves {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", m.from, m.to, m.when)
	}
	return b.String()
}
