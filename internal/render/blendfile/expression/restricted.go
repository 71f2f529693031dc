package expression

import (
	"slices"
	"strings"
)

// NeedsScripts reports whether a driver's expression works only where scripts may run.
// names are the driver's variables. If scripts may not run, Blender computes simple
// expressions itself. It gives Python only expressions that call nothing but functions
// of numbers, without attributes, keywords and definitions.
func NeedsScripts(text string, names []string) bool {
	return !simpleExpression(text, names) && !restricted(text, names)
}

// restricted reports whether Blender gives an expression to Python although scripts may
// not run. It checks only the words and signs: an expression that is not Python fails
// in any case.
func restricted(text string, names []string) bool {
	text, _, _ = strings.Cut(text, "#") // the rest is a comment
	before := byte('(')                 // the last sign or letter
	for text != "" {
		n := restrictedToken(text, before, names)
		if n == 0 {
			return false
		}
		if text[0] != ' ' && text[0] != '\t' {
			before = text[0]
		}
		text = text[n:]
	}
	return true
}

// restrictedToken is the length of the first token, 0 when Python may not see it. before
// is the preceding sign.
func restrictedToken(text string, before byte, names []string) int {
	c := text[0]
	switch {
	case digits(text) > 0 || c == '.' && digits(text[1:]) > 0:
		return numberLength(text)
	case wordLength(text) > 0:
		n := wordLength(text)
		// A word before a quote says what kind of text it is.
		if quoted := n < len(text) && (text[n] == '"' || text[n] == '\''); quoted || !allowed(text[:n], names) {
			return 0
		}
		return n
	case c == '"' || c == '\'':
		end := strings.IndexByte(text[1:], c)
		if end < 0 || strings.IndexByte(text[1:1+end], '\\') >= 0 {
			return 0
		}
		return end + 2
	case strings.IndexByte("=!<>", c) >= 0 && len(text) > 1 && text[1] == '=':
		return 2
	case c == '*' && strings.IndexByte("(,[", before) >= 0:
		return 0 // a list that is spread
	case strings.IndexByte(" \t+-*/%()[]{},:&|^~!<>", c) >= 0:
		return 1
	}
	return 0
}

// numberLength passes over digits, letters and points: 1.5, 0x10, 1e5, 1_000.
func numberLength(text string) int {
	n := 0
	for n < len(text) && (text[n] == '.' || digits(text[n:]) > 0 || wordLength(text[n:]) > 0) {
		n++
	}
	return n
}

// allowed reports whether Blender lets Python see a name: words of the language,
// variables, the module math, and functions of numbers.
func allowed(name string, names []string) bool {
	return slices.Contains(names, name) || strings.Contains(allowedNames, " "+name+" ")
}

const allowedNames = " and or not if else in is True False None frame all any len max min pow round sum bool float int clamp lerp smoothstep " +
	"acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 expm1 fabs factorial floor fmod " +
	"frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi prod " +
	"radians remainder sin sinh sqrt tan tanh tau trunc ulp "
