package db_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/dbtest"
)

// Writes that come at once may share a commit. Whatever some of them do - fail,
// panic, or lose their caller in the middle - the others are kept, whole, and
// each caller learns its own outcome.
func TestConcurrentWritesSucceedOrFailAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		boom := errors.New("boom")
		var kept atomic.Int64
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				ctx, leave := context.WithCancel(context.Background())
				defer leave()
				panicked := false
				err := func() error {
					defer func() { panicked = recover() != nil }()
					return d.Write(ctx, func(tx *db.Tx) error {
						for part := range 2 {
							w := query.WorkspaceCreateParams{WorkspaceID: fmt.Sprintf("WSP-%d-%d", i, part), CreatedAt: tx.Now}
							if err := tx.WorkspaceCreate(ctx, w); err != nil {
								return err
							}
						}
						switch i % 5 {
						case 1:
							return boom
						case 2:
							panic(boom)
						case 3:
							leave()
							_, err := tx.WorkspaceCount(ctx)
							return err
						}
						return nil
					})
				}()
				want := map[int]bool{1: errors.Is(err, boom), 2: panicked, 3: errors.Is(err, context.Canceled)}
				if fate, special := want[i%5]; special && !fate {
					t.Errorf("write %d: %v, panicked %v", i, err, panicked)
				} else if !special && (err != nil || panicked) {
					t.Errorf("write %d: %v, panicked %v", i, err, panicked)
				} else if !special {
					kept.Add(2)
				}
			})
		}
		wg.Wait()
		if n := count(t, d); n != kept.Load() {
			t.Errorf("%d rows are there, %d were acknowledged", n, kept.Load())
		}
	})
}

// A statement that is interrupted because its caller went away makes SQLite
// undo the whole transaction, including the other writes in it.
func TestAnInterruptedStatementUndoesNoOtherWrite(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				ctx, leave := context.WithCancel(context.Background())
				defer leave()
				err := d.Write(ctx, func(tx *db.Tx) error {
					w := query.WorkspaceCreateParams{WorkspaceID: fmt.Sprintf("WSP-%d", i), CreatedAt: tx.Now}
					if i%4 != 0 {
						return tx.WorkspaceCreate(ctx, w)
					}
					go leave() // while the statement runs, or a moment before or after
					_, err := tx.LeaseAddSpan(ctx, query.LeaseAddSpanParams{Queue: "q", Subject: w.WorkspaceID, First: 1, Step: 1, Count: 20000})
					return err
				})
				if i%4 != 0 && err != nil {
					t.Errorf("write %d: %v", i, err)
				}
				// If a connection was cut off mid-statement, PostgreSQL's driver only says
				// that it is bad.
				if i%4 == 0 && err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, driver.ErrBadConn) && !strings.Contains(err.Error(), "interrupt") && !strings.Contains(err.Error(), "cancel") {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if n := count(t, d); n != 30 {
			t.Errorf("%d of 30 rows are there", n)
		}
	})
}

// A request that outlives the stop may write while its service closes, and after it.
func TestAcknowledgedWriteDuringCloseIsKept(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		d, err := db.Open(t.Context(), db.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		write := func(id string) error {
			return d.Write(t.Context(), func(tx *db.Tx) error {
				return tx.WorkspaceCreate(t.Context(), query.WorkspaceCreateParams{WorkspaceID: id, CreatedAt: tx.Now})
			})
		}
		var wg sync.WaitGroup
		var kept atomic.Int64
		some := make(chan struct{})
		for i := range 16 {
			wg.Go(func() {
				for n := 0; write(fmt.Sprintf("WSP-%d-%d", i, n)) == nil; n++ {
					if kept.Add(1) == 16 {
						close(some)
					}
				}
			})
		}
		<-some
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if write("WSP-late") == nil {
			t.Error("a write after Close succeeds")
		}
		again, err := db.Open(t.Context(), db.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		err = again.Read(t.Context(), func(tx *db.Tx) error {
			n, err := tx.WorkspaceCount(t.Context())
			if err == nil && n < kept.Load() {
				t.Errorf("%d rows are there, %d writes were acknowledged", n, kept.Load())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
