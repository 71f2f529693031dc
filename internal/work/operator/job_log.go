package operator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/wallet"
)

// LogEntry is one line of a job's log. Members that do not apply to its kind are left out.
type LogEntry struct {
	At   time.Time `json:"at"`
	Kind EntryKind `json:"kind"`
	// Text says what happened, in words.
	Text       string  `json:"text"`
	Frame      *int64  `json:"frame,omitempty"`
	Attempt    int64   `json:"attempt,omitempty"`
	WorkerID   string  `json:"worker_id,omitempty"`
	WorkerName string  `json:"worker_name,omitempty"` // "" once the service has forgotten the worker
	Seconds    float64 `json:"seconds,omitempty"`     // that Blender took
	Code       string  `json:"code,omitempty"`
	Reason     string  `json:"reason,omitempty"`
	Actor      string  `json:"actor,omitempty"`
	RequestID  string  `json:"request_id,omitempty"`
	// Output is the end of what Blender printed.
	Output string `json:"output,omitempty"`
}

// EntryKind is the kind of an entry of a job's log.
type EntryKind string

// Kinds of entries. Those of one moment come in this order.
const (
	LogCreated   EntryKind = "created"
	LogMoney     EntryKind = "money"
	LogSubmitted EntryKind = "submitted"
	LogClaimed   EntryKind = "claimed"
	LogHeld      EntryKind = "held" // by a worker, now
	LogPaused    EntryKind = "paused"
	LogResumed   EntryKind = "resumed"
	LogFailed    EntryKind = "attempt_failed"
	LogAccepted  EntryKind = "frame_accepted"
	LogAct       EntryKind = "operator"
	LogEnded     EntryKind = "ended"
	LogRemoved   EntryKind = "artifact_removed"
	LogCall      EntryKind = "webhook"
)

var kindOrder = []EntryKind{
	LogCreated, LogMoney, LogSubmitted, LogClaimed, LogHeld, LogPaused, LogResumed, LogFailed, LogAccepted, LogAct, LogEnded, LogRemoved, LogCall,
}

// JobLog tells what happened to a job, in order of time: its states, each attempt at a frame,
// its money, what operators did and which webhooks were called. Failed attempts and Blender's
// output are kept for a while after the job's end. Error: render_not_found.
func JobLog(ctx context.Context, tx *db.Tx, jobID string) ([]LogEntry, error) {
	record, err := job.Read(ctx, tx, jobID)
	if err != nil {
		return nil, err
	}
	log := jobLog{record: record}
	for _, read := range []func(context.Context, *db.Tx) error{log.states, log.attempts, log.money, log.acts, log.calls} {
		if err := read(ctx, tx); err != nil {
			return nil, fmt.Errorf("read the log of %s: %w", jobID, err)
		}
	}
	slices.SortStableFunc(log.entries, func(a, b LogEntry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)))
	})
	log.countReturned()
	return log.entries, nil
}

// jobLog collects entries.
type jobLog struct {
	record  job.Record
	entries []LogEntry
}

// add adds an entry of a time in microseconds; 0 means that it did not happen.
func (l *jobLog) add(at int64, e LogEntry) {
	if at != 0 {
		e.At = db.Time(at)
		l.entries = append(l.entries, e)
	}
}

// states are those that the job's row has times of.
func (l *jobLog) states(ctx context.Context, tx *db.Tx) error {
	r := l.record
	by := "a person"
	if r.KeyID != "" {
		by = "the key " + r.KeyID
	}
	l.add(r.CreatedAt, LogEntry{Kind: LogCreated, RequestID: r.RequestID, Text: fmt.Sprintf("created by %s: %s of %q for %s, quote %s",
		by, count(int(r.FrameCount), "frame"), r.Filename, numbers.Dollars(r.PriceCents), r.QuoteID)})
	if r.SubmittedAt != r.CreatedAt {
		l.add(r.SubmittedAt, LogEntry{Kind: LogSubmitted, Text: "submitted"})
	}
	l.add(r.ClaimedAt, LogEntry{Kind: LogClaimed, Text: "a worker took the first frame"})
	if err := l.pauses(ctx, tx); err != nil {
		return err
	}
	ended, err := tx.LogEnd(ctx, r.JobID)
	if err != nil && !db.IsNotFound(err) {
		return err
	}
	l.add(r.CompletedAt, LogEntry{Kind: LogEnded, Text: "completed"})
	l.add(r.FailedAt, LogEntry{
		Kind: LogEnded, RequestID: ended, Code: r.FailureCode, Reason: r.FailureMessage, Text: fmt.Sprintf("failed with %s: %s", r.FailureCode, r.FailureMessage),
	})
	l.add(r.CancelledAt, LogEntry{Kind: LogEnded, RequestID: ended, Reason: r.CancelReason, Text: "cancelled: " + r.CancelReason})
	l.add(r.ArtifactRemovedAt, LogEntry{Kind: LogRemoved, Text: "the ZIP was removed"})
	return nil
}

// pauses are those of the job's workspace, and whether the job is paused now. Those of operators
// are among their acts.
func (l *jobLog) pauses(ctx context.Context, tx *db.Tx) error {
	paused, at, err := dispatch.PausedSince(ctx, tx, l.record.JobID)
	if err != nil {
		return err
	}
	if paused == dispatch.ByOperator {
		l.add(at, LogEntry{Kind: LogPaused, Text: "paused by an operator since then"})
	}
	changes, err := job.Pauses(l.record)
	if err != nil {
		return err
	}
	for _, c := range changes {
		e := LogEntry{Kind: LogPaused, RequestID: c.RequestID, Text: "paused by its workspace"}
		if !c.Paused {
			e.Kind, e.Text = LogResumed, "resumed by its workspace"
		}
		l.add(c.At, e)
	}
	return nil
}

// attempts are those at frames that are known: accepted, failed and in progress.
func (l *jobLog) attempts(ctx context.Context, tx *db.Tx) error {
	accepted, err := tx.LogFrames(ctx, l.record.JobID)
	if err != nil {
		return err
	}
	for _, f := range accepted {
		e := LogEntry{Kind: LogAccepted, Frame: &f.Frame, Attempt: f.Attempt, WorkerID: f.WorkerID, WorkerName: f.WorkerName, Seconds: float64(f.RenderUs) / 1e6}
		e.Text = fmt.Sprintf("frame %d accepted after %.1f s, attempt %d on %s, Blender %s (%s)",
			f.Frame, e.Seconds, f.Attempt, workerText(f.WorkerID, f.WorkerName), f.BlenderVersion, f.Device)
		if f.Finding != "" {
			e.Code, e.Text = f.Finding, e.Text+", finding "+f.Finding
		}
		l.add(f.AcceptedAt, e)
	}
	failed, err := tx.LogFailures(ctx, l.record.JobID)
	if err != nil {
		return err
	}
	for _, f := range failed {
		l.add(f.FailedAt, LogEntry{
			Kind: LogFailed, Frame: &f.Item, Attempt: f.Attempt, WorkerID: f.Holder, WorkerName: f.WorkerName, Code: f.Code, Reason: f.Message, Output: f.Log,
			Text: fmt.Sprintf("frame %d failed, attempt %d on %s: %s: %s", f.Item, f.Attempt, workerText(f.Holder, f.WorkerName), f.Code, f.Message),
		})
	}
	held, err := tx.LogHeld(ctx, l.record.JobID)
	if err != nil {
		return err
	}
	for _, h := range held {
		l.add(h.DueAt, LogEntry{
			Kind: LogHeld, Frame: &h.Item, Attempt: h.Attempt, WorkerID: h.Holder, WorkerName: h.WorkerName,
			Text: fmt.Sprintf("frame %d taken, attempt %d on %s, %d %% done by now", h.Item, h.Attempt, workerText(h.Holder, h.WorkerName), h.Progress/10),
		})
	}
	return nil
}

// countReturned adds to each attempt how many before it came to nothing and did not fail: the
// worker returned the frame, or nobody heard it. Nothing else remembers those.
func (l *jobLog) countReturned() {
	last := map[int64]int64{}
	for i, e := range l.entries {
		if e.Frame == nil {
			continue
		}
		if returned := e.Attempt - last[*e.Frame] - 1; returned > 0 {
			l.entries[i].Text += fmt.Sprintf(" (%s before it returned)", count(int(returned), "attempt"))
		}
		last[*e.Frame] = e.Attempt
	}
}

// workerText names a worker for people.
func workerText(id, name string) string {
	if name == "" {
		return id
	}
	return fmt.Sprintf("%s (%s)", name, id)
}

// moneyText says what an entry of the ledger did for its job.
var moneyText = map[wallet.Kind]string{
	wallet.Reserved: "reserved", wallet.Captured: "charged", wallet.Released: "released", wallet.Refunded: "refunded",
}

// money is what the ledger has booked for the job.
func (l *jobLog) money(ctx context.Context, tx *db.Tx) error {
	entries, err := tx.LogMoney(ctx, l.record.JobID)
	if err != nil {
		return err
	}
	for _, m := range entries {
		e := LogEntry{Kind: LogMoney, Code: m.Kind}
		e.Text = numbers.Dollars(m.AmountCents) + " " + cmp.Or(moneyText[wallet.Kind(m.Kind)], m.Kind)
		if m.Reference != l.record.JobID {
			e.Reason, e.Text = m.Reference, e.Text+", reference "+m.Reference
		}
		l.add(m.CreatedAt, e)
	}
	return nil
}

// acts are what operators did to the job.
func (l *jobLog) acts(ctx context.Context, tx *db.Tx) error {
	rows, err := tx.LogActs(ctx, query.LogActsParams{WorkspaceID: l.record.WorkspaceID, JobID: l.record.JobID})
	if err != nil {
		return err
	}
	for _, a := range rows {
		e := LogEntry{Kind: LogAct, Actor: a.Actor, Reason: a.Reason, RequestID: a.RequestID, Text: fmt.Sprintf("operator %s: %s", a.Actor, a.What)}
		if a.Reason != "" {
			e.Text += "; reason: " + a.Reason
		}
		l.add(a.ActedAt, e)
	}
	return nil
}

// calls are those of webhooks, with what was answered.
func (l *jobLog) calls(ctx context.Context, tx *db.Tx) error {
	rows, err := tx.LogCalls(ctx, l.record.JobID)
	if err != nil {
		return err
	}
	for _, c := range rows {
		answer := c.Error
		if c.Status != 0 {
			answer = fmt.Sprintf("HTTP %d", c.Status)
		}
		l.add(c.StartedAt, LogEntry{Kind: LogCall, Reason: answer, Text: fmt.Sprintf("webhook %s: %s", c.Url, strings.TrimSpace(answer))})
	}
	return nil
}
