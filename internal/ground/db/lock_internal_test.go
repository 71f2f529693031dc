package db

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
)

// TestALockThatWasWaitedForIsAnOutageAndNoLostRace has two programs at one file. A transaction
// that loses a race runs again at once; one that waited in vain for the other's lock has
// taken its caller's time already.
func TestALockThatWasWaitedForIsAnOutageAndNoLostRace(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "svc.db")
	pool := func(begins string) *sql.Conn {
		t.Helper()
		p, err := sqlitePool(path, 1, []string{"_pragma=busy_timeout(0)", "_pragma=journal_mode(WAL)", begins}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		c, err := p.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	do := func(c *sql.Conn, statement string) {
		t.Helper()
		if _, err := c.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	one, other := pool("_txlock=immediate"), pool("_txlock=deferred")
	do(one, "CREATE TABLE a (b)")
	e := &sqliteEngine{}

	do(other, "BEGIN IMMEDIATE")
	if _, err := one.BeginTx(context.WithoutCancel(ctx), nil); err == nil || e.again(err) || !IsAway(err) {
		t.Errorf("a lock that another program keeps: %v, again %v, away %v", err, e.again(err), IsAway(err))
	}
	do(other, "ROLLBACK")

	do(other, "BEGIN")
	if err := other.QueryRowContext(ctx, "SELECT count(*) FROM a").Err(); err != nil {
		t.Fatal(err)
	}
	do(one, "INSERT INTO a VALUES (1)")
	if _, err := other.ExecContext(ctx, "INSERT INTO a VALUES (2)"); err == nil || !e.again(err) {
		t.Errorf("a lost race: %v, again %v", err, e.again(err))
	}
}
