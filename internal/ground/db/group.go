package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// group lets the writes that come to SQLite at once share one commit, so that
// many cost the disk one sync. Each runs under a savepoint of its own: one that
// fails is undone alone. What is acknowledged is on disk all the same, since
// nobody is answered before the commit.
type group struct {
	d     *DB
	queue chan *job
}

// job is one write on its way through a group.
type job struct {
	ctx    context.Context
	do     func(*Tx) error
	topics []string
	err    error
	again  bool // it was undone by no fault of its own
	panic  any
	done   chan struct{}
}

// groupMost bounds how many writes share a commit.
const groupMost = 64

func newGroup(d *DB) *group { return &group{d: d, queue: make(chan *job, groupMost)} }

// write has do run and committed with others.
func (g *group) write(ctx context.Context, do func(*Tx) error) error {
	j := &job{ctx: ctx, do: do, done: make(chan struct{})}
	select {
	case g.queue <- j:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-j.done
	if j.panic != nil {
		panic(j.panic) // on the caller's own stack, where its recover is
	}
	if j.again { // alone this time
		return g.d.once(ctx, g.d.write, true, do)
	}
	return j.err
}

// run commits what comes until the queue is closed.
func (g *group) run() {
	for first := range g.queue {
		batch := []*job{first}
	more:
		for len(batch) < groupMost {
			select {
			case j, open := <-g.queue:
				if !open {
					break more
				}
				batch = append(batch, j)
			default:
				break more
			}
		}
		g.commit(batch)
	}
}

func (g *group) commit(batch []*job) {
	err := g.transact(batch)
	for _, j := range batch {
		switch {
		case err == nil && j.err == nil && j.panic == nil:
			for _, topic := range j.topics {
				g.d.hub.wake(topic)
			}
		case errors.Is(err, errUndone):
			j.again = j.panic == nil
		case err != nil && j.err == nil:
			j.err = err
		}
		close(j.done)
	}
}

// errUndone says that SQLite has undone the whole transaction: it does so when a
// caller's going away interrupts a statement.
var errUndone = errors.New("the transaction was undone")

func (g *group) transact(batch []*job) error {
	tx, err := g.d.write.BeginTx(context.Background(), nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// After Commit this is a no-op.
	defer func() { _ = tx.Rollback() }()
	wrote := false
	for _, j := range batch {
		if j.err = j.ctx.Err(); j.err != nil {
			continue
		}
		if err := g.step(tx, j); err != nil {
			return err
		}
		wrote = wrote || j.err == nil
	}
	if !wrote {
		return nil
	}
	return g.d.commit(tx)
}

// step runs one write under its savepoint. An error means that the transaction
// is lost; the write's own error stands in the job.
func (g *group) step(tx *sql.Tx, j *job) error {
	if _, err := tx.ExecContext(context.Background(), "SAVEPOINT step"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	j.topics, j.err = g.guarded(tx, j)
	if j.err == nil && j.panic == nil {
		_, err := tx.ExecContext(context.Background(), "RELEASE step")
		return err
	}
	if _, err := tx.ExecContext(context.Background(), "ROLLBACK TO step"); err != nil {
		return fmt.Errorf("%w: %w", errUndone, err)
	}
	return nil
}

func (g *group) guarded(tx *sql.Tx, j *job) (topics []string, err error) {
	defer func() { j.panic = recover() }()
	return g.d.apply(j.ctx, tx, true, j.do)
}
