package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
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

// Unmarshal is json.Unmarshal for what callers send, with more rules. It refuses NUL,
// which JSON can spell and PostgreSQL cannot store; numbers that are whole for a schema
// but not for Go, such as 1e3, without naming a Go type in the message; a member that is
// there twice; and null for a member that is not nullable, which huma takes for one that
// did not come.
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
	if name := repeated(json.NewDecoder(bytes.NewReader(data))); name != "" {
		return fmt.Errorf("%s is there more than once", name)
	}
	if name := nullOf(data, reflect.TypeOf(v).Elem()); name != "" {
		return errors.New(unexpectedNull + name)
	}
	return nil
}

// unexpectedNull begins the error of a null; the member's name follows.
const unexpectedNull = "unexpected null for "

// repeated returns the name of a member that an object has twice; "" for none. The value
// is valid JSON.
func repeated(d *json.Decoder) string {
	token, err := d.Token()
	if err != nil {
		return ""
	}
	seen := map[string]bool{}
	for isObject := token == json.Delim('{'); (isObject || token == json.Delim('[')) && d.More(); {
		if isObject {
			key, err := d.Token()
			name, _ := key.(string)
			if err != nil || seen[name] {
				return name
			}
			seen[name] = true
		}
		if name := repeated(d); name != "" {
			return name
		}
	}
	if token == json.Delim('{') || token == json.Delim('[') {
		_, _ = d.Token() // its end
	}
	return ""
}

// nullOf returns the name of a null member of an object whose field in t cannot be null;
// "" for none. A field can be null if it is a pointer that is always written, or is
// marked so.
func nullOf(data []byte, t reflect.Type) string {
	var members map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(data, &members) != nil {
		return ""
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		nullable := field.Tag.Get("nullable") == "true" || (field.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omitempty"))
		if value, came := members[name]; came && !nullable && string(value) == "null" {
			return name
		}
	}
	return ""
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
