// Package workertags has the tags of workers: what an operator calls their machines by, and what a
// workspace may require of the workers that render for it.
//
// What always holds: a Set is sorted, has no tag twice, and at most Most. It imports nothing
// that opens a database, because workers have tags too.
package workertags

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Most is how many tags a worker may have, and how many a workspace may require.
const Most = 8

// form is what a tag looks like.
var form = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,30}[a-z0-9])?$`)

// Form says in words what a tag looks like.
const Form = "1 to 32 lowercase letters, digits, dots and hyphens, with a letter or a digit at both ends"

// Set is some tags.
type Set []string

// Of checks tags and sorts them. The error names the first one that is none.
func Of(given []string) (Set, error) {
	set := slices.Compact(slices.Sorted(slices.Values(given)))
	for _, tag := range set {
		if !form.MatchString(tag) {
			return nil, fmt.Errorf("%q is no tag: it must have %s", tag, Form)
		}
	}
	if len(set) > Most {
		return nil, fmt.Errorf("%d tags are too many: at most %d", len(set), Most)
	}
	return set, nil
}

// Text is how a set is stored: each tag after a space; "" for none.
func (s Set) Text() string {
	if len(s) == 0 {
		return ""
	}
	return " " + strings.Join(s, " ")
}

// Read reads what Text wrote. It is not nil, so that JSON has an empty list for no tags.
func Read(text string) Set { return append(Set{}, strings.Fields(text)...) }
