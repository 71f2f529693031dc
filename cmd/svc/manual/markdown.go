package manual

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/failure"
	"svc.example/cmd/svc/terminal"
)

// forOperators is the title of the commands that have the second page.
const forOperators = "Run a service"

// sharedFrom is the number of commands with the same flag from which a page explains it once.
const sharedFrom = 3

var (
	// generatedCodes is what the help of a command says about exit codes; the page
	// explains them once. codeInHelp is one of them.
	generatedCodes = regexp.MustCompile(`Exit codes: 0 done;[^.]*\.`)
	codeInHelp     = regexp.MustCompile(`(?:: |; )(\d+) `)
)

// Documents returns docs/cli.md for callers and docs/cli-operators.md, by file name.
func Documents(app *kong.Application) map[string]string {
	var callers, operators []*kong.Node
	for _, n := range commands(app.Node) {
		if ForCallers(n) {
			callers = append(callers, n)
		} else {
			operators = append(operators, n)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# The command line\n\nIf you render with svc or build on it, this page lists the commands for you. Operators have [their own](cli-operators.md). %s\n", printedFrom)
	common(&b, app)
	sections(&b, callers)
	caller := b.String()
	b.Reset()
	fmt.Fprintf(&b, "# The command line for operators\n\nIf you operate svc or a worker, this page lists the commands for you. Flags of every command, environment variables and exit codes are explained with [the other commands](cli.md). %s\n", printedFrom)
	sections(&b, operators)
	return map[string]string{"cli.md": caller, "cli-operators.md": b.String()}
}

const printedFrom = "This page is printed from the code (`make generate`), like the manual pages of the Debian package; `svc help COMMAND` says the same."

// common is what holds for the commands of both pages.
func common(b *strings.Builder, app *kong.Application) {
	b.WriteString("\n## Every command\n\n")
	definitions(b, flags(app.Node))
	b.WriteString(`
Most flags can also be set by an environment variable: ` + "`SVC_` and the flag's name, such as `SVC_MAX_PRICE` for `--max-price`" + `. ` + "`svc help COMMAND`" + ` shows which. Other names are given with the flag; of two, the first counts. A member of the configuration file, named as the flag with _ for -, does the same. A flag on the command line wins over the environment, and the environment over the file.

## Exit codes

| code | with --json | means |
|---|---|---|
`)
	for _, c := range terminal.Codes() {
		name := ""
		if c.Name != "" {
			name = "`" + c.Name + "`"
		}
		fmt.Fprintf(b, "| %d | %s | %s |\n", c.Code, name, cell(c.Means))
	}
	b.WriteString(`
With --json a command prints one object on standard output, and everything for people on standard error. The object of a failure is ` +
		"`" + `{"ok": false, "error": {"code", "message", "suggested_action", "request_id"}}` + "`" + `; commands that have found something, such as svc verify, print that with ` +
		"`" + `"ok": false` + "`" + `. The code is one of [errors.md](errors.md), or ` + "`" + failure.Unreachable + "`" + ` where no service could be called, or the name in this table. A mistake that the command line itself shows, such as an unknown flag, has no object.
`)
}

// sections prints an index of commands, what several of them take, and each of them.
func sections(b *strings.Builder, all []*kong.Node) {
	b.WriteString("\n## Commands\n\n")
	for i, n := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "[%s](#%s)", words(n), anchor(n))
	}
	b.WriteByte('\n')
	usual, shared := sharedValues(all)
	if len(usual) > 0 {
		b.WriteString("\n## Usual flags\n\nEvery command takes these, except where \"Not\" names some.\n\n")
		definitions(b, usual)
	}
	b.WriteString("\n## Shared arguments and flags\n\nA command that takes some of these names them after \"Also\".\n\n")
	definitions(b, shared)
	first := map[value]*kong.Node{}
	for _, n := range all {
		section(b, n, usual, shared, first)
	}
}

// section prints one command. What an earlier command takes too is explained there: first
// has that command.
func section(b *strings.Builder, n *kong.Node, usual, shared []value, first map[value]*kong.Node) {
	fmt.Fprintf(b, "\n## svc %s\n\n%s\n", words(n), strings.TrimSpace(n.Help))
	if line := usage(n); line != "svc "+words(n) && line != "svc "+words(n)+" [flags]" {
		fmt.Fprintf(b, "\n`%s`\n", line)
	}
	if n.Detail != "" {
		fmt.Fprintf(b, "\n%s\n", generatedCodes.ReplaceAllStringFunc(strings.TrimSpace(n.Detail), shortCodes))
	}
	if lines := examplesOf(n); len(lines) > 0 {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.Join(lines, "\n"))
	}
	var own []value
	var also, earlier []string
	taken := map[string]bool{}
	terms := map[string][]string{} // by the earlier command
	for _, v := range values(n) {
		plain := ungrouped(v)
		taken[name(v.term)] = true
		switch {
		case slices.Contains(usual, plain):
		case slices.Contains(shared, plain):
			also = append(also, code(name(v.term)))
		case first[plain] != nil:
			at := fmt.Sprintf("[svc %s](#%s)", words(first[plain]), anchor(first[plain]))
			if terms[at] == nil {
				earlier = append(earlier, at)
			}
			terms[at] = append(terms[at], code(name(v.term)))
		default:
			first[plain] = n
			own = append(own, v)
		}
	}
	for _, g := range grouped(own) {
		if len(g.all) == 0 {
			continue
		}
		b.WriteByte('\n')
		if g.title != "" {
			fmt.Fprintf(b, "### %s flags of %s\n\n", g.title, words(n))
		}
		definitions(b, g.all)
	}
	var not []string
	for _, v := range usual {
		if !taken[name(v.term)] {
			not = append(not, code(name(v.term)))
		}
	}
	paragraph(b, "Also", also)
	for _, at := range earlier {
		paragraph(b, "As for "+at, terms[at])
	}
	paragraph(b, "Not", not)
}

// paragraph prints terms after a word; nothing for none.
func paragraph(b *strings.Builder, word string, terms []string) {
	if len(terms) > 0 {
		fmt.Fprintf(b, "\n%s: %s\n", word, strings.Join(terms, ", "))
	}
}

// anchor is where a command's section is.
func anchor(n *kong.Node) string { return "svc-" + strings.ReplaceAll(words(n), " ", "-") }

// sharedValues are those that several commands take with the same meaning, of each name the
// most frequent meaning; usual are those of nearly all commands.
func sharedValues(all []*kong.Node) (usual, shared []value) {
	times := map[value]int{}
	var order []value
	for _, n := range all {
		for _, v := range values(n) {
			v = ungrouped(v)
			if times[v]++; times[v] == 1 {
				order = append(order, v)
			}
		}
	}
	for _, v := range order {
		most := !slices.ContainsFunc(order, func(o value) bool { return name(o.term) == name(v.term) && times[o] > times[v] })
		switch {
		case most && times[v]*4 >= len(all)*3:
			usual = append(usual, v)
		case most && times[v] >= sharedFrom:
			shared = append(shared, v)
		}
	}
	return usual, shared
}

func ungrouped(v value) value {
	v.group = ""
	return v
}

// name is a flag or argument without a placeholder and short form.
func name(term string) string {
	if _, long, has := strings.Cut(term, ", "); has {
		term = long
	}
	term, _, _ = strings.Cut(term, " ")
	return term
}

// shortCodes lists the exit codes of a command's help without what they mean.
func shortCodes(text string) string {
	var codes []string
	for _, m := range codeInHelp.FindAllStringSubmatch(text, -1) {
		codes = append(codes, m[1])
	}
	return "[Exit codes](cli.md#exit-codes): " + strings.Join(codes, ", ") + "."
}

// usage is a command's line of use, with the flags that it cannot do without.
func usage(n *kong.Node) string {
	line := "svc " + words(n)
	for _, arg := range n.Positional {
		line += " " + arg.Summary()
	}
	for at := n; at.Type != kong.ApplicationNode; at = at.Parent {
		for i, flag := range at.Flags {
			if !flag.Required {
				continue
			}
			shown := " --" + flag.Name
			if !flag.IsBool() {
				shown += " " + placeholder(flag)
			}
			if i > 0 && len(flag.Xor) > 0 && slices.Equal(at.Flags[i-1].Xor, flag.Xor) {
				shown = " |" + shown // one of the two
			}
			line += shown
		}
	}
	if len(values(n)) > len(n.Positional) {
		line += " [flags]"
	}
	return line
}

// definitions prints values with their meaning. The environment name is left out where it
// follows from the flag's.
func definitions(b *strings.Builder, all []value) {
	for _, v := range all {
		flag := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(name(v.term), "--"), "[no-]"), "-", "_")
		if v.env == "SVC_"+strings.ToUpper(flag) {
			v.env = ""
		}
		if v.env != "" {
			v.env = "`" + v.env + "`"
		}
		fmt.Fprintf(b, "- %s: %s\n", code(v.term), strings.NewReplacer("\n", " ", "<", "&lt;").Replace(v.text()))
	}
}

// cell makes text safe for a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.TrimSpace(text))
}

// code is text that is shown as it is typed.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "\n", " ") + "`"
}
