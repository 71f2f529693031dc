// Package expression says which driver expressions Blender computes when scripts may not
// run. It computes nothing itself. Any text has an answer, in time that grows with its
// length. Start reading at NeedsScripts.
package expression

import (
	"slices"
	"strings"
)

// simpleExpression reports whether Blender computes a driver's expression itself,
// without Python, so that it works where scripts are off. names are the driver's
// variables. The grammar is that of Blender 2.92 to 4.x: numbers, variables, frame, pi,
// True and False; + - * / and comparisons, which chain; and, or, not, "a if b else c";
// and the functions of simpleFunctions. Anything else is Python: %, **, //, attributes,
// indices, texts.
func simpleExpression(text string, names []string) bool {
	p := &expression{text: text, names: names}
	return p.next() && p.ternary(0) && p.token == ""
}

// simpleFunctions is how many arguments each function takes. min and max take any
// number but none.
func simpleFunctions() map[string][]int {
	return map[string][]int{
		"radians": {1}, "degrees": {1}, "abs": {1}, "fabs": {1}, "floor": {1}, "ceil": {1}, "trunc": {1}, "round": {1}, "int": {1},
		"sin": {1}, "cos": {1}, "tan": {1}, "asin": {1}, "acos": {1}, "atan": {1}, "atan2": {2}, "exp": {1}, "log": {1, 2},
		"sqrt": {1}, "pow": {2}, "fmod": {2}, "lerp": {3}, "clamp": {1, 3}, "smoothstep": {3},
	}
}

// maxNesting bounds the recursion; an expression has at most 255 bytes in a sound file.
const maxNesting = 256

// expression is a parser over the rest of a text. token is the one at hand: a word, a
// sign, numberToken, or "" at the end.
type expression struct {
	text  string
	names []string
	token string
}

const numberToken = "0"

// next reads a token and reports whether there was one that can stand in an expression.
func (p *expression) next() bool {
	p.text = strings.TrimLeft(p.text, " \t\n\v\f\r")
	if p.text == "" {
		p.token = ""
		return true
	}
	if digits(p.text) > 0 || p.text[0] == '.' && digits(p.text[1:]) > 0 {
		p.token = numberToken
		return p.number()
	}
	if n := wordLength(p.text); n > 0 {
		p.take(n)
		return true
	}
	if len(p.text) > 1 && p.text[1] == '=' && strings.IndexByte("=!<>", p.text[0]) >= 0 {
		p.take(2)
		return true
	}
	p.take(1)
	return strings.Contains("+-*/(),<>", p.token)
}

func (p *expression) take(n int) { p.token, p.text = p.text[:n], p.text[n:] }

// number passes over a number. Whole numbers with a leading zero are octal in C and
// none in Python.
func (p *expression) number() bool {
	n := digits(p.text)
	whole := p.text[:n]
	fraction := false
	if n < len(p.text) && p.text[n] == '.' {
		fraction = true
		n += 1 + digits(p.text[n+1:])
	}
	if n < len(p.text) && (p.text[n] == 'e' || p.text[n] == 'E') {
		fraction = true
		n++
		if n < len(p.text) && (p.text[n] == '+' || p.text[n] == '-') {
			n++
		}
		power := digits(p.text[n:])
		if power == 0 {
			return false
		}
		n += power
	}
	p.text = p.text[n:]
	return fraction || whole[0] != '0' || strings.Trim(whole, "0") == ""
}

func digits(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// wordLength counts the letters of a name in ASCII, which is all that Blender takes.
func wordLength(text string) int {
	n := 0
	for n < len(text) {
		c := text[n] | 0x20
		if letter := c >= 'a' && c <= 'z' || text[n] == '_'; !letter && (n == 0 || text[n] < '0' || text[n] > '9') {
			break
		}
		n++
	}
	return n
}

// ternary reads "a if b else c" or what is in it.
func (p *expression) ternary(depth int) bool {
	if depth > maxNesting || !p.either(depth+1) {
		return false
	}
	if p.token != "if" {
		return true
	}
	return p.next() && p.either(depth+1) && p.token == "else" && p.next() && p.ternary(depth+1)
}

// either reads operands of "or" and "and", which Blender's parser distinguishes only
// by their order.
func (p *expression) either(depth int) bool {
	for {
		for p.token == "not" {
			if !p.next() {
				return false
			}
		}
		if !p.sums(depth) {
			return false
		}
		if p.token != "or" && p.token != "and" {
			return true
		}
		if !p.next() {
			return false
		}
	}
}

// sums reads operands of comparisons and arithmetic.
func (p *expression) sums(depth int) bool {
	for {
		for p.token == "+" || p.token == "-" {
			if !p.next() {
				return false
			}
		}
		if !p.operand(depth) {
			return false
		}
		if !slices.Contains([]string{"==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/"}, p.token) {
			return true
		}
		if !p.next() {
			return false
		}
	}
}

// operand reads a number, a name, a call or what stands in brackets.
func (p *expression) operand(depth int) bool {
	name := p.token
	switch {
	case name == numberToken:
		return p.next()
	case name == "(":
		return p.next() && p.ternary(depth+1) && p.token == ")" && p.next()
	case wordLength(name) == 0 || slices.Contains([]string{"if", "else", "and", "or", "not"}, name):
		return false
	case slices.Contains(p.names, name), slices.Contains([]string{"frame", "pi", "True", "False"}, name):
		return p.next()
	}
	counts, known := simpleFunctions()[name]
	if !known && name != "min" && name != "max" {
		return false
	}
	n, ok := p.arguments(depth)
	return ok && (!known || slices.Contains(counts, n))
}

// arguments counts those of a call, of which there is at least one.
func (p *expression) arguments(depth int) (int, bool) {
	if !p.next() || p.token != "(" || !p.next() {
		return 0, false
	}
	for n := 1; p.ternary(depth + 1); n++ {
		switch p.token {
		case ",":
			if !p.next() {
				return 0, false
			}
		case ")":
			return n, p.next()
		default:
			return 0, false
		}
	}
	return 0, false
}
