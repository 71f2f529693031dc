// Command methods writes the methods of the SDKs that ask one route and return its answer:
// client/methods.go, and the part between two marks of the Python clients and of the TypeScript
// client. What does more, such as following a job, is written by hand in each language.
package main

//go:generate go run .

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// The marks around what is printed.
const (
	begins = " Printed from sdk/methods by go generate; do not edit.\n"
	ends   = " What follows is written by hand.\n"
)

func main() {
	const sdks = ".."
	source, err := format.Source([]byte(printed(goHead+goSettings(), goMethod)))
	if err == nil {
		err = os.WriteFile(filepath.Join("..", "..", "client", "methods.go"), source, 0o644)
	}
	if err == nil {
		err = between(filepath.Join(sdks, "python", "svc_render", "client.py"), "    #", printed(pythonStart()+"\n", pythonMethod))
	}
	if err == nil {
		err = between(filepath.Join(sdks, "python", "svc_render", "aio.py"), "    #", printed("", pythonAsync))
	}
	if err == nil {
		err = between(filepath.Join(sdks, "typescript", "src", "client.ts"), "  //", printed(typescriptStart()+"\n", typescriptMethod))
	}
	if err != nil {
		log.Fatal(err)
	}
}

func printed(head string, text func(method) string) string {
	var b strings.Builder
	b.WriteString(head)
	for _, m := range table() {
		b.WriteString(text(m) + "\n")
	}
	return b.String()
}

// between replaces what is between the marks of a file. comment begins the marks' lines.
func between(path, comment, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(old, []byte(comment+begins))
	_, after, closed := bytes.Cut(rest, []byte(comment+ends))
	if !found || !closed {
		return fmt.Errorf("%s has no marks", path)
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%s%s\n%s%s%s", before, comment+begins, text, comment+ends, after), 0o644)
}

// camel writes snake_case as camelCase.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// wrapped breaks text into lines of at most width characters.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
