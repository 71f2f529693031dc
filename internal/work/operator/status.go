package operator

import (
	"context"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/process"
)

// Bounds of what Status reads.
const (
	statusWorkers = 24 * time.Hour // that reported within it
	statusWaiting = 10             // workspaces
)

// Status is what the whole service does now.
type Status struct {
	OK            bool           `json:"ok" const:"true"`
	WaitingFrames int64          `json:"waiting_frames" doc:"Frames that wait for a worker."`
	HeldFrames    int64          `json:"held_frames" doc:"Frames that workers render now."`
	Waiting       []WaitingOf    `json:"waiting" doc:"The workspaces with the most waiting frames."`
	Workers       []WorkersIn    `json:"workers" doc:"How many workers of the last 24 hours are in each state."`
	DeadLetters   int64          `json:"dead_letters" doc:"Internal tasks that failed too often."`
	Alerts        int            `json:"alerts" doc:"How many alerts are not over."`
	Audit         *AuditOutcome  `json:"audit,omitempty" doc:"The last audit of the store; absent before the first."`
	Processes     []ProcessState `json:"processes" doc:"The processes that serve, and those that fell silent within an hour."`
}

// WaitingOf is how many frames of a workspace wait.
type WaitingOf struct {
	WorkspaceID string `json:"workspace_id"`
	Frames      int64  `json:"frames"`
}

// WorkersIn is how many workers are in a state.
type WorkersIn struct {
	State dispatch.WorkerState `json:"state"`
	Count int                  `json:"count"`
}

// AuditOutcome is when an audit ended, and how many breaches it found.
type AuditOutcome struct {
	EndedAt  time.Time `json:"ended_at"`
	Breaches int       `json:"breaches"`
}

// ProcessState is a process of the service.
type ProcessState struct {
	Host    string `json:"host"`
	Version string `json:"version"`
	Alive   bool   `json:"alive"`
}

// CountWorkers counts workers by their state, in the order in which the states come, and the
// frames that they hold.
func CountWorkers(workers []dispatch.WorkerView) (by []WorkersIn, frames int64) {
	at := map[dispatch.WorkerState]int{}
	by = []WorkersIn{}
	for _, w := range workers {
		i, ok := at[w.State]
		if !ok {
			i = len(by)
			at[w.State] = i
			by = append(by, WorkersIn{State: w.State})
		}
		by[i].Count++
		frames += int64(w.Frames)
	}
	return by, frames
}

// StatusOf reads what the service does now.
func StatusOf(ctx context.Context, tx *db.Tx) (Status, error) {
	s := Status{OK: true, Waiting: []WaitingOf{}, Processes: []ProcessState{}}
	waiting, frames, err := dispatch.WaitingOf(ctx, tx, statusWaiting)
	if err != nil {
		return s, err
	}
	s.WaitingFrames = frames
	for _, w := range waiting {
		s.Waiting = append(s.Waiting, WaitingOf(w))
	}
	workers, err := dispatch.ListWorkers(ctx, tx, statusWorkers)
	if err != nil {
		return s, err
	}
	s.Workers, s.HeldFrames = CountWorkers(workers)
	if s.DeadLetters, err = tx.DeadLetterCount(ctx); err != nil {
		return s, err
	}
	alerts, err := operators.Standings(ctx, tx)
	if err != nil {
		return s, err
	}
	s.Alerts = len(alerts)
	audit, err := LastAudit(ctx, tx)
	if err != nil {
		return s, err
	}
	if audit != nil {
		s.Audit = &AuditOutcome{audit.EndedAt, audit.BreachCount}
	}
	return s, s.readProcesses(ctx, tx)
}

// readProcesses reads the processes that serve.
func (s *Status) readProcesses(ctx context.Context, tx *db.Tx) error {
	all, err := process.List(ctx, tx)
	for _, p := range all {
		s.Processes = append(s.Processes, ProcessState{p.Host, p.Version, p.Alive})
	}
	return err
}
