package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pressly/goose/v3/lock"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

func addWorkspace(ctx context.Context, d *db.DB, id string) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		return tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams{WorkspaceID: id, CreatedAt: tx.Now})
	})
}

func count(t *testing.T, d *db.DB) (n int64) {
	t.Helper()
	ctx := t.Context()
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.WorkspaceCount(ctx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOnlyTheServiceReadsItsDatabase: it contains people's addresses.
func TestOnlyTheServiceReadsItsDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "svc.db")
	d, err := db.Open(t.Context(), db.Config{URL: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if is, err := os.Stat(name); err != nil || is.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, error %v", name, is.Mode(), err)
		}
	}
}

func TestFailedTransactionKeepsNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, boom := t.Context(), errors.New("boom")
		err := d.Write(ctx, func(tx *db.Tx) error {
			if err := tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams{WorkspaceID: "WSP-1"}); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) || count(t, d) != 0 {
			t.Fatalf("got %v and %d rows", err, count(t, d))
		}
	})
}

// TestWhatIsToFollowACommitIsDoneOnceAndOnlyThen: never for a transaction that was rolled
// back.
func TestWhatIsToFollowACommitIsDoneOnceAndOnlyThen(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, boom := t.Context(), errors.New("boom")
		done := 0
		for _, result := range []error{nil, boom} {
			err := d.Write(ctx, func(tx *db.Tx) error {
				tx.AfterCommit(func() { done++ })
				return result
			})
			if !errors.Is(err, result) || done != 1 {
				t.Errorf("a transaction with the outcome %v ends with %v; it was done %d times in all", result, err, done)
			}
		}
		// Writes that come at once may share a commit, or run again.
		if err := addWorkspace(ctx, d, "WSP-1"); err != nil {
			t.Fatal(err)
		}
		var counted atomic.Int64
		var writers sync.WaitGroup
		for range 4 {
			writers.Go(func() {
				for range 10 {
					err := d.Write(ctx, func(tx *db.Tx) error {
						tx.AfterCommit(func() { counted.Add(1) })
						return tx.WalletCreate(ctx, "WSP-1")
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		if counted.Load() != 40 {
			t.Errorf("40 writes were followed by %d", counted.Load())
		}
	})
}

// Another process may hold the lock of the migrations without limit: one that was
// stopped during its start does.
func TestAMigratedDatabaseIsOpenedWithoutTheMigrationsLock(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	other, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	holder, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close() }()
	if _, err := holder.ExecContext(t.Context(), "SELECT pg_advisory_lock($1)", lock.DefaultLockID); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		d, err := db.Open(context.Background(), db.Config{URL: url})
		if err == nil {
			err = d.Close()
		}
		opened <- err
	}()
	if err := await.Next(t, opened, "the database, without the lock"); err != nil {
		t.Fatal(err)
	}
}

func TestReadTransactionSeesOneMoment(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		err := d.Read(ctx, func(tx *db.Tx) error {
			before, err := tx.WorkspaceCount(ctx)
			if err != nil {
				return err
			}
			if err := addWorkspace(ctx, d, "WSP-1"); err != nil {
				return err
			}
			after, err := tx.WorkspaceCount(ctx)
			if before != after {
				t.Errorf("saw %d, then %d", before, after)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestReadTransactionCannotWrite(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		err := d.Read(ctx, func(tx *db.Tx) error {
			return tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams{WorkspaceID: "WSP-1"})
		})
		if err == nil || count(t, d) != 0 {
			t.Fatal("a read transaction wrote")
		}
	})
}

func TestAMissingRowIsNotFound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		err := d.Read(ctx, func(tx *db.Tx) error {
			_, err := tx.WorkspaceGet(ctx, "WSP-none")
			return err
		})
		if !db.IsNotFound(err) || !errors.Is(err, sql.ErrNoRows) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestManyProcessesOpenOneNewDatabase(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		if _, err := os.Stat(url); err == nil { // SQLite's file, which is migrated already
			url = filepath.Join(t.TempDir(), "new.db")
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				d, err := db.Open(t.Context(), db.Config{URL: url})
				if err != nil {
					t.Error(err)
					return
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

// Two DBs over one URL represent two processes: they share only the database.
func TestAnnouncementReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		here, there := dbtest.Open(t, db.Config{URL: url}), dbtest.Open(t, db.Config{URL: url})
		wake, stop := there.Listen("work")
		defer stop()
		// The first wakes show that the other side has begun to listen.
		announce := func(id string) {
			err := here.Write(ctx, func(tx *db.Tx) error {
				tx.Announce("work")
				return tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams{WorkspaceID: id})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		announce("WSP-first")
		await.Next(t, wake, "the first announcement")
		for n := range 9 {
			announce(fmt.Sprint("WSP-", n))
			await.Next(t, wake, "an announcement")
		}
	})
}

func TestAReadStatementSeesWhatIsCommitted(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		ctx, ahead := t.Context(), time.Hour
		d := dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return ahead }})
		if err := addWorkspace(ctx, d, "WSP-1"); err != nil {
			t.Fatal(err)
		}
		err := d.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) error {
			for want := int64(1); want <= 2; want++ {
				if n, err := tx.WorkspaceCount(ctx); err != nil || n != want {
					t.Errorf("saw %d, want %d, %v", n, want, err)
				}
				if err := addWorkspace(ctx, d, fmt.Sprintf("WSP-%d", want+1)); err != nil {
					return err
				}
			}
			if until := time.Until(tx.Time()); until < ahead-time.Minute || until > ahead {
				t.Errorf("its time is %s ahead, want %s", until, ahead)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
