// Package plainjson writes JSON as the service writes it everywhere: with <, > and
// & as they are, since escaping them is for JSON inside HTML. Signed and stored
// texts must have one form, and encoding/json escapes by default.
//
// What always holds: one value is one line. The types decide what their JSON looks
// like. Start reading at Marshal.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
)

// Write writes v and a newline to w. The error is w's, or says that v cannot be
// encoded; nothing is written then.
func Write(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// Marshal returns v as JSON without a newline. It fails when v cannot be encoded.
func Marshal(v any) ([]byte, error) {
	var text bytes.Buffer
	if err := Write(&text, v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
