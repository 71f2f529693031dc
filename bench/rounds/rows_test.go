package rounds

import (
	"strings"
	"testing"
	"time"
)

// printed is the table of one row, without the line about the machine.
func printed(r Row, s Series) string {
	var t Table
	t.Add([]Row{r}, Record{r.Name: &s})
	return strings.Join(t.lines[0], " | ")
}

func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	t.Parallel()
	// The second round met a busy machine: it slowed both.
	got := printed(Row{Name: "a", Unit: Duration, Goal: RatioAtMost(0.9)}, Series{Subject: []float64{1, 9, 1.2}, Baseline: []float64{2, 18, 2}})
	if !strings.HasPrefix(got, "0.5x | a | <= 0.9x | ok | 1.20 s (1.00 s to 9.00 s) | 2.00 s") {
		t.Errorf("got %s", got)
	}
}

func TestMissedGoalIsMarked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		goal Goal
		miss bool
	}{
		"under the bound":       {goal: Under(11, Size)},
		"at the bound":          {goal: Under(10, Size), miss: true},
		"over the least":        {goal: Over(9, PerSecond)},
		"not over the least":    {goal: Over(10, PerSecond), miss: true},
		"the worst round above": {goal: Under(11, Size).Always(), miss: true},
		"no goal":               {},
	} {
		got := printed(Row{Name: "a", Unit: Size, Goal: c.goal}, Series{Subject: []float64{10, 12, 9}, Baseline: []float64{10, 10, 10}})
		if strings.Contains(got, "MISSED") != c.miss {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestRowWithoutFiguresIsListedAsNotMeasured(t *testing.T) {
	t.Parallel()
	var some Table
	some.Add([]Row{{Name: "a", Unit: Size, Goal: Under(1, Size)}}, Record{})
	if got := strings.Join(some.lines[0], " | "); !strings.Contains(got, "not measured") || strings.Contains(got, "ok") {
		t.Errorf("got %s", got)
	}
}

func TestGapsLieBetweenFrames(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	run := BlenderRun{Begins: []time.Time{at(0), at(5), at(12)}, Saves: []time.Time{at(4), at(10), at(15)}}
	if got := run.Gaps(); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("got %v", got)
	}
}
