package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/plainjson"
)

// Encoded is a body that is encoded already and shared by its readers.
type Encoded interface{ JSON() []byte }

// JSON returns huma's format for bodies. It does not escape <, > and &: that is
// for JSON inside HTML.
func JSON() huma.Format { return huma.Format{Marshal: Marshal, Unmarshal: Unmarshal} }

// Marshal writes v to w as every answer is written, with a line feed at the
// end.
func Marshal(w io.Writer, v any) error {
	if b, ok := v.(Encoded); ok {
		_, err := w.Write(b.JSON())
		return err
	}
	return plainjson.Write(w, v)
}

// Unmarshal is json.Unmarshal for what callers send, with two more rules. It
// refuses NUL, which JSON can spell and PostgreSQL cannot store. It refuses
// numbers that are whole for a schema but not for Go, such as 1e3, without
// naming a Go type in the message.
func Unmarshal(data []byte, v any) error {
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

// spellsNUL looks for the escape of NUL: \u0000 after an even number of
// backslashes. After an odd number the backslash itself is escaped.
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
