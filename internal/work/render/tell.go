package render

import (
	"context"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/webhook"
)

// eventOf names what is told of a job's end (spec 6).
func eventOf(s Status) (event string, ok bool) {
	switch s {
	case Completed:
		return contract.EventCompleted, true
	case Failed:
		return contract.EventFailed, true
	case Cancelled:
		return contract.EventCancelled, true
	}
	return "", false
}

// tell writes the event of a job that has ended, with the job as it is now, in
// the transaction of its end.
func (j *Jobs) tell(ctx context.Context, tx *db.Tx, jobID string) error {
	o, err := j.object(ctx, tx, jobID)
	if err != nil {
		return err
	}
	event, ok := eventOf(o.Status)
	if !ok {
		return fmt.Errorf("job %s is %s, which is no end to tell of", jobID, o.Status)
	}
	return webhook.Tell(ctx, tx, webhook.Event{WorkspaceID: o.WorkspaceID, JobID: jobID, Type: event, Data: o})
}
