package damage_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
)

// leastSeen is the share of single damages that the audit must see.
const leastSeen = 0.95

// TestTheAuditSeesAnySingleDamage damages one cell at a time: each column of each table,
// with each kind of wrong value. The audit must see each damage, but for columns that
// unseen lists, and none of those is money, an owner, a hash, a signature, a state or a
// range.
func TestTheAuditSeesAnySingleDamage(t *testing.T) {
	t.Parallel()
	// PostgreSQL only in the long run, without the race detector: it takes minutes.
	engines := dbtest.Engines()
	if long.Race {
		engines = engines[:1]
	}
	for _, engine := range engines[:long.Scale(1, len(engines))] {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := newStore(t, dbtest.URL(t, engine))
			found := map[string]*seen{}
			random := rand.New(rand.NewPCG(0, 22))
			inTile := func(c column) bool { return c.table == "receipt_log_node" }
			columns := s.columns()
			s.damageAll(random, slices.DeleteFunc(slices.Clone(columns), inTile), found)
			s.fillTile() // last: it makes each audit slower
			s.damageAll(random, slices.DeleteFunc(columns, func(c column) bool { return !inTile(c) }), found)
			report(t, found)
		})
	}
}

// seen counts the damages of one column.
type seen struct {
	tried, breached int
	missed          []string // what the audit did not see
}

// damageAll damages columns in turn, and repairs each damage.
func (s *store) damageAll(random *rand.Rand, columns []column, found map[string]*seen) {
	s.Helper()
	for _, c := range columns {
		all := s.cells(c)
		if len(all) == 0 {
			s.Errorf("%s has no row", c.table)
			continue
		}
		of := &seen{}
		found[c.String()] = of
		// The newest row as well: it may be the end of a chain. The short run gives each of
		// the two every other wrong value, and the long run gives both all of them.
		rows := []cell{all[random.IntN(len(all))], all[len(all)-1]}[:min(len(all), 2)]
		step := long.Scale(len(rows), 1)
		for i, row := range rows {
			s.damage(random, c, all, row, of, i%step, step)
		}
	}
}

// damage gives one cell every step-th wrong value in turn, from number first.
func (s *store) damage(random *rand.Rand, c column, all []cell, picked cell, of *seen, first, step int) {
	s.Helper()
	handle := picked.handle
	for i, d := range damages(random, c, all, picked.value) {
		if i%step != first {
			continue
		}
		moved, err := s.set(c, handle, d.value)
		if err != nil {
			continue // the schema refuses it: another row has this key
		}
		of.tried++
		if breached, err := s.breached(); breached {
			of.breached++
		} else {
			of.missed = append(of.missed, fmt.Sprintf("%s: %.60q became %.60q (%v)", d.kind, picked.value, d.value, err))
		}
		if handle, err = s.set(c, moved, picked.value); err != nil {
			s.Fatalf("%s cannot be repaired: %v", c, err)
		}
	}
}

// breached reports whether the audit sees a breach. It must end, and must not give up: an
// error is no breach.
func (s *store) breached() (bool, error) {
	ctx, cancel := context.WithTimeout(s.Context(), await.Patience)
	defer cancel()
	found, err := s.app.Audit(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.Fatalf("the audit does not end")
	}
	return err == nil && len(found.Breaches) > 0, err
}

// report fails the test when the audit misses a damage of a column that is not listed, or
// too large a share of all.
func report(t *testing.T, found map[string]*seen) {
	t.Helper()
	share, every, listed := 0.0, 0, unseenColumns()
	for _, c := range slices.Sorted(maps.Keys(found)) {
		of := found[c]
		if of.tried == 0 {
			t.Errorf("%s was never damaged", c)
			continue
		}
		share += float64(of.breached) / float64(of.tried) / float64(len(found))
		if of.breached == of.tried {
			every++
		} else if !slices.Contains(listed, c) {
			t.Errorf("the audit does not see %d of %d damages of %s: %s", of.tried-of.breached, of.tried, c, strings.Join(of.missed, "; "))
		}
	}
	for _, c := range listed {
		if found[c] == nil {
			t.Errorf("%s is listed as unseen, and there is no such column", c)
		} else if found[c].breached == found[c].tried {
			t.Logf("the audit sees each damage of %s in the rows that were picked: if it always does, take it off the list", c)
		}
	}
	t.Logf("the audit sees %.1f %% of single damages, and every damage of %d of %d columns", 100*share, every, len(found))
	if share < leastSeen {
		t.Errorf("that is less than %.0f %%", 100*leastSeen)
	}
}

// classes are the columns of which no damage may stay unseen, by their names.
var classes = []struct {
	class string
	names *regexp.Regexp
}{
	{"money", regexp.MustCompile(`_cents$|\.account$|_transaction\.kind$|\.pricing_version$|\.qualified$`)},
	{"an owner", regexp.MustCompile(`\.(workspace_id|person_id|key_id|node_key_id|worker_id|holder|upload_id|quote_id|job_id|endpoint_id|event_id|delivery_id|within|party|board_id|group_id)$`)},
	{"a hash", regexp.MustCompile(`sha256$|\.(hash|entry|peaks|fingerprint)$`)},
	{"a signature", regexp.MustCompile(`envelope$|\.(public_pem|sealed|valid_from|valid_to)$`)},
	{"a state", regexp.MustCompile(`\.(status|state|type|flow|renderer|attempt|failures|round|tries|frames_completed|revoked_at|removed_at|artifact_removed_at|disabled_at|deleted_at|forgotten_at|proof_page)$`)},
	{"a range", regexp.MustCompile(`\.(frame_start|frame_end|frame_step|frame_count|frame|ordinal|item|size_bytes|input_size_bytes|artifact_size|size|log_index|tile_level|number|width|height)$`)},
}

// classOf is the class of a column; "" if it is of none.
func classOf(c string) string {
	for _, of := range classes {
		if of.names.MatchString(c) {
			return of.class
		}
	}
	return ""
}
