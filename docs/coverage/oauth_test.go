package coverage_test

import (
	"strings"
	"testing"
)

// attacks is how many rows the table of docs/internal/oauth-attacks.md must have.
const attacks = 50

// TestEveryAttackOnSigningInHasAnOutcomeAndATest reads the table of docs/internal/oauth-attacks.md: each row
// says what is tried and what happens, and names tests that exist, or is "the same" as the
// row above.
func TestEveryAttackOnSigningInHasAnOutcomeAndATest(t *testing.T) {
	t.Parallel()
	text, there := pageAndTests(t, "oauth-attacks.md")
	_, table, _ := strings.Cut(text, "\n| attack |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows, above := 0, 0
	for l := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(l), "|"), "|")
		if !strings.HasPrefix(l, "| ") || len(cells) != 3 {
			continue // the rest of the head
		}
		rows++
		attack := strings.TrimSpace(cells[0])
		named := attackTest.FindAllStringSubmatch(cells[2], -1)
		if strings.TrimSpace(cells[1]) == "" || len(named) == 0 && (above == 0 || !strings.Contains(cells[2], "the same")) {
			t.Errorf("%s: the row is not whole", attack)
		}
		for _, n := range named {
			if !there[n[1]] {
				t.Errorf("%s: there is no test %s", attack, n[1])
			}
		}
		above += len(named)
	}
	if rows < attacks {
		t.Errorf("the table has %d rows, wanted %d", rows, attacks)
	}
}
