package lease_test

import (
	"slices"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/dbtest"
)

// TestAuditSeesAChangedLease damages a lease in each of its states, and a dead letter.
func TestAuditSeesAChangedLease(t *testing.T) {
	t.Parallel()
	quiet := func(q lease.Queue) lease.Queue { q.MaxFailures = 1; return q }(frames)
	for name, story := range map[string]struct {
		reach  func(t *testing.T, e engine) // brings the only item there
		table  string
		unseen []string // what nothing else in the store shows
	}{
		"waiting": {func(*testing.T, engine) {}, "lease", []string{"lease.due_at", "lease.last_code", "lease.last_error", "lease.lapsed_holder"}},
		"held": {func(_ *testing.T, e engine) { e.claim("a", 1) }, "lease",
			[]string{"lease.due_at", "lease.lapses_at", "lease.progress", "lease.last_code", "lease.last_error", "lease.lapsed_holder"}},
		"failed": {func(_ *testing.T, e engine) { e.fail(frames, e.claim("a", 1)[0]) }, "lease",
			[]string{"lease.due_at", "lease.last_code", "lease.last_error", "lease.lapsed_holder"}},
		"released": {func(t *testing.T, e engine) {
			l := e.claim("a", 1)[0]
			e.must(func(tx *db.Tx) error { return lease.Release(t.Context(), tx, l.Ref(), l.Queue) })
		}, "lease", []string{"lease.due_at", "lease.last_code", "lease.last_error", "lease.lapsed_holder"}},
		"due again": {func(t *testing.T, e engine) {
			e.fail(frames, e.claim("a", 1)[0])
			e.pass(time.Minute)
			l := e.claim("a", 1)[0]
			e.must(func(tx *db.Tx) error { return lease.Reschedule(t.Context(), tx, l.Ref(), l.Queue, time.Now()) })
		}, "lease", []string{"lease.due_at", "lease.last_code", "lease.last_error", "lease.lapsed_holder"}},
		"reopened": {func(t *testing.T, e engine) {
			l := e.claim("a", 1)[0]
			e.must(func(tx *db.Tx) error {
				if err := lease.Finish(t.Context(), tx, l.Ref()); err != nil {
					return err
				}
				return lease.Reopen(t.Context(), tx, l.Queue, l.Subject, l.Item, l.Attempt)
			})
		}, "lease", []string{"lease.due_at", "lease.last_code", "lease.last_error", "lease.lapsed_holder"}},
		"dead": {func(_ *testing.T, e engine) { e.fail(quiet, e.claim("a", 1)[0]) }, "dead_letter", nil},
		"requeued": {func(t *testing.T, e engine) {
			l := e.claim("a", 1)[0]
			e.fail(quiet, l)
			e.must(func(tx *db.Tx) error { return lease.Requeue(t.Context(), tx, l.ID) })
		}, "lease", []string{"lease.due_at", "lease.last_code", "lease.last_error", "lease.lapsed_holder"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachURL(t, func(t *testing.T, e engine, url string) {
				e.add("JOB-1", 1)
				story.reach(t, e)
				audit := func(tx *db.Tx) (breaches int, err error) {
					err = lease.Audit(t.Context(), tx, func(string, string, string, ...any) { breaches++ })
					return breaches, err
				}
				e.must(func(tx *db.Tx) error {
					n, err := audit(tx)
					if n > 0 {
						t.Errorf("unharmed, there are %d breaches", n)
					}
					return err
				})
				if unseen := dbtest.Unseen(t, url, audit, story.table); !slices.Equal(unseen, story.unseen) {
					t.Errorf("the audit does not see damage of %v, want %v", unseen, story.unseen)
				}
			})
		})
	}
}
