// Package reference turns an OpenAPI document into the content of the API
// reference page.
//
// What always holds: the result contains what the document says and nothing
// else, in the order in which the page shows it.
//
// The routes make the document, and the template reference.html of package web
// lays out the page. Start reading at Read; schema_text.go describes a schema
// in words, curl.go writes a call as a command, openapi.go has the parts of a
// document that are read.
package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
)

// Reference is the content of the page. Parts are the tags in the document's
// order, Objects the named schemas, Refusals all error codes.
type Reference struct {
	Title, Version, Description, Server string
	Credentials                         []credential
	Parts                               []part
	Objects                             []object
	Refusals                            []refusal
}

// credential is one security scheme. How is the header or cookie that carries
// it.
type credential struct{ ID, Description, How string }

// part is one tag with its operations.
type part struct {
	Name, Description string
	Operations        []call
}

// call is one operation.
type call struct {
	Method, Path string
	operation
	// Takes lists ids of credentials; any one of them is enough.
	Takes    []string
	Curl     string
	Bodies   []body
	Answers  []body
	Refusals []group
}

// ID returns the call's anchor on the page.
func (c call) ID() string { return c.OperationID }

// body is a request or response body in one media type.
type body struct {
	Status, Description, Media string
	// Object is the name of the schema; "" for one that is written in place.
	Object string
	// Fields are the members of a schema without a name.
	Fields  []field
	Example string
}

// field is one member of an object, or one field of a form.
type field struct {
	Name, Description string
	Type              template.HTML
	Needed            bool
}

// object is a named schema.
type object struct {
	Name, Description string
	Fields            []field
	// Is describes the values of a schema that has no members.
	Is template.HTML
}

// group is the error codes of one status.
type group struct {
	Status string
	Codes  []string
}

// refusal is one error code. Again says that the same request may succeed
// later.
type refusal struct {
	Status, Code, Action string
	Again                bool
}

// Read parses an OpenAPI 3.1 document in JSON. Parts of the format that the
// service does not use are ignored.
func Read(document []byte) (Reference, error) {
	var d description
	if err := json.Unmarshal(document, &d); err != nil {
		return Reference{}, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	return d.reference(), nil
}

// reference assembles the page. Server comes before the parts, because each
// curl command contains it.
func (d description) reference() Reference {
	v := Reference{Title: d.Info.Title, Version: d.Info.Version, Description: d.Info.Description, Credentials: d.credentials(), Objects: d.objects()}
	if len(d.Servers) > 0 {
		v.Server = d.Servers[0].URL
	}
	for _, tag := range d.Tags {
		v.Parts = append(v.Parts, part{tag.Name, tag.Description, d.calls(tag.Name, v.Server)})
	}
	v.Refusals = d.refusals(v.Parts)
	return v
}

// credentials returns the security schemes, sorted by id.
func (d description) credentials() (out []credential) {
	for _, id := range sorted(d.Components.SecuritySchemes) {
		s := d.Components.SecuritySchemes[id]
		how := "Authorization: Bearer " + credentialWord
		if s.In == "cookie" {
			how = "Cookie: " + s.Name
		}
		out = append(out, credential{id, s.Description, how})
	}
	return out
}

// objects returns the named schemas, sorted by name.
func (d description) objects() (out []object) {
	for _, name := range sorted(d.Components.Schemas) {
		s := d.Components.Schemas[name]
		o := object{Name: name, Description: s.Description, Fields: s.fields()}
		if len(o.Fields) == 0 {
			o.Is = s.text()
		}
		out = append(out, o)
	}
	return out
}

// calls returns the operations whose first tag is tag, sorted by path and
// method.
func (d description) calls(tag, server string) (out []call) {
	for _, path := range sorted(d.Paths) {
		for _, method := range sorted(d.Paths[path]) {
			if op := d.Paths[path][method]; len(op.Tags) > 0 && op.Tags[0] == tag {
				out = append(out, d.call(strings.ToUpper(method), path, op, server))
			}
		}
	}
	return out
}

// refusals returns each error code once, with the action that its example
// suggests, sorted by status and code.
func (d description) refusals(parts []part) (out []refusal) {
	seen := map[string]bool{}
	note := func(status, code string) {
		if seen[code] {
			return
		}
		seen[code] = true
		var told struct {
			Error struct {
				Retryable       bool
				SuggestedAction string `json:"suggested_action"`
			}
		}
		_ = json.Unmarshal(d.Components.Examples[code].Value, &told) // a code without an example has no words here
		out = append(out, refusal{status, code, told.Error.SuggestedAction, told.Error.Retryable})
	}
	for _, p := range parts {
		for _, c := range p.Operations {
			for _, g := range c.Refusals {
				for _, code := range g.Codes {
					note(g.Status, code)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b refusal) int { return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Code, b.Code)) })
	return out
}

// call describes one operation. A body that refers to a named schema shows its
// members in place as well, since a reader fills them in right there; a
// response only links to them.
func (d description) call(method, path string, op operation, server string) call {
	c := call{Method: method, Path: path, operation: op}
	for _, requirement := range op.Security {
		c.Takes = append(c.Takes, sorted(requirement)...)
	}
	for _, media := range sorted(op.RequestBody.Content) {
		b := d.body("", "", media, op.RequestBody.Content[media])
		if b.Object != "" {
			b.Fields = d.Components.Schemas[b.Object].fields()
		}
		c.Bodies = append(c.Bodies, b)
	}
	for _, status := range sorted(op.Responses) {
		r := op.Responses[status]
		if status < "4" {
			if len(r.Content) == 0 {
				c.Answers = append(c.Answers, body{Status: status, Description: r.Description})
			}
			for _, media := range sorted(r.Content) {
				c.Answers = append(c.Answers, d.body(status, r.Description, media, r.Content[media]))
			}
			continue
		}
		if codes := sorted(r.Content["application/json"].Examples); len(codes) > 0 {
			c.Refusals = append(c.Refusals, group{status, codes})
		}
	}
	c.Curl = d.curl(server, c)
	return c
}

// body describes a body. Fields are listed only for a schema without a name.
func (d description) body(status, text, media string, m media) body {
	b := body{Status: status, Description: text, Media: media, Example: m.example()}
	if b.Object = m.Schema.name(); b.Object == "" {
		b.Fields = m.Schema.fields()
	}
	return b
}

// example returns the body's example as a caller would see it: JSON indented,
// text unquoted. It returns "" when there is none.
func (m media) example() string {
	value := m.Example
	if value == nil {
		for _, name := range sorted(m.Examples) {
			value = m.Examples[name].Value
			break
		}
	}
	if value == nil {
		return ""
	}
	if text, err := strconv.Unquote(string(value)); err == nil {
		return text
	}
	var out bytes.Buffer
	if err := json.Indent(&out, value, "", "  "); err != nil {
		return string(value)
	}
	return out.String()
}

// sorted returns the keys of m in order, so that the page is the same each
// time.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
