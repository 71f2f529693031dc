package idempotency_test

import (
	"errors"
	"slices"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/test/dbtest"
)

// TestAuditSeesAChangedAnswer: a changed one would be sent as the first.
func TestAuditSeesAChangedAnswer(t *testing.T) {
	t.Parallel()
	for name, finished := range map[string]bool{"hold": false, "answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.EachURL(t, func(t *testing.T, url string) {
				ctx := t.Context()
				b := &bench{DB: dbtest.Open(t, db.Config{URL: url})}
				b.workspace(t)
				h := b.dead(t)
				if finished {
					if err := errors.Join(b.finish(ctx, h, "done"), h.Release(ctx)); err != nil {
						t.Fatal(err)
					}
				}
				audit := func(tx *db.Tx) (breaches int, err error) {
					err = idempotency.Audit(ctx, tx, func(string, string, string, ...any) { breaches++ })
					return breaches, err
				}
				if err := b.Read(ctx, func(tx *db.Tx) error {
					n, err := audit(tx)
					if n > 0 {
						t.Errorf("unharmed, there are %d breaches", n)
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
				// A hold is prolonged while its request is worked on, so one may lapse at any moment.
				if unseen := dbtest.Unseen(t, url, audit, "idempotency"); !slices.Equal(unseen, []string{"idempotency.lapses_at"}) {
					t.Errorf("the audit does not see damage of %v", unseen)
				}
			})
		})
	}
}
