package dispatch

import (
	"testing"
	"time"
)

func TestAKeyIsPausedOnlyWhenItsShareIsFarAboveThatOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own, others tally
		want        bool
	}{
		"fails all, others none":      {tally{20, 20}, tally{0, 20}, true},
		"fails most, others few":      {tally{60, 100}, tally{19, 100}, true},
		"fails half":                  {tally{50, 100}, tally{0, 100}, false},
		"others fail a third as well": {tally{60, 100}, tally{20, 100}, false},
		"too few attempts":            {tally{19, 19}, tally{0, 1000}, false},
		"no others to compare with":   {tally{100, 100}, tally{}, false},
		"others have hardly begun":    {tally{100, 100}, tally{0, 19}, false},
	} {
		if got := c.own.isOutOfLine(c.others); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestEachPauseOfAKeyIsLonger(t *testing.T) {
	t.Parallel()
	want := time.Minute
	for before := range int64(100) {
		if got := pauseFor(before); got != want {
			t.Fatalf("pause %d takes %s, want %s", before+1, got, want)
		}
		want = min(2*want, time.Hour)
	}
}
