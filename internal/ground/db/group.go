package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// group lets concurrent writes to SQLite share one commit, so that many of them cost one
// disk sync. Each runs under its own savepoint: a failed one is undone alone. Every
// caller waits for the commit, so an acknowledged write is on disk.
type group struct {
	d       *DB
	queue   chan *groupedWrite
	closing chan struct{} // closed by Close: nothing more is queued
	ended   chan struct{} // closed when the last commit is done
}

// groupedWrite is one caller's write in a group. The group sets the results before it
// closes done.
type groupedWrite struct {
	ctx     context.Context
	do      func(*Tx) error
	follows outcome
	err     error
	again   bool // rolled back with the whole group: it runs again alone
	panic   any
	done    chan struct{}
}

// maxGroup bounds how many writes share a commit.
const maxGroup = 64

func newGroup(d *DB) *group {
	return &group{d: d, queue: make(chan *groupedWrite, maxGroup), closing: make(chan struct{}), ended: make(chan struct{})}
}

// errClosed is the error of a write that came too late.
var errClosed = errors.New("the database is closed")

// write runs do in the next group and waits for its commit.
func (g *group) write(ctx context.Context, do func(*Tx) error) error {
	j := &groupedWrite{ctx: ctx, do: do, done: make(chan struct{})}
	select {
	case g.queue <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-g.closing:
		return errClosed
	}
	select {
	case <-j.done:
	case <-g.ended:
		select {
		case <-j.done:
		default:
			return errClosed // it was queued after the last commit
		}
	}
	if j.panic != nil {
		panic(j.panic) // on the caller's own stack, where its recover is
	}
	if j.again {
		return g.d.once(ctx, g.d.write, true, do)
	}
	return j.err
}

// run commits the queued writes, as many at once as wait, until the database closes.
func (g *group) run() {
	defer close(g.ended)
	for closing := false; !closing; {
		var batch []*groupedWrite
		select {
		case first := <-g.queue:
			batch = append(batch, first)
		case <-g.closing:
			closing = true
		}
		for more := true; more && len(batch) < maxGroup; {
			select {
			case j := <-g.queue:
				batch = append(batch, j)
			default:
				more = false
			}
		}
		if len(batch) > 0 {
			g.commit(batch)
		}
	}
}

// commit runs a batch and gives each write its result.
func (g *group) commit(batch []*groupedWrite) {
	err := g.transact(batch)
	for _, j := range batch {
		switch {
		case err == nil && j.err == nil && j.panic == nil:
			g.d.committed(j.follows)
		case errors.Is(err, errUndone):
			j.again = j.panic == nil
		case err != nil && j.err == nil:
			j.err = err
		}
		close(j.done)
	}
}

// errUndone means that SQLite rolled back the whole transaction. It does so when the end
// of a caller's context interrupts a statement.
var errUndone = errors.New("the transaction was rolled back")

// transact runs a batch in one transaction. Its error is that of the whole batch.
func (g *group) transact(batch []*groupedWrite) error {
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

// step runs one write under its savepoint. It stores the write's own error in j; a
// returned error means that the whole transaction is lost.
func (g *group) step(tx *sql.Tx, j *groupedWrite) error {
	if _, err := tx.ExecContext(context.Background(), "SAVEPOINT step"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	j.follows, j.err = g.guarded(tx, j)
	if j.err == nil && j.panic == nil {
		_, err := tx.ExecContext(context.Background(), "RELEASE step")
		return err
	}
	if _, err := tx.ExecContext(context.Background(), "ROLLBACK TO step"); err != nil {
		return fmt.Errorf("%w: %w", errUndone, err)
	}
	return nil
}

// guarded keeps a panic of one caller from ending the goroutine that serves all.
func (g *group) guarded(tx *sql.Tx, j *groupedWrite) (follows outcome, err error) {
	defer func() { j.panic = recover() }()
	return g.d.apply(j.ctx, tx, j.do)
}
