// Package plainjson writes JSON as the service writes it everywhere: with <, > and &
// as they are, since escaping them is for HTML.
//
// What always holds: one value is one line. It leaves the form of the values to
// their types. Start reading at Marshal.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
)

// Write writes v and a newline. The error is w's, or says that v has no form in
// JSON.
func Write(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// Marshal is v without a newline.
func Marshal(v any) ([]byte, error) {
	var text bytes.Buffer
	if err := Write(&text, v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
