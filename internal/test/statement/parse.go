package statement

import (
	"fmt"
	"strings"
)

// exchange is one request and the checks of its answer.
type exchange struct {
	section string // such as "2.1 Health"
	request string // method and path, and the credential: "GET /v1/health as account"
	headers [][2]string
	body    string // the line that gives it, such as "json {}"; empty: none
	checks  []string
	keeps   [][2]string // a variable, and the path of its value in the answer
}

// parse reads rows. A block ends at an empty line. Its lines are:
//
//	# 2.1 Health                     a section, for what follows
//	for NAME in one | two            repeats the block, with {NAME} in its lines replaced
//	GET /v1/health as account        the request; without "as" it has no credential
//	with Header: value               a header of the request
//	json {"a": 1}                    its body: also form, upload, text and archive (request.go)
//	is 200                           the status
//	error unauthenticated            the error body of spec 7, with this code: nine statements
//	header Allow = GET, HEAD         a header of the answer: =, ~ and a pattern, or none
//	.a.b[0] = {"c": 1}               a member: = and JSON, ~ and a pattern, a type, or none
//	.a[*].b string                   the same for each item, of which there is one at least
//	only .a b c                      the members of an object, and no others
//	like NAME .a                     the checks of a definition, for the object at .a
//	keep NAME = .a.b                 keeps a member as {NAME} for later blocks
//
// A definition begins with "define NAME" and holds checks. {NAME} anywhere is replaced by
// what was kept, or what the test prepared, when the request is sent.
func parse(text string) ([]exchange, error) {
	definitions := map[string][]string{}
	var section string
	var all []exchange
	for _, block := range strings.Split(text, "\n\n") {
		lines := lines(block)
		for len(lines) > 0 && strings.HasPrefix(lines[0], "# ") {
			section, lines = strings.TrimPrefix(lines[0], "# "), lines[1:]
		}
		if len(lines) == 0 {
			continue
		}
		if name, defines := strings.CutPrefix(lines[0], "define "); defines {
			definitions[name] = lines[1:]
			continue
		}
		for _, variant := range repeated(lines) {
			e, err := parseBlock(section, variant, definitions)
			if err != nil {
				return nil, fmt.Errorf("section %s: %w", section, err)
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// lines are a block's lines without indentation and comments.
func lines(block string) (kept []string) {
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			kept = append(kept, line)
		}
	}
	return kept
}

// repeated is a block once for each combination of its "for" lines.
func repeated(block []string) [][]string {
	name, values, repeats := strings.Cut(strings.TrimPrefix(block[0], "for "), " in ")
	if !repeats || !strings.HasPrefix(block[0], "for ") {
		return [][]string{block}
	}
	var all [][]string
	for value := range strings.SplitSeq(values, "|") {
		replaced := strings.NewReplacer("{"+name+"}", strings.TrimSpace(value))
		variant := make([]string, 0, len(block)-1)
		for _, line := range block[1:] {
			variant = append(variant, replaced.Replace(line))
		}
		all = append(all, repeated(variant)...)
	}
	return all
}

func parseBlock(section string, block []string, definitions map[string][]string) (exchange, error) {
	e := exchange{section: section, request: block[0]}
	for _, line := range block[1:] {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "with":
			name, value, _ := strings.Cut(rest, ": ")
			e.headers = append(e.headers, [2]string{name, value})
		case "json", "form", "upload", "text", "archive":
			e.body = line
		case "keep":
			name, path, _ := strings.Cut(rest, " = ")
			e.keeps = append(e.keeps, [2]string{name, path})
		case "like":
			name, at, _ := strings.Cut(rest, " ")
			checks, defined := definitions[name]
			if !defined {
				return e, fmt.Errorf("nothing defines %q", name)
			}
			e.checks = append(e.checks, below(at, checks)...)
		case "error":
			e.checks = append(e.checks, errorBody(rest)...)
		default:
			e.checks = append(e.checks, line)
		}
	}
	if len(e.checks) == 0 {
		return e, fmt.Errorf("%s checks nothing", e.request)
	}
	return e, nil
}

// below moves checks of members to an object inside the answer.
func below(at string, checks []string) []string {
	moved := make([]string, len(checks))
	for i, check := range checks {
		switch members, only := strings.CutPrefix(check, "only . "); {
		case only && at != "":
			moved[i] = "only " + at + " " + members
		case strings.HasPrefix(check, "."):
			moved[i] = at + check
		default:
			moved[i] = check
		}
	}
	return moved
}

// errorBody are the statements of spec 7 about every error.
func errorBody(code string) []string {
	return []string{
		`header Content-Type ~ ^application/json`,
		`header X-Request-Id ~ ^[A-Za-z0-9._-]{1,128}$`,
		`.ok = false`,
		`only . ok error`,
		`.error.code = "` + code + `"`,
		`.error.message ~ ^[A-Za-z/].*[.!]$`,
		`.error.retryable boolean`,
		`.error.suggested_action ~ .{3,}`,
		`.error.request_id ~ ^[A-Za-z0-9._-]{1,128}$`,
	}
}
