package db

import (
	"errors"
	"testing"
	"time"
)

// TestTheDatabasesTimeIsEstimatedBetweenQueries asks a clock that says what the test wants.
func TestTheDatabasesTimeIsEstimatedBetweenQueries(t *testing.T) {
	t.Parallel()
	var c clock
	asked, said, broken := 0, int64(1_000_000), error(nil)
	at := func() int64 {
		t.Helper()
		us, err := c.at(func() (int64, error) { asked++; return said, broken })
		if !errors.Is(err, broken) {
			t.Fatalf("error %v, want %v", err, broken)
		}
		return us
	}
	if got := at(); got != said || asked != 1 {
		t.Fatalf("%d after %d questions, want %d after one", got, asked, said)
	}
	// The next is asked of this process: what it adds is the time that has passed.
	c.asked = c.asked.Add(-300 * time.Millisecond)
	if got := at(); asked == 1 && got < said+300_000 {
		t.Errorf("300 ms later it is %d, before %d", got, said+300_000)
	}
	// The clock is set back: reads notice within clockLife.
	said = 5
	c.asked = time.Now().Add(-clockLife)
	if got := at(); got != said {
		t.Errorf("%d, want %d: it was not asked again", got, said)
	}
	broken = errors.New("the database is away")
	c.asked = time.Now().Add(-clockLife)
	at()
	broken = nil
	if got := at(); got != said {
		t.Errorf("%d after an answer that did not come, want %d", got, said)
	}
}
