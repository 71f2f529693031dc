// Package await bounds the waits of tests: one that takes longer than any machine
// needs fails with a message, instead of holding up the whole run until its time
// limit. It waits for events, never for time to pass: Next when the event comes
// over a channel, Until when it can only be looked for. Only simulated time passes
// automatically: see Pass.
package await

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/test/long"
)

// Patience is how long a test waits for one event: far longer than a machine with
// twenty things to do needs, and far shorter than a run may take. In the long run all
// stories run in parallel at full size, under the race detector.
var Patience = time.Duration(long.Scale(90, 900)) * time.Second

// Next receives what must come, or fails the test. what completes the sentence
// "waited in vain for". A closed channel gives the zero value at once. Call it from
// the test's own goroutine.
func Next[T any](t testing.TB, from <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(Patience):
		t.Fatalf("waited %s in vain for %s", Patience, what)
	}
	return got
}

// Until returns when seen does. It asks every few milliseconds: often enough to
// add no delay, and seldom enough to leave the machine to what is awaited.
func Until(t testing.TB, what string, seen func() bool) {
	t.Helper()
	again, end := time.NewTicker(5*time.Millisecond), time.After(Patience)
	defer again.Stop()
	for !seen() {
		select {
		case <-again.C:
		case <-end:
			t.Fatalf("waited %s in vain for %s", Patience, what)
		}
	}
}

// Listener returns when something accepts connections at a TCP address.
func Listener(t testing.TB, what, address string) {
	t.Helper()
	Until(t, what+" to listen", func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		return err == nil && conn.Close() == nil
	})
}

// Pass lets d pass in the simulated time of a synctest bubble, which takes no time.
// Elsewhere it panics.
func Pass(d time.Duration) {
	synctest.Wait()
	time.Sleep(d)
}
