package workertags_test

import (
	"slices"
	"strings"
	"testing"

	"svc.example/internal/work/workertags"
)

func TestTagsAreSortedAndHaveOneForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given []string
		want  []string // nil for a refusal
	}{
		"none":                {nil, []string{}},
		"sorted, once each":   {[]string{"rtx", "a-1", "rtx"}, []string{"a-1", "rtx"}},
		"a dot":               {[]string{"blender-4.1"}, []string{"blender-4.1"}},
		"a capital":           {[]string{"RTX"}, nil},
		"a space":             {[]string{"a b"}, nil},
		"a pattern":           {[]string{"a%"}, nil},
		"an underscore":       {[]string{"a_b"}, nil},
		"empty":               {[]string{""}, nil},
		"a hyphen at the end": {[]string{"a-"}, nil},
		"too long":            {[]string{strings.Repeat("a", 33)}, nil},
		"the longest":         {[]string{strings.Repeat("a", 32)}, []string{strings.Repeat("a", 32)}},
		"too many":            {strings.Split("abcdefghi", ""), nil},
	} {
		set, err := workertags.Of(c.given)
		if (err != nil) != (c.want == nil) || (err == nil && !slices.Equal(set, c.want)) {
			t.Errorf("%s: %v, %v", name, set, err)
		}
		if back := workertags.Read(set.Text()); err == nil && !slices.Equal(back, set) {
			t.Errorf("%s: stored and read, it is %v", name, back)
		}
	}
}
