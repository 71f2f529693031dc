package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// credentialWord stands for a secret in what can be copied.
const credentialWord = "$SVC_KEY"

// name is a schema's own name; "" when it is written where it is used.
func (s schema) name() string {
	if s.Ref == "" {
		return ""
	}
	return path.Base(s.Ref)
}

// fields lists the members of an object: those that are always there in the order
// in which they are written, then the others.
func (s schema) fields() []field {
	names := slices.Clone(s.Required)
	for _, name := range sorted(s.Properties) {
		if !slices.Contains(s.Required, name) {
			names = append(names, name)
		}
	}
	out := make([]field, len(names))
	for i, name := range names {
		p := s.Properties[name]
		out[i] = field{name, p.Description, p.text(), i < len(s.Required)}
	}
	return out
}

// text says in words what values a schema takes.
func (s schema) text() template.HTML {
	switch {
	case s.Ref != "":
		return template.HTML(fmt.Sprintf(`<a href="#%s">%[1]s</a>`, template.HTMLEscapeString(s.name())))
	case len(s.OneOf) > 0:
		kinds := make([]string, len(s.OneOf))
		for i, one := range s.OneOf {
			kinds[i] = string(one.text())
		}
		return template.HTML(strings.Join(kinds, " or "))
	case s.Const != nil:
		return code(s.Const)
	case len(s.Enum) > 0:
		values := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			values[i] = string(code(value))
		}
		return template.HTML(strings.Join(values, ", "))
	}
	return template.HTML(template.HTMLEscapeString(s.kind())) + s.items()
}

// kind is the type's name with its bounds.
func (s schema) kind() string {
	names := s.types()
	text := strings.Join(names, " or ")
	switch {
	case len(names) == 0:
		text = "any value"
	case s.ContentMediaType != "":
		text = "file"
	case s.Format == "date-time":
		text = strings.Replace(text, "string", "time (RFC 3339)", 1)
	case s.Format == "uri" || s.Format == "email":
		text = strings.Replace(text, "string", s.Format, 1)
	}
	for _, bound := range []string{
		span(number(s.Minimum), number(s.Maximum), ""), span(count(s.MinLength), count(s.MaxLength), " characters"), span(count(s.MinItems), count(s.MaxItems), " items"),
	} {
		if bound != "" {
			text += ", " + bound
		}
	}
	if s.Default != nil {
		text += ", else " + string(s.Default)
	}
	return text
}

// items are the values of a list or of a map.
func (s schema) items() template.HTML {
	if s.Items != nil {
		return " of " + s.Items.text()
	}
	var each schema
	if json.Unmarshal(s.AdditionalProperties, &each) == nil && (each.Ref != "" || each.Type != nil) {
		return " of " + each.text() + " by name"
	}
	return ""
}

func (s schema) types() []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []any:
		names := make([]string, len(t))
		for i, name := range t {
			names[i] = fmt.Sprint(name)
		}
		return names
	}
	return nil
}

// span says where a number lies.
func span(least, most, unit string) string {
	switch {
	case least == "" && most == "":
		return ""
	case most == "":
		return least + unit + " or more"
	case least == "":
		return most + unit + " at most"
	case least == most:
		return least + unit
	}
	return least + " to " + most + unit
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func code(value json.RawMessage) template.HTML {
	return template.HTML("<code>" + template.HTMLEscapeString(string(value)) + "</code>")
}

var quoted = regexp.MustCompile("`([^`]+)`")

// Prose is a description with its code as code.
func Prose(text string) template.HTML {
	return template.HTML(quoted.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}

var variable = regexp.MustCompile(`\{([a-z0-9_]+)\}`)

// shellWord is a placeholder as a variable of the shell.
func shellWord(name string) string { return "$" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// curl is the call as one types it: the credential that programs have, what must
// be given, and the example's body.
func (d description) curl(server string, c call) string {
	command := "curl"
	if c.Method != "GET" && (c.Method != "POST" || len(c.Bodies) == 0) { // what is sent makes it a POST
		command += " -X " + c.Method
	}
	if slices.ContainsFunc(c.Answers, func(a body) bool { return a.Media == "text/event-stream" }) {
		command += " -N"
	}
	address := server + variable.ReplaceAllStringFunc(c.Path, func(m string) string { return shellWord(m[1 : len(m)-1]) })
	mark := "?"
	for _, p := range c.Parameters {
		if p.In == "query" && p.Required {
			address += mark + p.Name + "=" + shellWord(p.Name)
			mark = "&"
		}
	}
	lines := []string{command + ` "` + address + `"`}
	if len(c.Takes) > 0 {
		lines = append(lines, d.shows(c.Takes[0]))
	}
	return strings.Join(append(lines, c.sends()...), " \\\n  ")
}

// shows is the argument for a credential.
func (d description) shows(id string) string {
	if s := d.Components.SecuritySchemes[id]; s.In == "cookie" {
		return `-b "` + s.Name + `=$SVC_SESSION"`
	}
	return `-H "Authorization: Bearer ` + credentialWord + `"`
}

// sends are the arguments for the body. Of several forms a file goes first: that
// is what cannot be guessed.
func (c call) sends() []string {
	for _, b := range slices.Backward(c.Bodies) {
		switch b.Media {
		case "multipart/form-data":
			return []string{"-F file=@scene.blend"}
		case "application/x-www-form-urlencoded":
			var out []string
			for _, f := range b.Fields {
				out = append(out, fmt.Sprintf(`-d "%s=%s"`, f.Name, shellWord(f.Name)))
			}
			return out
		case "application/json":
			var flat bytes.Buffer
			if json.Compact(&flat, []byte(b.Example)) != nil {
				continue // it has no example
			}
			return []string{`-H "Content-Type: application/json"`, "-d '" + flat.String() + "'"}
		}
	}
	return nil
}
