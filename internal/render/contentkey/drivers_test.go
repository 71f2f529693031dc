package contentkey

import (
	"strings"
	"testing"
)

func TestADivisionByAVariableCanFail(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]bool{
		"frame / 4": false, "x * 2 + sin(y)": false, "x/10.5": false, "min(a, b) if c > 0 else d": false, "x/100": false,
		"1 / x": true, "1 / (frame - 5)": true, "x / 0": true, "x / 0.0 + 1": true, "sqrt(x)": true, "x % 2": true, "x ** 2": true, "x // 2": true, "x /": true,
	} {
		if got := failing.MatchString(strings.Join(strings.Fields(expression), "")); got != want {
			t.Errorf("%q can fail: %v, want %v", expression, got, want)
		}
	}
}

// A driver may read any path, also one that no property has: it fails, and sets nothing.
func TestOnlyPropertiesThatAreThereAreTheirOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		t    target
		want bool
	}{
		{target{block: 1, of: "IDProperty", property: customValue}, true},
		{target{block: 1, of: "KeyBlock", property: "value"}, true},
		{target{block: 1, of: "KeyBlock", property: "slider_min"}, false},
		{target{block: 1, of: "Object", property: "value"}, false},
		{target{block: nowhere, of: "IDProperty", property: customValue}, false},
	} {
		if got := c.t.isOwn(); got != c.want {
			t.Errorf("%+v: %v", c.t, got)
		}
	}
}
