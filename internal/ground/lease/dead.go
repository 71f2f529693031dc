package lease

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// DeadLetter is work that failed too often. It waits until an operator requeues it.
type DeadLetter struct {
	ID       string    `json:"id"` // the lease's
	Queue    string    `json:"queue"`
	Subject  string    `json:"subject"`
	Item     int64     `json:"item"`
	Failures int64     `json:"failures"`
	Code     string    `json:"code"`   // of the last failure; "" if it has none
	Reason   string    `json:"reason"` // of the last failure
	DiedAt   time.Time `json:"died_at"`
}

// DeadLetters lists up to most dead letters of queue, or of all queues if it is "", the
// newest first.
func DeadLetters(ctx context.Context, tx *db.Tx, queue string, most int) ([]DeadLetter, error) {
	rows, err := tx.DeadLetters(ctx, query.DeadLettersParams{Queue: queue, Max: int64(most)})
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	out := make([]DeadLetter, 0, len(rows))
	for _, r := range rows {
		out = append(out, DeadLetter{
			ID: r.LeaseID, Queue: r.Queue, Subject: r.Subject, Item: r.Item,
			Failures: r.Failures, Code: r.LastCode, Reason: r.LastError, DiedAt: db.Time(r.DiedAt),
		})
	}
	return out, nil
}

// Requeue turns a dead letter into work that is due at once; its failures count from
// zero. If the same item was added again meanwhile, that one stays unchanged. Error:
// dead_letter_not_found.
func Requeue(ctx context.Context, tx *db.Tx, id string) error {
	dead, err := tx.DeadLetterRemove(ctx, id)
	if db.IsNotFound(err) {
		return fault.New(fault.DeadLetterNotFound, "There is no dead letter %s.", id)
	}
	if err == nil {
		err = tx.LeaseRequeue(ctx, query.LeaseRequeueParams{
			LeaseID: dead.LeaseID, Queue: dead.Queue, Subject: dead.Subject, Item: dead.Item, DueAt: tx.Now,
			Attempt: dead.Attempt, LastCode: dead.LastCode, LastError: dead.LastError,
		})
	}
	if err != nil {
		return fmt.Errorf("requeue %s: %w", id, err)
	}
	tx.Announce(Topic(dead.Queue))
	return nil
}

// ForgetDead deletes the dead letters of queue that are older than age, and returns how
// many. It is for work that soon loses its worth.
func ForgetDead(ctx context.Context, d *db.DB, queue string, age time.Duration) (n int64, err error) {
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.DeadLetterDelete(ctx, query.DeadLetterDeleteParams{Queue: queue, Before: tx.Now - age.Microseconds()})
		return err
	})
	return n, err
}
