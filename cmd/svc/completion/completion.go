// Package completion completes the words of a command line as they are typed, in four
// shells.
//
// What always holds: the candidates come from the structs that parse the command line,
// so no list can go stale; a shell's script only asks svc and shows the answer; nothing
// is read but the words. Start reading at Words.
package completion

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Command is svc completion SHELL.
type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Help is printed below the flags.
func (Command) Help() string {
	return "Add a line to the file that your shell reads when it starts. " +
		"bash, in ~/.bashrc: source <(svc completion bash). " +
		"zsh, in ~/.zshrc behind compinit: source <(svc completion zsh). " +
		"fish, in ~/.config/fish/config.fish: svc completion fish | source. " +
		"PowerShell, in $PROFILE: svc completion powershell | Out-String | Invoke-Expression."
}

// The scripts ask svc complete for the candidates of the last word. Where there are none,
// the shell completes file names.
var (
	//go:embed svc.bash
	bash string
	//go:embed svc.zsh
	zsh string
	//go:embed svc.fish
	fish string
	//go:embed svc.ps1
	powershell string
)

// Run prints the script.
func (c *Command) Run(k *kong.Context) error {
	script := map[string]string{"bash": bash, "zsh": zsh, "fish": fish, "powershell": powershell}[c.Shell]
	_, err := fmt.Fprint(k.Stdout, script)
	return err
}

// Complete is what the scripts run. It is hidden from help because people do
// not type it.
type Complete struct {
	Next  bool     `env:"-" help:"The last word is whole, and a new one begins."`
	Words []string `arg:"" optional:"" help:"The words behind svc, the last one unfinished."`
}

// Run prints the candidates, one a line, each followed by a tab and its
// meaning.
func (c *Complete) Run(k *kong.Context) error {
	words := c.Words
	if c.Next || len(words) == 0 {
		words = append(words, "")
	}
	for _, candidate := range Words(k.Model.Node, words) {
		line := candidate.Word
		if candidate.Means != "" {
			line += "\t" + candidate.Means
		}
		fmt.Fprintln(k.Stdout, line) // a closed standard output has no reader
	}
	return nil
}

// Candidate is what a word can become, and what that means: "" if the word says it.
type Candidate struct{ Word, Means string }

// Words returns what the last of the words can become: commands, flags, or the values
// that a flag or an argument may have. It is empty where anything fits, such as a file.
func Words(app *kong.Node, words []string) (candidates []Candidate) {
	node, flag, arguments := app, (*kong.Flag)(nil), 0
	for _, word := range words[:len(words)-1] {
		switch child := childOf(node, word); {
		case flag != nil && word == "=":
			// bash takes --flag=value for three words.
		case flag != nil:
			flag = nil // the word is its value
		case strings.HasPrefix(word, "-"):
			flag = valueFlag(node, word)
		case child != nil:
			node = child
		default:
			arguments++
		}
	}
	last := words[len(words)-1]
	name, _, assigned := strings.Cut(last, "=")
	switch {
	case flag != nil && last == "=":
		last = ""
		candidates = values(flag.Value, "")
	case flag != nil:
		candidates = values(flag.Value, "")
	case strings.HasPrefix(last, "-") && assigned:
		if flag := valueFlag(node, name); flag != nil {
			candidates = values(flag.Value, name+"=")
		}
	case strings.HasPrefix(last, "-"):
		for _, f := range flagsOf(node) {
			candidates = append(candidates, Candidate{"--" + f.Name, sentence(f.Help)})
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				candidates = append(candidates, Candidate{child.Name, sentence(child.Help)})
			}
		}
		if arguments < len(node.Positional) {
			candidates = append(candidates, values(node.Positional[arguments], "")...)
		}
	}
	candidates = slices.DeleteFunc(candidates, func(c Candidate) bool { return !strings.HasPrefix(c.Word, last) })
	slices.SortFunc(candidates, func(a, b Candidate) int { return strings.Compare(a.Word, b.Word) })
	return slices.CompactFunc(candidates, func(a, b Candidate) bool { return a.Word == b.Word })
}

// sentence is the first sentence of a help text, without its stop.
func sentence(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(first, ".")
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// valueFlag returns the flag that a word names, if the next word is its value.
func valueFlag(node *kong.Node, word string) *kong.Flag {
	for _, f := range flagsOf(node) {
		if !f.IsBool() && (word == "--"+f.Name || (f.Short != 0 && word == "-"+string(f.Short))) {
			return f
		}
	}
	return nil
}

// flagsOf returns the flags that a command takes: its own and those of the commands above.
func flagsOf(node *kong.Node) (flags []*kong.Flag) {
	for _, group := range node.AllFlags(true) {
		flags = append(flags, group...)
	}
	return flags
}

// values returns what a flag or an argument may be, with prefix before it; nil where
// anything fits.
func values(v *kong.Value, prefix string) (all []Candidate) {
	for _, value := range v.EnumSlice() {
		if value != "" {
			all = append(all, Candidate{Word: prefix + value})
		}
	}
	return all
}
