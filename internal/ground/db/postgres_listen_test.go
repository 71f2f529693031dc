package db_test

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// announcer is one process, and how often it notified others.
type announcer struct {
	*db.DB
	notified atomic.Int64
}

func openAnnouncer(t *testing.T, url string) *announcer {
	t.Helper()
	a := &announcer{}
	a.DB = dbtest.Open(t, db.Config{URL: url, OnStatement: func(name string) {
		if name == "Announce" {
			a.notified.Add(1)
		}
	}})
	return a
}

// commit writes one workspace and reports whether it notified others.
func (a *announcer) commit(t *testing.T) (notified bool) {
	t.Helper()
	before := a.notified.Load()
	err := a.Write(t.Context(), func(tx *db.Tx) error {
		tx.Announce("work")
		return tx.WorkspaceCreate(t.Context(), query.WorkspaceCreateParams{WorkspaceID: rand.Text()})
	})
	if err != nil {
		t.Error(err)
	}
	return a.notified.Load() > before
}

func (a *announcer) becomeSilent(t *testing.T) {
	t.Helper()
	await.Until(t, "a commit without a notification", func() bool { return !a.commit(t) })
}

func TestAProcessAloneSendsNoNotification(t *testing.T) {
	t.Parallel()
	a := openAnnouncer(t, dbtest.URL(t, "postgres"))
	a.becomeSilent(t)
	wake, stop := a.Listen("work")
	defer stop()
	for range 20 {
		if a.commit(t) {
			t.Error("a commit notified, without another listener")
		}
		await.Next(t, wake, "the wake of a listener in the same process")
	}
}

func TestAProcessNotifiesWhileAnotherListens(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	a := openAnnouncer(t, url)
	a.becomeSilent(t)
	b := openAnnouncer(t, url)
	await.Until(t, "a commit that notifies", func() bool { return a.commit(t) })
	wake, stop := b.Listen("work")
	defer stop()
	for range 20 {
		if !a.commit(t) || !b.commit(t) {
			t.Error("a commit did not notify the other process")
		}
		await.Next(t, wake, "a wake")
	}
	stop()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	a.becomeSilent(t)
}

// The newcomer looks only when it is woken. The commit comes between its first wake,
// by which it listens, and the other's answer, each round at another moment.
func TestAProcessThatJustStartedToListenIsWoken(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	for round := range 16 {
		a := openAnnouncer(t, url)
		a.becomeSilent(t)
		want := count(t, a.DB) + 1
		b := openAnnouncer(t, url)
		wake, stop := b.Listen("work")
		await.Next(t, wake, "the first wake")
		var commit sync.WaitGroup
		commit.Go(func() { a.commit(t) })
		for range round / 4 {
			count(t, a.DB)
		}
		for count(t, b.DB) < want {
			await.Next(t, wake, "the wake of a newcomer")
		}
		stop()
		commit.Wait()
		if err := errors.Join(b.Close(), a.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// A session that is cut loses its locks before its process knows.
func TestNoWakeIsLostWhenTheListeningSessionBreaks(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	a := openAnnouncer(t, url)
	a.becomeSilent(t)
	b := dbtest.Open(t, db.Config{URL: url})
	wake, stop := b.Listen("work")
	defer stop()
	await.Until(t, "a commit that notifies", func() bool { return a.commit(t) })
	pool, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	for range 5 {
		cut := `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
			WHERE locktype = 'advisory' AND datname = current_database()`
		if _, err := pool.ExecContext(t.Context(), cut); err != nil {
			t.Fatal(err)
		}
		a.commit(t)
		want := count(t, a.DB)
		for count(t, b) < want {
			await.Next(t, wake, "the wake of a commit while sessions are cut")
		}
	}
}
