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

// mostVersions bounds the versions that discovery shows.
const mostVersions = 16

// Discovered is what discovery says about the queue and its workers, over all
// workspaces (decisions 12). It says nothing about a particular job.
type Discovered struct {
	Queue    QueueState
	Blenders []string // the versions of the workers online, sorted; never nil
}

// Discover reads it.
func (j *Jobs) Discover(ctx context.Context) (d Discovered, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		online, err := dispatch.AnyOnline(ctx, tx)
		if err != nil {
			return err
		}
		versions, err := dispatch.BlenderVersions(ctx, tx)
		if err != nil {
			return err
		}
		d.Blenders = append([]string{}, versions[:min(len(versions), mostVersions)]...)
		queued, err := tx.JobQueuedCount(ctx)
		if err != nil {
			return fmt.Errorf("count queued jobs: %w", err)
		}
		switch {
		case !online:
			d.Queue = QueueNoWorkers
		case queued > 0:
			d.Queue = QueueBusy
		default:
			d.Queue = QueueIdle
		}
		return nil
	})
	return d, err
}
