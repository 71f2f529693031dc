package agent

import (
	"regexp"
	"strings"
)

// plainMistakes say in plain words what the schema library says of a value. The library's
// texts begin with the keyword of the schema that does not hold.
var plainMistakes = []struct {
	library *regexp.Regexp
	plain   string
}{
	{regexp.MustCompile(`^type: (.*) has type "(\w+)", want "(\w+)"$`), `$1 is of type $2; it must be of type $3`},
	{regexp.MustCompile(`^required: missing properties: \[(.*)\]$`), `$1 is missing`},
	{regexp.MustCompile(`^unexpected additional properties \[(.*)\]$`), `there is no argument $1`},
	{regexp.MustCompile(`^pattern: (".*") does not match regular expression "(.*)"$`), `$1 does not match the pattern $2`},
	{regexp.MustCompile(`^enum: (.*) does not equal any of: \[(.*)\]$`), `$1 is not one of these: $2`},
	{regexp.MustCompile(`^(?:minimum|maximum): (-?\d+)(?:/1)? (.*?)\.0+$`), `$1 $2`},
	{regexp.MustCompile(`^\w+: `), ``}, // the keyword
}

// mistake says which argument does not fit its schema, and why. err is of the schema library.
func mistake(err error) string {
	text := err.Error()
	if at := strings.LastIndex(text, "validating "); at >= 0 { // the innermost place
		text = text[at+len("validating "):]
	}
	place, reason, found := strings.Cut(text, ": ")
	if !found {
		return text
	}
	for _, m := range plainMistakes {
		if m.library.MatchString(reason) {
			reason = m.library.ReplaceAllString(reason, m.plain)
			break
		}
	}
	if place == "root" {
		return reason
	}
	name := strings.NewReplacer("/properties/", ".", "/items", "[]").Replace(place)
	return strings.TrimPrefix(name, ".") + ": " + reason
}
