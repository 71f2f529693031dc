package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
)

// Pages returns the manual pages by file name: svc.1 about the program, and one for
// each command.
func Pages(app *kong.Application) map[string]string {
	all := commands(app.Node)
	var b strings.Builder
	heading(&b, "svc", app.Help)
	b.WriteString(".SH SYNOPSIS\n.B svc\n.I command\n[flags]\n.SH COMMANDS\n")
	for _, n := range all {
		fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", page(n), roff(n.Help))
	}
	list(&b, "FLAGS OF EVERY COMMAND", flags(app.Node))
	b.WriteString(".SH EXIT STATUS\n")
	for _, c := range terminal.Codes() {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", c.Code, roff(c.Means))
	}
	pages := map[string]string{"svc.1": b.String()}
	for _, n := range all {
		pages[page(n)+".1"] = manPage(n)
	}
	return pages
}

// page is the name of a command's page: svc-admin-key-create.
func page(n *kong.Node) string { return "svc-" + strings.ReplaceAll(words(n), " ", "-") }

func manPage(n *kong.Node) string {
	var b strings.Builder
	heading(&b, page(n), n.Help)
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(usage(n)))
	if n.Detail != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(n.Detail))
	}
	list(&b, "OPTIONS", values(n))
	if lines := examplesOf(n); len(lines) > 0 {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.Join(lines, "\n")))
	}
	b.WriteString(".SH SEE ALSO\n.BR svc (1),\nwhich has the exit codes and the flags of every command\n")
	return b.String()
}

func heading(b *strings.Builder, name, help string) {
	fmt.Fprintf(b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), roff(name), roff(help))
}

// list prints values as paragraphs with a hanging term.
func list(b *strings.Builder, title string, all []value) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	for _, v := range all {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(v.term), roff(v.text()))
	}
}

// roff escapes text: a backslash is an escape, a hyphen would become a dash that does
// not work when pasted into a shell, and a line that begins with a dot or a quote is a
// command.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(text))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
