package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// documentCheck compares requests and answers with an OpenAPI document. What it knows of the
// document is written here; what it knows of schemas is a library's that did not write them.
type documentCheck struct {
	operations map[string]checkedOperation // by METHOD /path
	routes     *http.ServeMux              // finds them
	schemas    map[string]any              // of the components
	resolved   sync.Map                    // schemas, by their text
}

type checkedOperation struct {
	Parameters []struct {
		Name, In string
		Required bool
		Schema   json.RawMessage
	}
	RequestBody struct{ Content checkedContent }
	Responses   map[string]struct {
		Headers map[string]struct{ Schema json.RawMessage }
		Content checkedContent
	}
}

// checkedContent are the media types that a body may have.
type checkedContent map[string]struct{ Schema json.RawMessage }

func newDocumentCheck(document []byte) (*documentCheck, error) {
	var parsed any
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, err
	}
	assertFormats(parsed)
	text, err := json.Marshal(parsed)
	if err != nil {
		return nil, err
	}
	// A schema is checked with those that it refers to next to it.
	text = bytes.ReplaceAll(text, []byte("#/components/schemas/"), []byte("#/$defs/"))
	var d struct {
		Paths      map[string]map[string]checkedOperation
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	c := documentCheck{operations: map[string]checkedOperation{}, routes: http.NewServeMux(), schemas: d.Components.Schemas}
	for path, methods := range d.Paths {
		for method, op := range methods {
			pattern := strings.ToUpper(method) + " " + path
			c.operations[pattern] = op
			c.routes.Handle(pattern, http.NotFoundHandler())
		}
	}
	return &c, nil
}

// formats are the patterns of those that a document promises: JSON Schema itself asserts none.
var formats = map[string]string{
	"date-time": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`,
	"uri":       `^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$`,
	"email":     `^[^@\s]+@[^@\s]+$`,
}

func assertFormats(v any) {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			assertFormats(each)
		}
	case map[string]any:
		name, _ := v["format"].(string)
		if pattern := formats[name]; pattern != "" && v["pattern"] == nil {
			v["pattern"] = pattern
		}
		for _, each := range v {
			assertFormats(each)
		}
	}
}

// answer returns what of an answer the document does not say.
func (c *documentCheck) answer(r *http.Request, res *http.Response, body []byte) error {
	_, pattern := c.routes.Handler(r)
	op, ok := c.operations[pattern]
	if !ok {
		return errors.New("the document has no such route")
	}
	described, ok := op.Responses[strconv.Itoa(res.StatusCode)]
	if !ok {
		return fmt.Errorf("the document has no status %d", res.StatusCode)
	}
	var found []error
	for name, h := range described.Headers {
		if value := res.Header.Get(name); value != "" {
			found = append(found, c.text(name, h.Schema, value))
		}
	}
	if r.Method != http.MethodHead && (len(body) > 0 || len(described.Content) > 0) {
		found = append(found, c.body(described.Content, res.Header, body))
	}
	return errors.Join(found...)
}

// request returns what of a request the document does not say: its headers and its body.
func (c *documentCheck) request(r *http.Request, body []byte) error {
	_, pattern := c.routes.Handler(r)
	var found []error
	for _, p := range c.operations[pattern].Parameters {
		value := r.Header.Get(p.Name)
		switch {
		case p.In != "header":
		case value != "":
			found = append(found, c.text(p.Name, p.Schema, value))
		case p.Required:
			found = append(found, fmt.Errorf("it has no %s", p.Name))
		}
	}
	return errors.Join(append(found, c.requestBody(r, body))...)
}

// requestBody is request without the headers.
func (c *documentCheck) requestBody(r *http.Request, body []byte) error {
	_, pattern := c.routes.Handler(r)
	op, ok := c.operations[pattern]
	if !ok {
		return errors.New("the document has no such route")
	}
	return c.body(op.RequestBody.Content, r.Header, body)
}

// body checks a media type, and JSON.
func (c *documentCheck) body(content checkedContent, header http.Header, body []byte) error {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("its content type is %q: %w", header.Get("Content-Type"), err)
	}
	described, ok := content[kind]
	if !ok {
		return fmt.Errorf("the document has no content type %s", kind)
	}
	if kind != "application/json" {
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return c.value(described.Schema, value)
}

// text checks the text of a header, which may be that of a number.
func (c *documentCheck) text(name string, schema json.RawMessage, text string) error {
	err := c.value(schema, text)
	if number, notOne := strconv.ParseFloat(text, 64); err != nil && notOne == nil {
		err = c.value(schema, number)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// value checks a value that was read from JSON.
func (c *documentCheck) value(schema json.RawMessage, value any) error {
	known, ok := c.resolved.Load(string(schema))
	if !ok {
		var err error
		if known, err = c.resolve(schema); err != nil {
			return fmt.Errorf("the document's schema: %w", err)
		}
		c.resolved.Store(string(schema), known)
	}
	return known.(*jsonschema.Resolved).Validate(value)
}

// resolve reads a schema, with those that it refers to.
func (c *documentCheck) resolve(text json.RawMessage) (*jsonschema.Resolved, error) {
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	needed := map[string]any{}
	c.refers(schema, needed)
	schema = maps.Clone(schema)
	schema["$defs"] = needed
	whole, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(whole, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// refers adds the components that a schema refers to, and those that they do.
func (c *documentCheck) refers(v any, needed map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			c.refers(each, needed)
		}
	case map[string]any:
		ref, _ := v["$ref"].(string)
		if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok && needed[name] == nil && c.schemas[name] != nil {
			needed[name] = c.schemas[name]
			c.refers(needed[name], needed)
		}
		for _, each := range v {
			c.refers(each, needed)
		}
	}
}

// TestAnAnswerThatIsNotDescribedIsFound plants one wrong thing at a time.
func TestAnAnswerThatIsNotDescribedIsFound(t *testing.T) {
	t.Parallel()
	c, err := newDocumentCheck([]byte(`{
		"paths": {"/v1/things/{id}": {"get": {"responses": {
			"200": {"headers": {"Retry-After": {"schema": {"type": "integer"}}},
				"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
			"204": {}}}}},
		"components": {"schemas": {
			"Thing": {"type": "object", "required": ["made"], "additionalProperties": false, "properties": {
				"made": {"type": "string", "format": "date-time"}, "parts": {"type": ["array", "null"], "items": {"$ref": "#/components/schemas/Part"}}}},
			"Part": {"type": "object", "required": ["count"], "properties": {"count": {"type": "integer", "minimum": 1}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const right = `{"made": "2026-01-02T03:04:05Z", "parts": [{"count": 2}]}`
	for name, k := range map[string]struct {
		path, kind, retry, body string
		status                  int
		found                   bool
	}{
		"all as described":    {"/v1/things/1", "application/json", "3", right, 200, false},
		"nothing":             {"/v1/things/1", "", "", "", 204, false},
		"null":                {"/v1/things/1", "application/json; charset=utf-8", "", `{"made": "2026-01-02T03:04:05.5+01:00", "parts": null}`, 200, false},
		"another route":       {"/v1/things", "application/json", "", right, 200, true},
		"another status":      {"/v1/things/1", "application/json", "", right, 201, true},
		"another type":        {"/v1/things/1", "text/plain", "", right, 200, true},
		"no type":             {"/v1/things/1", "", "", right, 200, true},
		"a header of text":    {"/v1/things/1", "application/json", "soon", right, 200, true},
		"content for nothing": {"/v1/things/1", "application/json", "", right, 204, true},
		"no JSON":             {"/v1/things/1", "application/json", "", right[1:], 200, true},
		"no content":          {"/v1/things/1", "application/json", "", "", 200, true},
		"a member more":       {"/v1/things/1", "application/json", "", `{"made": "2026-01-02T03:04:05Z", "more": 1}`, 200, true},
		"a member less":       {"/v1/things/1", "application/json", "", `{}`, 200, true},
		"no time":             {"/v1/things/1", "application/json", "", `{"made": "today"}`, 200, true},
		"a part of nothing":   {"/v1/things/1", "application/json", "", `{"made": "2026-01-02T03:04:05Z", "parts": [{"count": 0}]}`, 200, true},
		"half a part":         {"/v1/things/1", "application/json", "", `{"made": "2026-01-02T03:04:05Z", "parts": [{"count": 1.5}]}`, 200, true},
	} {
		r, err := http.NewRequest("GET", "https://render.example.com"+k.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res := http.Response{StatusCode: k.status, Header: http.Header{"Retry-After": {k.retry}, "Content-Type": {k.kind}}}
		if err := c.answer(r, &res, []byte(k.body)); (err != nil) != k.found {
			t.Errorf("%s: %v", name, err)
		}
	}
}
