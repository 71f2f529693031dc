package statement

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   []byte
	body   any // of JSON
}

// check says what is wrong with an answer by one check; nil: the statement holds.
func (a answer) check(check string) error {
	word, rest, _ := strings.Cut(check, " ")
	switch {
	case word == "is":
		if got := strconv.Itoa(a.status); got != rest {
			return fmt.Errorf("the status is %s: %.300s", got, a.text)
		}
		return nil
	case word == "header":
		name, wanted, _ := strings.Cut(rest, " ")
		return compare(strings.Join(a.header.Values(name), ", "), len(a.header.Values(name)) > 0, wanted)
	case word == "bytes":
		return compare(string(a.text), true, rest)
	case word == "only":
		path, members, _ := strings.Cut(rest, " ")
		return a.each(path, func(v any, _ bool) error { return onlyMembers(v, members) })
	case strings.HasPrefix(word, "."):
		return a.each(word, func(v any, there bool) error { return compare(v, there, rest) })
	}
	return fmt.Errorf("the check %q is not known", check)
}

// each checks what is at a path of the body by a rule: one value, or each item of
// lists that the path goes through.
func (a answer) each(path string, holds func(v any, there bool) error) error {
	return walk(a.body, true, splitPath(path), holds)
}

// splitPath is .a[*].b as a, *, b.
func splitPath(path string) []string {
	return strings.FieldsFunc(strings.NewReplacer("[", ".", "]", "").Replace(path), func(r rune) bool { return r == '.' })
}

func walk(v any, there bool, path []string, holds func(v any, there bool) error) error {
	if len(path) == 0 {
		return holds(v, there)
	}
	step, path := path[0], path[1:]
	switch container := v.(type) {
	case map[string]any:
		inner, there := container[step]
		return walk(inner, there, path, holds)
	case []any:
		if step != "*" {
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(container) {
				return fmt.Errorf("there is no item %s of %d", step, len(container))
			}
			return walk(container[i], true, path, holds)
		}
		if len(container) == 0 {
			return fmt.Errorf("the list is empty")
		}
		for i, inner := range container {
			if err := walk(inner, true, path, holds); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
		return nil
	}
	return walk(nil, false, path, holds)
}

// compare checks a value by "= JSON", "~ PATTERN", "none", or a type.
func compare(v any, there bool, wanted string) error {
	how, what, _ := strings.Cut(wanted, " ")
	switch how {
	case "none":
		if there {
			return fmt.Errorf("it is there: %v", v)
		}
		return nil
	case "=":
		var value any
		if err := json.Unmarshal([]byte(what), &value); err != nil {
			value = what // the text of a header
		}
		if !there || !reflect.DeepEqual(v, value) && fmt.Sprint(v) != what {
			return fmt.Errorf("it is %v, want %s", v, what)
		}
		return nil
	case "~":
		text, isText := v.(string)
		pattern, err := regexp.Compile(what)
		if err != nil {
			return err
		}
		if !isText || !pattern.MatchString(text) {
			return fmt.Errorf("it is %v, want text that matches %s", v, what)
		}
		return nil
	case "length":
		if list, isList := v.([]any); !isList || strconv.Itoa(len(list)) != what {
			return fmt.Errorf("it is %v, want %s items", v, what)
		}
		return nil
	case "from": // from A to B
		low, high, _ := strings.Cut(what, " to ")
		return between(v, low, high)
	}
	if !there {
		return fmt.Errorf("it is absent, want %s", wanted)
	}
	for kind := range strings.SplitSeq(wanted, "|") {
		if isOf(v, kind) {
			return nil
		}
	}
	return fmt.Errorf("it is %v, want %s", v, wanted)
}

func between(v any, low, high string) error {
	number, isNumber := v.(float64)
	least, lowErr := strconv.ParseFloat(low, 64)
	most, highErr := strconv.ParseFloat(high, 64)
	if lowErr != nil || highErr != nil || !isNumber || number < least || number > most {
		return fmt.Errorf("it is %v, want a number from %s to %s", v, low, high)
	}
	return nil
}

// isOf reports whether a value is of a kind; a kind that nothing defines admits nothing.
func isOf(v any, kind string) bool {
	text, isText := v.(string)
	number, isNumber := v.(float64)
	switch kind {
	case "null":
		return v == nil
	case "boolean":
		_, is := v.(bool)
		return is
	case "integer":
		return isNumber && number == float64(int64(number))
	case "number":
		return isNumber
	case "string":
		return isText
	case "array":
		_, is := v.([]any)
		return is
	case "object":
		_, is := v.(map[string]any)
		return is
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		return isText && err == nil && strings.HasSuffix(text, "Z")
	case "url":
		address, err := url.Parse(text)
		return isText && err == nil && address.IsAbs() && address.Host != ""
	case "sha256":
		return isText && hash.MatchString(text)
	}
	return false
}

var hash = regexp.MustCompile("^[0-9a-f]{64}$")

func onlyMembers(v any, members string) error {
	object, is := v.(map[string]any)
	wanted := strings.Fields(members)
	slices.Sort(wanted)
	if got := slices.Sorted(maps.Keys(object)); !is || !slices.Equal(got, wanted) {
		return fmt.Errorf("the members are %v, want %v", got, wanted)
	}
	return nil
}
