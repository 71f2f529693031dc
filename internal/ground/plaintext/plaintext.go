// Package plaintext shows text from untrusted sources: names in files, logs of Blender,
// names of workers, messages of other servers. Such text may contain terminal escapes,
// marks that reverse the direction of writing, and line ends that fake a line of ours.
//
// What always holds: what comes out has no such character; each appears as an escape of
// visible ASCII instead, such as \x1b, \u202e or \n. One line stays one line, of bounded
// length. It decides only how text is shown: what is stored or sent as JSON keeps its
// true value. Start reading at Hidden.
package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxLine is how much of a text Line keeps, in characters. A path in a .blend has at
// most 1024 bytes.
const MaxLine = 2000

// Hidden reports whether a character is shown as an escape: a control character, a
// separator of lines or paragraphs, or one that has no picture of its own, such as marks
// of direction and of no width. In terms of Unicode: Cc, Cf, Zl, Zp and
// Default_Ignorable_Code_Point. verify.js applies the same rule to a proof page.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Escape writes a character as visible ASCII: \n, \r, \t, \x1b or \u202e. From U+007F on
// the form is JSON's, which has two halves of UTF-16 above U+FFFF.
func Escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	high, low := utf16.EncodeRune(r)
	return fmt.Sprintf(`\u%04x\u%04x`, high, low)
}

// Line returns text for one line: every hidden character and every byte that is not
// UTF-8 is escaped. It keeps MaxLine characters and marks a cut with "…".
func Line(text string) string {
	if n := 0; len(text) > MaxLine {
		for at := range text {
			if n++; n > MaxLine {
				return escaped(text[:at], "") + "…"
			}
		}
	}
	return escaped(text, "")
}

// Lines is Line for a text of many lines, such as a log: it keeps line ends and tabs,
// and cuts nothing. Of encoded JSON, with \n at line ends, it keeps the value: hidden
// characters stand in its strings only, and none below U+007F.
func Lines(text string) string { return escaped(text, "\n\t") }

// escaped escapes all of text but the characters in keep. Most text has nothing to
// escape and is returned as it is.
func escaped(text, keep string) string {
	var b strings.Builder
	done := 0 // up to here text is written
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		invalid := r == utf8.RuneError && size == 1
		if invalid || Hidden(r) && !strings.ContainsRune(keep, r) {
			b.WriteString(text[done:at])
			if invalid {
				fmt.Fprintf(&b, `\x%02x`, text[at])
			} else {
				b.WriteString(Escape(r))
			}
			done = at + size
		}
		at += size
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}
