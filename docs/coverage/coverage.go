// Package coverage lists every rule of the published interface (spec 2 to 9)
// with the tests that show it; docs/internal/interface-coverage.md is printed from it.
//
// What always holds, by this package's tests: every numbered rule, table line
// and list item of those sections in the pages of the interface has a row; every row
// names a test, and every test that a row names exists.
//
// Each section has its own file. Start reading at Rule, then Rules.
package coverage

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is one row: what the interface says at one place, and what shows it.
type Rule struct {
	// Number is the section, "2.3", or a numbered rule of it, "4.1 rule 3".
	Number string
	// Lines are the lines of the section's tables and lists that the row is about,
	// by their first words, "GET /health"; none where it is about its prose.
	Lines []string
	// Text is the rule in short.
	Text string
	// Tests show it: the package's name and the function's, "api.TestPagesNeverSkipNorRepeat".
	Tests []string
	State State
}

// State says how far a rule is built.
type State string

// Shown says that a rule is built, and that its tests show it.
const Shown State = "shown"

// Rules are all rows in the order of the interface.
func Rules() []Rule {
	return slices.Concat(resources(), states(), endpoints(), idempotentUpload(), jobAPI(), uploadByID(), agentTools(), leaderboard(),
		authentication(), webhooks(), errorAnswers(), limits(), versions())
}

// shown is a row of a rule that is built.
func shown(number, text string, tests ...string) Rule {
	return Rule{Number: number, Text: text, Tests: tests, State: Shown}
}

// lines names the lines of tables and lists that a row is about.
func (r Rule) lines(of ...string) Rule {
	r.Lines = of
	return r
}

// Markdown prints the rows as docs/internal/interface-coverage.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Which test shows which rule\n\nPrinted from `docs/coverage` by `make generate`; do not edit. " +
		"Each numbered rule, table line and list item of sections 2 to 9 of the [interface](../interface.md) has a row; each test that is named exists.\n")
	section := ""
	for _, r := range Rules() {
		if of, _, _ := strings.Cut(r.Number, " "); of != section {
			section = of
			fmt.Fprintf(&b, "\n## %s\n\n| rule | says | shown by | state |\n|---|---|---|---|\n", section)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.place(), strings.ReplaceAll(r.Text, "|", `\|`), quoted(r.Tests, "<br>"), r.State)
	}
	return b.String()
}

// place is the rule's number and its lines.
func (r Rule) place() string {
	if len(r.Lines) == 0 {
		return r.Number
	}
	return r.Number + " " + quoted(r.Lines, ", ")
}

func quoted(names []string, between string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "`" + name + "`"
	}
	return strings.Join(out, between)
}
