package coverage_test

import (
	"strconv"
	"strings"
	"testing"
)

// forgeries is how many rows docs/internal/forgery.md must have.
const forgeries = 50

// TestEveryForgeryNamesWhoWhatAndATest reads the table of docs/internal/forgery.md: its rows are
// numbered from 1, and each names who, what, what sees it, and tests that exist.
func TestEveryForgeryNamesWhoWhatAndATest(t *testing.T) {
	t.Parallel()
	text, there := pageAndTests(t, "forgery.md")
	rows := 0
	for l := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(l), "|"), "|")
		number, err := strconv.Atoi(strings.TrimSpace(cells[0]))
		if err != nil {
			continue // text, or the head of the table
		}
		if rows++; number != rows || len(cells) != 5 {
			t.Errorf("row %d is numbered %d and has %d cells", rows, number, len(cells))
			continue
		}
		named := testName.FindAllStringSubmatch(cells[4], -1)
		if strings.TrimSpace(cells[1]) == "" || strings.TrimSpace(cells[2]) == "" || strings.TrimSpace(cells[3]) == "" || len(named) == 0 {
			t.Errorf("row %d is not whole", number)
		}
		for _, n := range named {
			if !there[n[1]] {
				t.Errorf("row %d: there is no test %s", number, n[1])
			}
		}
	}
	if rows < forgeries {
		t.Errorf("the table has %d rows, wanted %d", rows, forgeries)
	}
}
