package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var (
	// codeOf finds fenced blocks and code within a line.
	codeOf = regexp.MustCompile("(?s)\n```[^\n]*\n(.*?)\n```|`([^`\n]+)`")
	// commandOf finds a call of svc, where a command begins: its words up to the end of it.
	commandOf = regexp.MustCompile(`(?m)(?:^ *(?:\d+\. )?|[;|&(] ?|-- |exec |sudo )(?:\./|/usr/(?:local/)?bin/)?svc((?: +[^\s|;&#<>()"'` + "`" + `]+| +"[^"\n]*"| +'[^'\n]*')+)`)
	wordOf    = regexp.MustCompile(`^[a-z][a-z-]*$`)
	flagOf    = regexp.MustCompile(`^--([a-z][a-z0-9-]*)`)
)

// TestPagesNameCommandsAndFlagsThatExist reads every call of svc in the documents and the
// READMEs, and every flag that stands alone in code.
func TestPagesNameCommandsAndFlagsThatExist(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&program{}, defaults(""))
	if err != nil {
		t.Fatal(err)
	}
	every := flagsBelow(parser.Model.Node)
	calls := 0
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range codeOf.FindAllStringSubmatch(string(text), -1) {
			lines := strings.ReplaceAll(code[1]+code[2], "\\\n", " ")
			for _, call := range commandOf.FindAllStringSubmatch(lines, -1) {
				calls++
				checkCall(t, path, parser.Model.Node, strings.Fields(call[1]))
			}
			if flag := flagOf.FindStringSubmatch(code[2]); flag != nil && !every[flag[1]] && !ofOthers[flag[1]] {
				t.Errorf("%s names the flag --%s, which no command has", path, flag[1])
			}
		}
	}
	if calls < 200 {
		t.Errorf("only %d calls of svc are in the pages", calls)
	}
}

// ofOthers are flags of other programs that pages name alone.
var ofOthers = map[string]bool{
	"online-mode": true, "disable-autoexec": true, "factory-startup": true, // Blender
	"signal": true, "gres": true, // Slurm
	"client-metadata-url": true, // an MCP client
}

// pages are the documents for people, without those that are printed from the code.
func pages(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/internal/*.md", "sdk/*/README.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// checkCall follows the words of a call down the commands.
func checkCall(t *testing.T, path string, node *kong.Node, words []string) {
	t.Helper()
	flags := map[string]bool{"help": true, "version": true}
	reached := false
	for _, word := range words {
		for _, f := range node.Flags {
			flags[f.Name], flags["no-"+f.Name] = true, true
		}
		if flag := flagOf.FindStringSubmatch(word); flag != nil {
			if reached && !flags[flag[1]] && !flagsBelow(node)[flag[1]] {
				t.Errorf("%s: svc %s: %s has no flag --%s", path, strings.Join(words, " "), node.FullPath(), flag[1])
			}
			continue
		}
		var child *kong.Node
		for _, c := range node.Children {
			if c.Name == word {
				child = c
			}
		}
		if child != nil {
			node, reached = child, true
		} else if wordOf.MatchString(word) && len(node.Children) > 0 && node.DefaultCmd == nil && (node.Type == kong.ApplicationNode || len(node.Positional) == 0) {
			t.Errorf("%s: svc %s: there is no such command", path, strings.Join(words, " "))
			return
		}
	}
}

// flagsBelow are the flags of a command and of all below it.
func flagsBelow(node *kong.Node) map[string]bool {
	flags := map[string]bool{}
	for _, f := range node.Flags {
		flags[f.Name], flags["no-"+f.Name] = true, true
	}
	for _, child := range node.Children {
		maps.Copy(flags, flagsBelow(child))
	}
	return flags
}
