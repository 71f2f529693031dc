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

// credentialWord stands for the secret in commands that can be copied: a shell
// variable, so that no secret ends up in a shell history.
const credentialWord = "$SVC_KEY"

// name returns the name of the schema that s refers to; "" when s is written in
// place.
func (s schema) name() string {
	if s.Ref == "" {
		return ""
	}
	return path.Base(s.Ref)
}

// fields lists the members of an object: the required ones in their written
// order, then the optional ones by name.
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

// text describes the values of a schema. The result is HTML, because it links
// to named schemas; every text of the document in it is escaped.
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

// kind returns the type's name with its bounds and default.
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
		text += ", default " + string(s.Default)
	}
	return text
}

// items describes the values of a list or a map; "" for other types.
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

// types returns the names of the schema's types; nil when any value is allowed.
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

// span describes a range; an empty bound is open. It returns "" when both are.
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

// number writes a bound; "" for nil.
func number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// count writes a length; "" for nil.
func count(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// code marks up a JSON value as code.
func code(value json.RawMessage) template.HTML {
	return template.HTML("<code>" + template.HTMLEscapeString(string(value)) + "</code>")
}

// quoted finds code between backquotes in a description.
var quoted = regexp.MustCompile("`([^`]+)`")

// Prose returns a description as HTML, with text between backquotes as code.
// Everything is escaped first.
func Prose(text string) template.HTML {
	return template.HTML(quoted.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}
