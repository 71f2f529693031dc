// Package reference reads an OpenAPI document for the page that shows it.
//
// What always holds: it gives what the document says and nothing else, in the
// order in which the page shows it.
//
// What the document says is the routes' affair, how the page looks the template's
// (reference.html of package web). Start reading at Read; words.go puts a schema
// and a call into words.
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

// Reference is what the page shows.
type Reference struct {
	Title, Version, Description, Server string
	Credentials                         []credential
	Parts                               []part
	Objects                             []object
	Refusals                            []refusal
}

type credential struct{ ID, Description, How string }

type part struct {
	Name, Description string
	Operations        []call
}

// call is an operation.
type call struct {
	Method, Path string
	operation
	Takes    []string // ids of credentials; any of them
	Curl     string
	Bodies   []body
	Answers  []body
	Refusals []group
}

// ID names the call in the page's addresses.
func (c call) ID() string { return c.OperationID }

// body is what is sent or answered, in one form.
type body struct {
	Status, Description, Media string
	Object                     string  // the schema's name; "" = it has none
	Fields                     []field // of one without a name
	Example                    string
}

type field struct {
	Name, Description string
	Type              template.HTML
	Needed            bool
}

type object struct {
	Name, Description string
	Fields            []field
	Is                template.HTML // what it is when it has no fields
}

// group is the codes that come with a status.
type group struct {
	Status string
	Codes  []string
}

type refusal struct {
	Status, Code, Action string
	Again                bool
}

// Read gives what an OpenAPI document says.
func Read(document []byte) (Reference, error) {
	var d description
	if err := json.Unmarshal(document, &d); err != nil {
		return Reference{}, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	return d.reference(), nil
}

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

// calls are the operations of a tag, by path.
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

// refusals are the codes that any call has, with what their example suggests.
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

func (d description) body(status, text, media string, m media) body {
	b := body{Status: status, Description: text, Media: media, Example: m.example()}
	if b.Object = m.Schema.name(); b.Object == "" {
		b.Fields = m.Schema.fields()
	}
	return b
}

// example is the one of a body, as it would be seen: JSON indented, text as it is.
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

// sorted are a map's keys in order.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
