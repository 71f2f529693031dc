package db_test

import (
	"context"
	"sync/atomic"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
)

// watched is a context that does not end and counts what waits for its end.
type watched struct {
	context.Context
	done    chan struct{}
	waiting *atomic.Int32
}

func (w watched) Done() <-chan struct{} { return w.done }

// AfterFunc is what package context asks a context for that is not its own.
func (w watched) AfterFunc(func()) func() bool {
	w.waiting.Add(1)
	return func() bool {
		w.waiting.Add(-1)
		return true
	}
}

// A server's loops try again with one context as long as the database is away.
func TestATransactionThatCannotBeginLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		d, err := db.Open(t.Context(), db.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		ctx := watched{context.Background(), make(chan struct{}), new(atomic.Int32)}
		if err := d.Read(ctx, func(*db.Tx) error { return nil }); err == nil {
			t.Fatal("a closed database was read")
		}
		if n := ctx.waiting.Load(); n != 0 {
			t.Errorf("%d functions wait for the context's end", n)
		}
	})
}
