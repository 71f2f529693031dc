package signing_test

import (
	"crypto/rand"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/receipt/signing"
)

// TestAuditSeesAChangedKey: an ended key and the one that follows it.
func TestAuditSeesAChangedKey(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		h := service{dbtest.Open(t, db.Config{URL: url}), t, nil}
		ring := h.ring(t.TempDir())
		next, err := ring.Make(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		h.write(func(tx *db.Tx) error { return ring.Rotate(ctx, tx, next, time.Hour, "superseded") })
		keys := 0
		audit := func(tx *db.Tx) (breaches int, err error) {
			found, err := signing.Audit(ctx, tx, func(string, string, string, ...any) { breaches++ })
			keys = len(found)
			return breaches, err
		}
		h.write(func(tx *db.Tx) error {
			n, err := audit(tx)
			if n != 0 || keys != 2 {
				t.Errorf("two keys: the audit finds %d breaches and %d keys", n, keys)
			}
			return err
		})
		if unseen := dbtest.Unseen(t, url, audit, "signing_key"); len(unseen) > 0 {
			t.Errorf("the audit does not see damage of %v", unseen)
		}
	})
}
