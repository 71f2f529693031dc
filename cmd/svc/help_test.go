package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/manual"
	"svc.example/internal/render/framelist"
)

// TestHelpFitsEveryTerminal for the program, each command and each word before one. Only
// what is copied whole may be wider: a word such as an address, and below 80 columns an example.
func TestHelpFitsEveryTerminal(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&program{}, defaults(""))
	if err != nil {
		t.Fatal(err)
	}
	var check func(n *kong.Node)
	check = func(n *kong.Node) {
		for _, columns := range []int{0, 40, 50, 80, 120} {
			var text strings.Builder
			manual.PrintHelp(&text, parser.Model, n, columns)
			if !strings.HasPrefix(text.String(), "Usage: svc ") || !strings.Contains(text.String(), "\nFlags of every command:\n") {
				t.Errorf("%s:\n%s", n.FullPath(), &text)
			}
			for line := range strings.Lines(text.String()) {
				line = strings.TrimSuffix(line, "\n")
				if columns < 80 && strings.HasPrefix(line, "  svc ") {
					continue
				}
				if n := utf8.RuneCountInString(line); columns > 0 && n > columns && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("a line has %d columns, the terminal %d: %s", n, columns, line)
				}
			}
		}
		for _, child := range n.Children {
			if !child.Hidden {
				check(child)
			}
		}
	}
	check(parser.Model.Node)
}

// TestEveryCommandOfCallersHasAnExample that its help shows, with flags that the command has
// and frames that the service takes.
func TestEveryCommandOfCallersHasAnExample(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&program{}, defaults(""), kong.Name("svc"))
	if err != nil {
		t.Fatal(err)
	}
	left := manual.Examples()
	for _, n := range parser.Model.Leaves(true) {
		words := strings.TrimPrefix(n.FullPath(), "svc ")
		lines := left[words]
		delete(left, words)
		if len(lines) == 0 && manual.ForCallers(n) {
			t.Errorf("svc %s has no example", words)
		}
		var help strings.Builder
		manual.PrintHelp(&help, parser.Model, n, 80)
		for _, line := range lines {
			if !strings.HasPrefix(line+" ", "svc "+words+" ") || !strings.Contains(help.String(), "\n  "+line+"\n") {
				t.Errorf("the help of svc %s does not show %q", words, line)
			}
			for i, word := range strings.Fields(line) {
				if word == "--frames" {
					if _, err := framelist.Parse(strings.Fields(line)[i+1], 1000); err != nil {
						t.Errorf("the service refuses the frames of %q: %v", line, err)
					}
				}
				if strings.HasPrefix(word, "--") && !strings.Contains(help.String(), word) {
					t.Errorf("svc %s has no %s", words, word)
				}
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("examples of no command: %v", left)
	}
}

// TestHelpSaysWhatAFlagIs: what may be given, what it is without it, and where else it can
// be set.
func TestHelpSaysWhatAFlagIs(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&program{}, defaults(""), kong.DefaultEnvars("SVC"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := kong.Trace(parser, []string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	for columns, want := range map[int]string{
		100: "\n  --device gpu|cpu        Device to render on. There is no fallback from one to the other. Default:\n" +
			"                          gpu. Environment: SVC_DEVICE.\n",
		40: "\n  --device gpu|cpu\n      Device to render on. There is no\n      fallback from one to the other.\n" +
			"      Default: gpu. Environment:\n      SVC_DEVICE.\n",
	} {
		var text strings.Builder
		manual.PrintHelp(&text, parser.Model, ctx.Selected(), columns)
		if !strings.Contains(text.String(), want) {
			t.Errorf("%d columns:\n%s", columns, &text)
		}
	}
}

// TestTheStartPageIsOneScreen on a terminal of 80 columns and 24 lines.
func TestTheStartPageIsOneScreen(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	manual.PrintStart(&text, 80)
	if n := strings.Count(text.String(), "\n"); n > 22 {
		t.Errorf("%d lines:\n%s", n, &text)
	}
}

// TestTheFlagsOfServeAreGrouped: the common ones come first and are few, and a new flag
// has a group.
func TestTheFlagsOfServeAreGrouped(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&program{}, defaults(""))
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := kong.Trace(parser, []string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	manual.PrintHelp(&text, parser.Model, ctx.Selected(), 80)
	_, help, common := strings.Cut(text.String(), "\nCommon flags:\n")
	first, _, _ := strings.Cut(help, "\n\n")
	if n := strings.Count("\n"+first, "\n  --"); !common || n < 5 || n > 12 {
		t.Errorf("%d common flags:\n%s", n, &text)
	}
	if strings.Contains(help, "\nOther flags:\n") {
		t.Errorf("a flag of serve has no group:\n%s", help)
	}
}

// TestTheReferenceExplainsEveryFlagOfEveryCommand reads both pages: the section of a command
// names each of its flags, unless the flag is usual on the page and the section does not deny it.
func TestTheReferenceExplainsEveryFlagOfEveryCommand(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&program{}, defaults(""), kong.Name("svc"))
	if err != nil {
		t.Fatal(err)
	}
	sections, usual := map[string]string{}, map[string]string{}
	for name, page := range manual.Documents(parser.Model) {
		_, rest, _ := strings.Cut(page, "\n## Usual flags\n")
		common, _, _ := strings.Cut(rest, "\n## ")
		for _, section := range strings.Split(page, "\n## svc ")[1:] {
			command, text, _ := strings.Cut(section, "\n")
			if sections[command] != "" {
				t.Errorf("%s explains svc %s again", name, command)
			}
			sections[command], usual[command] = text, common
		}
	}
	for _, n := range parser.Model.Leaves(true) {
		command, _, _ := strings.Cut(strings.TrimPrefix(n.FullPath(), "svc "), " (") // without aliases
		if sections[command] == "" {
			t.Errorf("no page explains svc %s", command)
		}
		text, not, _ := strings.Cut(sections[command], "\nNot: ")
		for at := n; at.Type != kong.ApplicationNode; at = at.Parent {
			for _, f := range at.Flags {
				named := regexp.MustCompile("--(\\[no-\\])?" + f.Name + "[` ]").MatchString
				if !f.Hidden && !named(text) && (!named(usual[command]) || named(not)) {
					t.Errorf("svc %s: --%s is not explained", command, f.Name)
				}
			}
		}
		delete(sections, command)
	}
	for command := range sections {
		t.Errorf("svc %s is explained, and does not exist", command)
	}
}
