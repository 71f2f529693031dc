package db_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// TestAMovedClockIsTheSameForEveryProcessAtOnce moves the clock in one process and reads it in
// another.
func TestAMovedClockIsTheSameForEveryProcessAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		one, two := dbtest.Open(t, db.Config{URL: url, Movable: true}), dbtest.Open(t, db.Config{URL: url, Movable: true})
		plain := dbtest.Open(t, db.Config{URL: url})
		wake, stop := two.Listen("anything")
		defer stop()
		const by = 90 * 24 * time.Hour
		for range 2 {
			if err := one.Write(t.Context(), func(tx *db.Tx) error { return tx.ClockMove(t.Context(), by.Microseconds()) }); err != nil {
				t.Fatal(err)
			}
		}
		ahead := func(d *db.DB) (of []time.Duration) {
			look := func(tx *db.Tx) error {
				of = append(of, time.Until(tx.Time()).Round(time.Hour))
				return nil
			}
			for _, err := range []error{
				d.Read(t.Context(), look), d.Write(t.Context(), look),
				d.ReadStatement(t.Context(), func(_ context.Context, tx *db.Tx) error { return look(tx) }),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			return of
		}
		for _, d := range []*db.DB{one, two} {
			for _, got := range ahead(d) {
				if got != 2*by {
					t.Errorf("a clock is %s ahead, want %s", got, 2*by)
				}
			}
		}
		for _, got := range ahead(plain) {
			if got != 0 {
				t.Errorf("a clock that does not move is %s ahead", got)
			}
		}
		select { // what came from the opening
		case <-wake:
		default:
		}
		err := one.Write(t.Context(), func(tx *db.Tx) error { return tx.ClockMove(t.Context(), 1) })
		if err == nil {
			err = one.WakeAll(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		await.Next(t, wake, "a listener in the other process")
	})
}

// TestSchemasOfADatabaseKnowNothingOfEachOther has two schemas of one database, and the
// default.
func TestSchemasOfADatabaseKnowNothingOfEachOther(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	a, b := dbtest.Open(t, db.Config{URL: url, Schema: "world_a"}), dbtest.Open(t, db.Config{URL: url, Schema: "world_b"})
	again, plain := dbtest.Open(t, db.Config{URL: url, Schema: "world_a"}), dbtest.Open(t, db.Config{URL: url})
	wake, stop := again.Listen("topic")
	defer stop()
	if err := addWorkspace(t.Context(), a, "WSP-1"); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*db.DB{"the other": b, "the default": plain} {
		if n := count(t, d); n != 0 {
			t.Errorf("%s schema has %d rows", name, n)
		}
	}
	if n := count(t, again); n != 1 {
		t.Errorf("the schema has %d rows, opened again", n)
	}
	err := a.Write(t.Context(), func(tx *db.Tx) error { tx.Announce("topic"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	await.Next(t, wake, "the topic in the same schema")
	if db.DropSchema(t.Context(), url, "no good name") == nil {
		t.Error("any text is a name of a schema")
	}
	if err := db.DropSchema(t.Context(), url, "world_b"); err != nil {
		t.Fatal(err)
	}
	if err := addWorkspace(t.Context(), b, "WSP-1"); err == nil {
		t.Error("a schema is there after it was dropped")
	}
	if n := count(t, again); n != 1 {
		t.Errorf("dropping another schema left %d rows", n)
	}
}
