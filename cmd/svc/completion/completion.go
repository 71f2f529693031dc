// Package completion completes the words of a command line as they are typed, in four
// shells.
//
// What always holds: the candidates come from the structs that parse the command line,
// so no list can go stale; a shell's script only asks svc and shows the answer; what is read
// besides the words are the names of profiles, and the newest jobs where a job is typed.
// Start reading at Words.
package completion

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/internal/ground/plaintext"
)

// Command is svc completion SHELL.
type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Help is printed below the flags.
func (Command) Help() string {
	return "Add a line to the file that your shell reads when it starts. " +
		"bash, in ~/.bashrc: source <(svc completion bash). " +
		"zsh, in ~/.zshrc after compinit: source <(svc completion zsh). " +
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
	Next  bool     `env:"-" help:"The last word is complete, and a new one begins."`
	Words []string `arg:"" optional:"" help:"The words after svc; the last one is incomplete."`
}

// Run prints the candidates, one a line, each followed by a tab and its
// meaning.
func (c *Complete) Run(k *kong.Context) error {
	words := c.Words
	if c.Next || len(words) == 0 {
		words = append(words, "")
	}
	for _, candidate := range Words(k.Model.Node, words, known) {
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

// jobsTime bounds the question for jobs: somebody waits with a finger on the tab key.
const jobsTime = 2 * time.Second

// known lists what only this machine or the service knows: profiles and jobs. Where it cannot
// be had, nothing is completed.
func known(name string) (all []Candidate) {
	switch name {
	case "profile":
		for _, profile := range profile.Names() {
			all = append(all, Candidate{Word: profile})
		}
	case "job":
		var flags profile.Flags
		flags.Server, flags.Profile, flags.Key = os.Getenv("SVC_SERVER"), os.Getenv("SVC_PROFILE"), os.Getenv(profile.KeyVariable)
		api, err := flags.Any(client.WithAttempts(1))
		if err != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), jobsTime)
		defer cancel()
		for job, err := range api.Jobs(ctx, client.JobsRequest{Limit: 20}) {
			if err != nil {
				break
			}
			all = append(all, Candidate{job.JobID, plaintext.Line(job.Filename + ", " + job.Status)})
		}
	}
	return all
}

// Words returns what the last of the words can become: commands, flags, or the values
// that a flag or an argument may have. It is empty where anything fits, such as a file. known
// lists the values of an argument or a flag of a name, such as job.
func Words(app *kong.Node, words []string, known func(name string) []Candidate) (candidates []Candidate) {
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
		candidates = append(values(flag.Value, ""), known(flag.Name)...)
	case flag != nil:
		candidates = append(values(flag.Value, ""), known(flag.Name)...)
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
			argument := node.Positional[arguments]
			candidates = slices.Concat(candidates, values(argument, ""), known(argument.Name))
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
