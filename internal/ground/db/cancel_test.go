package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/dbtest"
)

// TestACancelledCallerKnowsWhetherItsWriteIsKept ends the caller's context at any moment
// of a transaction: an error then means that nothing is kept, whatever the
// moment was. Otherwise a file would be removed that a row names.
func TestACancelledCallerKnowsWhetherItsWriteIsKept(t *testing.T) {
	t.Parallel()
	const rounds = 300
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		kept := int64(0)
		for i := range rounds {
			ctx, cancel := context.WithCancel(t.Context())
			timer := time.AfterFunc(time.Duration(rand.Int64N(int64(2*time.Millisecond))), cancel)
			if err := addWorkspace(ctx, d, fmt.Sprintf("WSP-%d", i)); err == nil {
				kept++
			}
			timer.Stop()
			cancel()
			if n := count(t, d); n != kept {
				t.Fatalf("%d transactions reported success, but %d are kept", kept, n)
			}
		}
		if kept == 0 {
			t.Error("no transaction was fast enough to be kept: this test shows nothing")
		}
	})
}

func TestACommitOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		err := d.Write(ctx, func(tx *db.Tx) error {
			defer cancel()
			return tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams{WorkspaceID: "WSP-1", CreatedAt: tx.Now})
		})
		if err != nil || count(t, d) != 1 {
			t.Errorf("got %v and %d rows, want the row kept", err, count(t, d))
		}
	})
}

func TestATransactionDoesNotBeginForACancelledCaller(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := addWorkspace(ctx, d, "WSP-1"); err == nil || count(t, d) != 0 {
			t.Errorf("got %v and %d rows", err, count(t, d))
		}
	})
}
