// Package manual prints the reference of the command line (docs/cli.md for callers and
// docs/cli-operators.md), the manual pages and what --help shows, from the same structs that
// parse it.
//
// What always holds: every command, flag, default and exit code that is not hidden is in
// all of them; the same program prints the same bytes on every machine. It
// leaves the words to the structs' tags and to terminal. Start reading at Command.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

// Command writes the reference. It is hidden from help because it is for building and
// packaging svc.
type Command struct {
	CLI markdownCommand `cmd:"" name:"cli" help:"Write the reference of the command line, Markdown, into a folder."`
	Man manCommand      `cmd:"" name:"man" help:"Write the manual pages into a folder."`
}

type markdownCommand struct {
	Folder string `arg:"" type:"existingdir" help:"The folder to write into."`
}

type manCommand struct {
	Folder string `arg:"" type:"path" help:"The folder to write into."`
}

// Run writes both pages.
func (c *markdownCommand) Run(k *kong.Context) error {
	for name, text := range Documents(k.Model) {
		if err := os.WriteFile(filepath.Join(c.Folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Run writes svc.1, and for each command that does something svc-COMMAND.1.
func (c *manCommand) Run(k *kong.Context) error {
	if err := os.MkdirAll(c.Folder, 0o755); err != nil {
		return err
	}
	for name, text := range Pages(k.Model) {
		if err := os.WriteFile(filepath.Join(c.Folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// commands returns what can be run, in the order of the help. kong's own Leaves also
// has the children of hidden commands.
func commands(n *kong.Node) (all []*kong.Node) {
	for _, child := range n.Children {
		switch {
		case child.Hidden:
		case child.Leaf():
			all = append(all, child)
		default:
			all = append(all, commands(child)...)
		}
	}
	return all
}

// words are a command's own words, "admin key create", without aliases; none for the
// program.
func words(n *kong.Node) string {
	if n.Parent == nil {
		return ""
	}
	if n.Parent.Type == kong.ApplicationNode {
		return n.Name
	}
	return words(n.Parent) + " " + n.Name
}

// value is one flag or argument, ready to be printed.
type value struct {
	term, help, env, standard string
	group                     string // title, "" for none
}

// text is what a value means, its default and its environment names.
func (v value) text() string {
	text := v.help
	if v.standard != "" {
		text += " Default: " + v.standard + "."
	}
	if v.env != "" {
		text += " Environment: " + v.env + "."
	}
	return strings.TrimSpace(text)
}

// values returns the arguments of a command, then the flags of it and of the commands
// above it. Those of the program itself are left out: every command has them.
func values(n *kong.Node) (all []value) {
	for _, arg := range n.Positional {
		all = append(all, describe(arg.Summary(), arg, nil))
	}
	for at := n; at.Type != kong.ApplicationNode; at = at.Parent {
		all = append(all, flags(at)...)
	}
	return all
}

// flags returns the flags that a command declares itself.
func flags(n *kong.Node) (all []value) {
	for _, flag := range n.Flags {
		if flag.Hidden || flag.Name == "help" {
			continue
		}
		term := "--" + flag.Name
		if flag.Tag.Negatable != "" {
			term = "--[no-]" + flag.Name
		}
		if flag.Short != 0 {
			term = fmt.Sprintf("-%c, %s", flag.Short, term)
		}
		if !flag.IsBool() && !flag.IsCounter() {
			term += " " + placeholder(flag)
		}
		v := describe(term, flag.Value, flag.Envs)
		if flag.Group != nil {
			v.group = flag.Group.Title
		}
		all = append(all, v)
	}
	return all
}

// placeholder represents a flag's value: its choices, or a word.
func placeholder(flag *kong.Flag) string {
	switch {
	case flag.PlaceHolder != "":
		return flag.PlaceHolder
	case flag.Enum != "":
		return strings.Join(flag.EnumSlice(), "|")
	}
	return strings.ToUpper(flag.Name)
}

func describe(term string, v *kong.Value, envs []string) value {
	d := value{term: term, help: strings.TrimSpace(v.Help), env: strings.Join(envs, ", ")}
	if v.HasDefault {
		d.standard = v.Default
	}
	if v.Required && v.Flag != nil {
		d.help += " Required."
	}
	return d
}
