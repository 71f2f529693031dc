package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
)

// widthOfHelp is used without a terminal. On a terminal narrower than twoColumns, the
// meaning of a flag goes below it.
const (
	widthOfHelp = 80
	twoColumns  = 72
)

// Help prints the help of a command, or of the program, as wide as the terminal.
func Help(_ kong.HelpOptions, ctx *kong.Context) error {
	PrintHelp(ctx.Stdout, ctx.Model, selected(ctx), terminal.Width(ctx.Stdout))
	return nil
}

// PrintHelp prints the help of a command of app, or of app itself, in so many columns; 0 is
// where there is no terminal.
func PrintHelp(w io.Writer, app *kong.Application, n *kong.Node, columns int) {
	h := help{w, columns}
	if columns == 0 {
		h.width = widthOfHelp
	}
	h.paragraph("Usage: " + usageOf(n))
	h.paragraph("")
	h.paragraph(n.Help)
	if n.Detail != "" {
		h.paragraph("")
		h.paragraph(n.Detail)
	}
	h.examples(n)
	args := len(n.Positional)
	all := values(n)
	h.list("Arguments:", terms(all[:args]))
	for _, g := range grouped(all[args:]) {
		title := "Flags:"
		if g.title != "" {
			title = g.title + " flags:"
		}
		h.list(title, terms(g.all))
	}
	if !n.Leaf() {
		h.commands(n)
	}
	h.list("Flags of every command:", append([][2]string{{"-h, --help", "Show this help."}}, terms(flags(app.Node))...))
	if !n.Leaf() {
		h.paragraph("")
		h.paragraph("For more about a command: svc help COMMAND")
	}
}

// examples are command lines to copy, so none is broken.
func (h help) examples(n *kong.Node) {
	for i, line := range examplesOf(n) {
		if i == 0 {
			h.paragraph("\nExamples:")
		}
		fmt.Fprintln(h.w, "  "+line)
	}
}

// commands lists the commands below n: those of the program by group, callers'
// first.
func (h help) commands(n *kong.Node) {
	titles, rows := []string{"Commands"}, map[string][][2]string{}
	if n.Type == kong.ApplicationNode {
		titles, rows = commandGroups(n)
	}
	for _, c := range commands(n) {
		rows["Commands"] = append(rows["Commands"], [2]string{words(c), c.Help})
	}
	for _, title := range titles {
		h.list(title+":", rows[title])
	}
}

// PrintUsage prints how a command is used, above a mistake in its use.
func PrintUsage(w io.Writer, ctx *kong.Context) {
	n := selected(ctx)
	terminal.Printf(w, "Usage: %s", usageOf(n))
	terminal.Printf(w, "For more: %s --help", strings.TrimSpace("svc "+words(n)))
}

// selected is the command that was typed, as far as it is one.
func selected(ctx *kong.Context) *kong.Node {
	if n := ctx.Selected(); n != nil {
		return n
	}
	return ctx.Model.Node
}

// usageOf is the line of use of a command, of commands with a common first word, or of the
// program.
func usageOf(n *kong.Node) string {
	if n.Leaf() {
		return usage(n)
	}
	return strings.TrimSpace("svc "+words(n)) + " COMMAND [flags]"
}

// terms are values and what they mean.
func terms(all []value) (rows [][2]string) {
	for _, v := range all {
		rows = append(rows, [2]string{v.term, v.text()})
	}
	return rows
}

type help struct {
	w     io.Writer
	width int
}

func (h help) paragraph(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(h.w, strings.Join(terminal.Wrap(line, h.width, 0), "\n")) // a closed standard output has no reader
	}
}

// list prints terms, each with its meaning next to it, or below it if the term is too
// long.
func (h help) list(title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	left := 0 // of the terms that have their text next to them
	for _, row := range rows {
		if n := len([]rune(row[0])); n <= h.width*3/8 && h.width >= twoColumns {
			left = max(left, n)
		}
	}
	indent := strings.Repeat(" ", max(left+4, 6))
	h.paragraph("\n" + title)
	for _, row := range rows {
		text := terminal.Wrap(row[1], h.width-len(indent), 0)
		first := "  " + row[0]
		if n := len([]rune(row[0])); n <= left {
			first, text = first+strings.Repeat(" ", left-n+2)+text[0], text[1:]
		}
		h.paragraph(first)
		for _, line := range text {
			h.paragraph(indent + line)
		}
	}
}
