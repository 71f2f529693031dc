// Package strictjson reads JSON documents that have one form, such as signed statements:
// what one reader ignores or chooses must not mean something else to another.
//
// What always holds: a document that Decode accepts says nothing that its target does not
// hold. White space and the order of members are free. Start reading at Decode.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Decode reads one JSON document into target. It refuses a document that
// differs from what target would write: members that are unknown, missing, repeated
// or in another case, numbers and times in another form, trailing data. White space
// and the order of members may differ, because tools that store JSON change them.
func Decode(document []byte, target any) error {
	if err := json.Unmarshal(document, target); err != nil {
		return err
	}
	if err := RefuseRepeats(document); err != nil {
		return err
	}
	canonical, err := json.Marshal(target)
	if err != nil {
		return err
	}
	same, err := Same(document, canonical)
	if err == nil && !same {
		err = errors.New("it holds unknown or missing members, or values in an unusual form")
	}
	return err
}

// Same reports whether two documents hold equal values. It compares numbers as
// written: 1.0 and 1 differ, because the service writes only one of them.
func Same(a, b []byte) (bool, error) {
	left, err := generic(a)
	if err != nil {
		return false, err
	}
	right, err := generic(b)
	if err != nil {
		return false, err
	}
	return reflect.DeepEqual(left, right), nil
}

// generic decodes a document without types. Numbers stay texts, since a float64 would
// make two different large integers equal.
func generic(document []byte) (value any, err error) {
	reader := json.NewDecoder(bytes.NewReader(document))
	reader.UseNumber()
	err = reader.Decode(&value)
	return value, err
}

// RefuseRepeats finds repeated members of an object in a well-formed document.
// encoding/json accepts them, and other readers may choose the other value.
func RefuseRepeats(document []byte) error {
	tokens := json.NewDecoder(bytes.NewReader(document))
	type object struct {
		seen    map[string]bool // nil for an array
		wantKey bool
	}
	var open []object
	for {
		token, err := tokens.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		top := len(open) - 1
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:top]
			continue
		}
		if top >= 0 && open[top].seen != nil {
			if key, _ := token.(string); open[top].wantKey {
				if open[top].seen[key] {
					return fmt.Errorf("member %q appears twice", key)
				}
				open[top].seen[key] = true
				open[top].wantKey = false
				continue
			}
			open[top].wantKey = true // token is, or opens, this member's value
		}
		switch token {
		case json.Delim('{'):
			open = append(open, object{seen: map[string]bool{}, wantKey: true})
		case json.Delim('['):
			open = append(open, object{})
		}
	}
}
