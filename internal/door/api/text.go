package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// IsText says whether a text of a caller's can be looked up and kept: PostgreSQL
// takes no NUL, and nothing that is no UTF-8.
func IsText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// unmarshal is json.Unmarshal for what callers send. JSON has no bytes that are
// no UTF-8, but it can spell a NUL; and numbers that are whole for a schema, such
// as 1e3, and for no Go type, whose names are no caller's business.
func unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s does not take the %s", strings.TrimPrefix(wrong.Field, "."), wrong.Value)
	}
	if err != nil {
		return err
	}
	if spellsNUL(data) {
		return errors.New(`a text holds \u0000, which cannot be kept`)
	}
	return nil
}

// spellsNUL looks for the escape of a NUL in JSON: \u0000 behind no backslash
// that escapes its own.
func spellsNUL(data []byte) bool {
	for from := 0; ; {
		at := bytes.Index(data[from:], []byte(`\u0000`))
		if at < 0 {
			return false
		}
		at += from
		before := len(data[:at]) - len(bytes.TrimRight(data[:at], `\`))
		if before%2 == 0 {
			return true
		}
		from = at + 1
	}
}
