package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/failure"
	"svc.example/cmd/svc/terminal"
)

// Markdown returns docs/cli.md.
func Markdown(app *kong.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# The command line

%s This page is printed from the code (`+"`make generate`"+`), like the manual pages of the Debian package; `+"`svc help COMMAND`"+` says the same.

## Every command

`, app.Help)
	table(&b, "flag", flags(app.Node))
	b.WriteString(`
An environment variable in a table sets its flag; of two names, the first counts. A member of the configuration file, named as the flag with _ for -, does so too. A flag on the command line wins over the environment, and the environment over the file.

## Exit codes

| code | with --json | means |
|---|---|---|
`)
	for _, c := range terminal.Codes() {
		name := ""
		if c.Name != "" {
			name = "`" + c.Name + "`"
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", c.Code, name, cell(c.Means))
	}
	b.WriteString(`
With --json a command prints one object on standard output, and everything for people on standard error. The object of a failure is ` +
		"`" + `{"ok": false, "error": {"code", "message", "suggested_action", "request_id"}}` + "`" + `; commands that have found something, such as svc verify, print that with ` +
		"`" + `"ok": false` + "`" + `. The code is one of [errors.md](errors.md), or ` + "`" + failure.Unreachable + "`" + ` where no service could be called, or the name in this table. A mistake that the command line itself shows, such as an unknown flag, has no object.
`)
	b.WriteString("\n## Commands\n\n| command | does |\n|---|---|\n")
	all := commands(app.Node)
	for _, n := range all {
		fmt.Fprintf(&b, "| [`svc %s`](#svc-%s) | %s |\n", words(n), strings.ReplaceAll(words(n), " ", "-"), cell(n.Help))
	}
	for _, n := range all {
		fmt.Fprintf(&b, "\n## svc %s\n\n%s\n\n```\n%s\n```\n", words(n), strings.TrimSpace(n.Help), usage(n))
		if n.Detail != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(n.Detail))
		}
		for _, g := range grouped(values(n)) {
			if len(g.all) == 0 {
				continue
			}
			b.WriteByte('\n')
			if g.title != "" {
				fmt.Fprintf(&b, "### %s flags of %s\n\n", g.title, words(n))
			}
			table(&b, "argument or flag", g.all)
		}
	}
	return b.String()
}

// usage is a command's line of use, with the flags that it cannot do without.
func usage(n *kong.Node) string {
	line := "svc " + words(n)
	for _, arg := range n.Positional {
		line += " " + arg.Summary()
	}
	for at := n; at.Type != kong.ApplicationNode; at = at.Parent {
		for _, flag := range at.Flags {
			if flag.Required {
				line += " --" + flag.Name + " " + placeholder(flag)
			}
		}
	}
	if len(values(n)) > len(n.Positional) {
		line += " [flags]"
	}
	return line
}

// table prints values, with a column for environment names and defaults only where any
// value has one.
func table(b *strings.Builder, title string, all []value) {
	columns := []struct {
		title string
		of    func(value) string
	}{
		{title, func(v value) string { return code(v.term) }},
		{"environment", func(v value) string { return code(v.env) }},
		{"default", func(v value) string { return code(v.standard) }},
		{"means", func(v value) string { return cell(v.help) }},
	}
	used := columns[:0:0]
	for _, c := range columns {
		for _, v := range all {
			if c.of(v) != "" {
				used = append(used, c)
				break
			}
		}
	}
	for _, c := range used {
		fmt.Fprintf(b, "| %s ", c.title)
	}
	b.WriteString("|\n" + strings.Repeat("|---", len(used)) + "|\n")
	for _, v := range all {
		for _, c := range used {
			fmt.Fprintf(b, "| %s ", c.of(v))
		}
		b.WriteString("|\n")
	}
}

// cell makes text safe for a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.TrimSpace(text))
}

// code is text in a cell, shown as it is typed.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.NewReplacer("|", `\|`, "\n", " ").Replace(text) + "`"
}
