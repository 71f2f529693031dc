package operator

import (
	"bytes"
	"fmt"
	"os"
	"unicode/utf8"

	"svc.example/cmd/svc/terminal"
)

// maxTerms bounds the operator's terms, in bytes: every visit of the page shows them whole.
const maxTerms = 256 << 10

// readTerms reads the operator's terms. Error: wrong usage, for a file that is empty, no text
// or too large.
func readTerms(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the terms: %w", err)
	case len(bytes.TrimSpace(text)) == 0 || len(text) > maxTerms || !utf8.Valid(text):
		return nil, terminal.WrongUsagef("--terms %s: the terms must be UTF-8 text of 1 to %d bytes", path, maxTerms)
	}
	return text, nil
}
