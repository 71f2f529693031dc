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
