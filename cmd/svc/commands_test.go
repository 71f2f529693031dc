package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestEveryCommandIsRunByATest looks for the words of each command, one after the other,
// in the scripts and Go tests that start svc: "svc admin key list", or the arguments
// "admin", "key", "list".
func TestEveryCommandIsRunByATest(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&program{}, defaults(""))
	if err != nil {
		t.Fatal(err)
	}
	tests := textOfTests(t)
	for _, leaf := range parser.Model.Leaves(true) {
		var words []string
		for n := leaf; n.Type != kong.ApplicationNode; n = n.Parent {
			words = append([]string{regexp.QuoteMeta(n.Name)}, words...)
		}
		used := regexp.MustCompile(`(svc +|")` + strings.Join(words, `( +|", *")`) + `\b`)
		// Without its second word it is the default command.
		if leaf.Parent.DefaultCmd == leaf && !used.MatchString(tests) {
			used = regexp.MustCompile(`(svc +|")` + strings.Join(words[:len(words)-1], `( +|", *")`) + `[ "]`)
		}
		if !used.MatchString(tests) {
			t.Errorf("no test runs svc %s", leaf.Path())
		}
	}
}

// textOfTests is the text of all tests that start svc: the scripts, and the Go files of
// this folder and of the stories. This file is not among them.
func textOfTests(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, root := range []string{".", filepath.Join("..", "..", "internal", "test", "story")} {
		err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() == "commands_test.go" {
				return err
			}
			if strings.HasSuffix(path, ".txtar") || strings.HasSuffix(path, "_test.go") {
				text, err := os.ReadFile(path)
				all.Write(text)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
