package plaintext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWhatAStrangerWritesIsShownEscaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		"Szene äöü, 場景, عربى 🙂":       "Szene äöü, 場景, عربى 🙂",
		`C:\textures\wood.png`:        `C:\textures\wood.png`,
		"\x1b]0;owned\a":              `\x1b]0;owned\x07`,
		"\x1b[2Jgone":                 `\x1b[2Jgone`,
		"one\nsvc: error: two\r\tx":   `one\nsvc: error: two\r\tx`,
		"scene\u202egnp.exe":          `scene\u202egnp.exe`,
		"\u2066a\u2069\u200e\u061cb":  `\u2066a\u2069\u200e\u061cb`,
		"a\u200bb\u200dc\u2060\ufeff": `a\u200bb\u200dc\u2060\ufeff`,
		"a\u2028b\u2029\u0085\u009b":  `a\u2028b\u2029\u0085\u009b`,
		"\x9b31m\xff\xc3(":            `\x9b31m\xff\xc3(`,
		"\x7f\x00":                    `\u007f\x00`,
		"\U000e0041\u3164\ufe0f":      `\udb40\udc41\u3164\ufe0f`,
		"\ufffd":                      "\ufffd",
	} {
		if got := Line(text); got != want {
			t.Errorf("Line(%q) is %s, want %s", text, got, want)
		}
	}
	if got := Lines("a\tb\r\nc\x1b\n"); got != "a\tb\\r\nc\\x1b\n" {
		t.Errorf("Lines gives %q", got)
	}
}

func TestALineHasABound(t *testing.T) {
	t.Parallel()
	if got, want := Line(strings.Repeat("ä", MaxLine)), strings.Repeat("ä", MaxLine); got != want {
		t.Errorf("a line of the longest length has %d characters", utf8.RuneCountInString(got))
	}
	if got, want := Line(strings.Repeat("\x9b", 1<<20)), strings.Repeat(`\x9b`, MaxLine)+"…"; got != want {
		t.Errorf("a longer line ends with %q", got[max(0, len(got)-20):])
	}
}

func FuzzShown(f *testing.F) {
	for _, seed := range []string{"", "\x1b]0;a\a", "a\u202eb", "\xff\xfe", "\u2028", "\U000e0001", "a\nb", `\u202e`, "\U0001f642"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line, lines := Line(text), Lines(text)
		for _, shown := range []string{line, lines} {
			if !utf8.ValidString(shown) {
				t.Fatalf("%q is shown as %q, which is not UTF-8", text, shown)
			}
		}
		if i := strings.IndexFunc(line, Hidden); i >= 0 {
			t.Fatalf("%q is shown as %q", text, line)
		}
		if i := strings.IndexFunc(lines, func(r rune) bool { return Hidden(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Fatalf("%q is shown as %q", text, lines)
		}
		if utf8.RuneCountInString(line) > 12*MaxLine+1 {
			t.Fatalf("a line has %d characters", utf8.RuneCountInString(line))
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		safe := Lines(string(encoded))
		if strings.IndexFunc(safe, Hidden) >= 0 {
			t.Fatalf("JSON is %q", safe)
		}
		var before, after string
		if json.Unmarshal(encoded, &before) != nil || json.Unmarshal([]byte(safe), &after) != nil || before != after {
			t.Fatalf("%q became %q", before, after)
		}
	})
}
