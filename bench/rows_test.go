package main

import (
	"strings"
	"testing"
	"time"
)

// printed is the table of one row, without what says something of the machine.
func printed(r row, s series) string {
	var t table
	t.add([]row{r}, record{r.name: &s})
	return strings.Join(t.lines[0], " | ")
}

func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	t.Parallel()
	// The second round met a busy machine: it slowed both.
	got := printed(row{name: "a", unit: duration, goal: ratioAtMost(0.9)}, series{subject: []float64{1, 9, 1.2}, baseline: []float64{2, 18, 2}})
	if !strings.HasPrefix(got, "0.5x | a | <= 0.9x | ok | 1.20 s (1.00 s to 9.00 s) | 2.00 s") {
		t.Errorf("got %s", got)
	}
}

func TestMissedGoalIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		goal goal
		miss bool
	}{
		"under the bound":       {goal: under(11, size)},
		"at the bound":          {goal: under(10, size), miss: true},
		"over the least":        {goal: over(9, perSecond)},
		"not over the least":    {goal: over(10, perSecond), miss: true},
		"the worst round above": {goal: under(11, size).always(), miss: true},
		"no goal":               {},
	} {
		got := printed(row{name: "a", unit: size, goal: c.goal}, series{subject: []float64{10, 12, 9}, baseline: []float64{10, 10, 10}})
		if strings.Contains(got, "MISSED") != c.miss {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestRowThatWasNotMeasuredSaysSo(t *testing.T) {
	t.Parallel()
	var some table
	some.add([]row{{name: "a", unit: size, goal: under(1, size)}}, record{})
	if got := strings.Join(some.lines[0], " | "); !strings.Contains(got, "not measured") || strings.Contains(got, "ok") {
		t.Errorf("got %s", got)
	}
}

func TestGapsOfAHandRunLieBetweenItsFrames(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	run := handRun{begins: []time.Time{at(0), at(5), at(12)}, saves: []time.Time{at(4), at(10), at(15)}}
	if got := run.gaps(); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("got %v", got)
	}
}

func TestRowsHaveDifferentNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, g := range groups() {
		for _, r := range g.rows {
			if seen[r.name] || !strings.Contains(r.name, "/") || r.baseline == "" {
				t.Errorf("row %q is there twice, belongs to no group, or stands beside nothing", r.name)
			}
			seen[r.name] = true
		}
	}
}
