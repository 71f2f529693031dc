package job

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/dispatch"
)

// QueueState is the state of the queue that a new job would find.
type QueueState string

// States of the queue.
const (
	QueueIdle      QueueState = "idle"       // a worker is online and no job waits
	QueueBusy      QueueState = "busy"       // other jobs wait
	QueueNoWorkers QueueState = "no_workers" // no worker is online
)

// Accepts reports whether the service accepts new jobs. Running jobs are not affected.
func (j *Jobs) Accepts() bool { return j.Accepting == nil || j.Accepting() }

// QueueState reads the state of the queue, over all workspaces, for discovery
// (decisions 12). It says nothing about a particular job.
func (j *Jobs) QueueState(ctx context.Context) (state QueueState, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		online, err := dispatch.AnyOnline(ctx, tx)
		if err != nil {
			return err
		}
		queued, err := tx.JobQueuedCount(ctx)
		if err != nil {
			return fmt.Errorf("count queued jobs: %w", err)
		}
		switch {
		case !online:
			state = QueueNoWorkers
		case queued > 0:
			state = QueueBusy
		default:
			state = QueueIdle
		}
		return nil
	})
	return state, err
}
