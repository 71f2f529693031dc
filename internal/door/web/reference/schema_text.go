package reference

import (
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
