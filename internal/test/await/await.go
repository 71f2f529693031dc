// Package await bounds the waits of tests: one that waits longer than any machine
// needs ends with words, instead of holding up the whole run until its time limit.
// It is for tests alone, and waits for events, never for time to pass.
package await

import (
	"testing"
	"time"
)

// Patience is how long a test waits for one event: far longer than a machine takes
// that does twenty things at once, and far shorter than a run may take.
const Patience = 90 * time.Second

// Next receives what must come. A closed channel gives the zero value at once.
func Next[T any](t testing.TB, from <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(Patience):
		t.Fatalf("waited %s in vain for %s", Patience, what)
	}
	return got
}
