package coverage_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// threats is how many numbers the table of threats has; a number may have several rows.
const threats = 34

// testName is a test in the last column of a threat's row.
var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")

// attackTest is one in the table of attacks, with the package where it is not obvious.
var attackTest = regexp.MustCompile("`(?:[a-z]+\\.)?((?:Test|Fuzz)[A-Za-z0-9]+)`")

// TestEveryThreatHasARuleAndATest reads the table of docs/internal/attacks.md: each number has a
// row, and each row a rule and tests that exist.
func TestEveryThreatHasARuleAndATest(t *testing.T) {
	t.Parallel()
	text, there := pageAndTests(t, "attacks.md")
	_, table, _ := strings.Cut(text, "\n## Threats\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[int]bool{}
	for l := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(l), "|"), "|")
		number, err := strconv.Atoi(strings.TrimSpace(cells[0]))
		if err != nil {
			continue // text, or the head of the table
		}
		rows[number] = true
		if len(cells) != 6 || strings.TrimSpace(cells[1]) == "" || strings.TrimSpace(cells[2]) == "" {
			t.Errorf("%d: the row has not a threat, a rule, a bound, a flag and tests", number)
			continue
		}
		named := testName.FindAllStringSubmatch(cells[5], -1)
		if len(named) == 0 {
			t.Errorf("%d: the row names no test", number)
		}
		for _, n := range named {
			if !there[n[1]] {
				t.Errorf("%d: there is no test %s", number, n[1])
			}
		}
	}
	for number := 1; number <= threats; number++ {
		if !rows[number] {
			t.Errorf("threat %d has no row", number)
		}
	}
}
