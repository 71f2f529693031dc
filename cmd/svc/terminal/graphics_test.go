package terminal

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi/sixel"
)

func TestTerminalsThatSayWhoTheyAreAreKnown(t *testing.T) {
	t.Parallel()
	for environment, want := range map[string]Graphics{
		"TERM=xterm-256color": NoGraphics, "": NoGraphics, "TERM=dumb": NoGraphics, "TERM_PROGRAM=Apple_Terminal": NoGraphics, "TERM_PROGRAM=vscode": NoGraphics,
		"KITTY_WINDOW_ID=1": Kitty, "TERM=xterm-kitty": Kitty, "TERM=xterm-ghostty": Kitty, "TERM_PROGRAM=ghostty": Kitty,
		"TERM_PROGRAM=iTerm.app": ITerm, "TERM_PROGRAM=WezTerm": ITerm, "LC_TERMINAL=iTerm2": ITerm, "TERM_PROGRAM=mintty": ITerm,
		"TERM=foot": Sixel, "TERM=mlterm": Sixel,
	} {
		name, value, _ := strings.Cut(environment, "=")
		got := graphicsByEnvironment(func(asked string) string {
			if asked == name {
				return value
			}
			return ""
		})
		if got != want {
			t.Errorf("%s: %q, want %q", environment, got, want)
		}
	}
}

// answering is a terminal that answers each question alike, a few bytes at a time.
type answering struct{ answer io.Reader }

func (answering) Write(p []byte) (int, error) { return len(p), nil }

func (a answering) Read(p []byte) (int, error) { return a.answer.Read(p[:min(3, len(p))]) }

func TestATerminalShowsSixelWhenItSaysSo(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{
		"\x1b[?62;4;6c": true, "\x1b[?63;1;2;4c": true, "\x1b[?62;4c typed": true, "typed\x1b[?65;1;4;9c": true,
		"": false, "\x1b[?62;22c": false, "\x1b[?4;6c": false, "\x1b[?62;14c": false, "\x1b[?62;4": false, strings.Repeat("x", 5000) + "\x1b[?62;4c": false,
	} {
		if got := showsSixel(answering{strings.NewReader(answer)}); got != want {
			t.Errorf("%.40q: %v, want %v", answer, got, want)
		}
	}
	if GraphicsOf(&bytes.Buffer{}) != NoGraphics {
		t.Error("what is no terminal shows pictures")
	}
}

// TestEachTerminalGetsThePicture reads back what is written for it.
func TestEachTerminalGetsThePicture(t *testing.T) {
	t.Parallel()
	drawn := image.NewRGBA(image.Rect(0, 0, 200, 120))
	for y := range 120 {
		for x := range 200 {
			drawn.Set(x, y, color.RGBA{byte(x), byte(2 * y), byte(x * y), 255})
		}
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, drawn, nil); err != nil {
		t.Fatal(err)
	}
	for g, read := range map[Graphics]func(text string) (image.Image, error){
		Kitty: func(text string) (image.Image, error) {
			encoded := ""
			for _, chunk := range regexp.MustCompile("\x1b_G[^;]*;([^\x1b]*)\x1b").FindAllStringSubmatch(text, -1) {
				encoded += chunk[1]
			}
			return png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(encoded)))
		},
		ITerm: func(text string) (image.Image, error) {
			_, encoded, _ := strings.Cut(strings.TrimSuffix(text, "\a\n"), "inline=1:")
			return jpeg.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(encoded)))
		},
		Sixel: func(text string) (image.Image, error) {
			return (&sixel.Decoder{}).Decode(strings.NewReader(strings.TrimSuffix(strings.TrimPrefix(text, "\x1bP0;1q"), "\x1b\\\n")))
		},
	} {
		var out bytes.Buffer
		if err := g.Show(&out, file.Bytes()); err != nil {
			t.Fatal(err)
		}
		seen, err := read(out.String())
		if err != nil || seen.Bounds().Dx() != 200 {
			t.Errorf("%s: %v, from %.60q", g, err, out.String())
		}
		if err := g.Show(io.Discard, []byte("no picture")); err == nil {
			t.Errorf("%s: what is no picture is shown", g)
		}
	}
	var out bytes.Buffer
	if err := NoGraphics.Show(&out, file.Bytes()); err != nil || out.Len() != 0 {
		t.Errorf("without graphics %d bytes are written: %v", out.Len(), err)
	}
}
