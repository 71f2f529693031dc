package coverage_test

import (
	"strings"
	"testing"
)

// faults is how many rows the table of docs/internal/faults.md must have.
const faults = 30

// TestEveryFaultNamesATestThatExists reads the table of docs/internal/faults.md: each row says
// what callers and operators saw and what was lost, and names tests that exist.
func TestEveryFaultNamesATestThatExists(t *testing.T) {
	t.Parallel()
	text, there := pageAndTests(t, "faults.md")
	_, table, _ := strings.Cut(text, "\n| fault |")
	table, below, _ := strings.Cut(table, "\n\n")
	rows := 0
	for l := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(l), "|"), "|")
		if !strings.HasPrefix(l, "| ") || rows == 0 && strings.Contains(l, "| the operator saw |") {
			continue // the rest of the head
		}
		rows++
		for i, cell := range cells {
			if strings.TrimSpace(cell) == "" || len(cells) != 5 {
				t.Errorf("%.60s: the row is not whole at cell %d", l, i)
			}
		}
		if !attackTest.MatchString(cells[len(cells)-1]) {
			t.Errorf("%.60s: it names no test", l)
		}
	}
	if rows < faults {
		t.Errorf("the table has %d rows, wanted %d", rows, faults)
	}
	for _, n := range attackTest.FindAllStringSubmatch(table+below, -1) {
		if !there[n[1]] {
			t.Errorf("there is no test %s", n[1])
		}
	}
}
