package db_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// TestAProcessOpensNoMoreConnectionsThanItMay holds every connection that it may open, has
// many more transactions wait for one, and counts on the server.
func TestAProcessOpensNoMoreConnectionsThanItMay(t *testing.T) {
	t.Parallel()
	const most, transactions = 6, 60
	url := dbtest.URL(t, "postgres")
	d := dbtest.Open(t, db.Config{URL: url, Connections: most})
	other := dbtest.Raw(t, url)
	other.SetMaxOpenConns(1)
	open := func() (n int) {
		err := other.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()").Scan(&n)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	begun, leave := make(chan struct{}, transactions), make(chan struct{})
	var all sync.WaitGroup
	for i := range transactions {
		all.Go(func() {
			run := d.Read
			if i%2 == 0 {
				run = d.Write
			}
			err := run(t.Context(), func(tx *db.Tx) error {
				begun <- struct{}{}
				<-leave
				_, err := tx.WorkspaceCount(context.WithoutCancel(t.Context()))
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range most - 1 { // one listens
		await.Next(t, begun, "a transaction begins")
	}
	await.Until(t, "the connections are open", func() bool { return open() >= most })
	close(leave)
	for range transactions - (most - 1) {
		if n := open(); n > most {
			t.Errorf("%d connections are open, want %d at most", n, most)
		}
		await.Next(t, begun, "the next transaction begins")
	}
	all.Wait()
	if n := open(); n > most {
		t.Errorf("%d connections are open after the transactions, want %d at most", n, most)
	}
}

// TestAServerWithTooFewConnectionsIsSaidAtTheStart, and one with enough is not.
func TestAServerWithTooFewConnectionsIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	said := func(connections int) string {
		var log bytes.Buffer
		dbtest.Open(t, db.Config{URL: url, Connections: connections, Log: slog.New(slog.NewTextHandler(&log, nil))}).WarnOfConnections(t.Context())
		return log.String()
	}
	if text := said(100_000); !strings.Contains(text, "raise its max_connections") || !strings.Contains(text, "this_process=100000") {
		t.Errorf("the log has %q", text)
	}
	if text := said(db.LeastConnections); strings.Contains(text, "max_connections") {
		t.Errorf("for %d connections the log has %q", db.LeastConnections, text)
	}
}

func TestTooFewConnectionsAreRefused(t *testing.T) {
	t.Parallel()
	if d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t, "postgres"), Connections: db.LeastConnections - 1}); err == nil {
		_ = d.Close()
		t.Error("it opened")
	}
}
