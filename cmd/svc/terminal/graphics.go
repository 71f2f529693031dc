package terminal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/jpeg" // previews are
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"
)

// Graphics is how a terminal shows pictures.
type Graphics string

// Ways to show pictures.
const (
	NoGraphics Graphics = "" // it shows none
	Kitty      Graphics = "kitty"
	ITerm      Graphics = "iterm"
	Sixel      Graphics = "sixel"
)

// GraphicsOf returns how a stream shows pictures; NoGraphics unless it is a terminal. If
// the environment does not tell, the terminal is asked. Inside tmux and screen it is none:
// they pass pictures on only if configured to.
func GraphicsOf(stream any) Graphics {
	if !Redraws(stream) || os.Getenv("TMUX") != "" || strings.HasPrefix(os.Getenv("TERM"), "screen") {
		return NoGraphics
	}
	if g := graphicsByEnvironment(os.Getenv); g != NoGraphics {
		return g
	}
	if asked(showsSixel) {
		return Sixel
	}
	return NoGraphics
}

// graphicsByEnvironment recognises terminals that identify themselves.
func graphicsByEnvironment(env func(string) string) Graphics {
	program := env("TERM_PROGRAM")
	switch {
	case env("KITTY_WINDOW_ID") != "", env("TERM") == "xterm-kitty", env("TERM") == "xterm-ghostty", program == "ghostty":
		return Kitty
	case slices.Contains([]string{"iTerm.app", "WezTerm", "mintty", "rio"}, program), env("LC_TERMINAL") == "iTerm2":
		return ITerm
	case slices.Contains([]string{"foot", "foot-extra", "mlterm", "contour"}, env("TERM")):
		return Sixel
	}
	return NoGraphics
}

// attributes is a terminal's answer to the question for its attributes. A 4 among them
// means that it shows sixel pictures.
var attributes = regexp.MustCompile(`\x1b\[\?([0-9;]+)c`)

// answerTime bounds the wait for a terminal's answer; one over a slow connection is
// near.
const answerTime = 300 * time.Millisecond

// showsSixel asks a terminal, whose input is raw and ends at a deadline.
func showsSixel(tty io.ReadWriter) bool {
	if _, err := io.WriteString(tty, ansi.RequestPrimaryDeviceAttributes); err != nil {
		return false
	}
	var seen []byte
	part := make([]byte, 64)
	for len(seen) < 1024 {
		n, err := tty.Read(part)
		seen = append(seen, part[:n]...)
		if found := attributes.FindSubmatch(seen); found != nil {
			return slices.Contains(strings.Split(string(found[1]), ";")[1:], "4")
		}
		if err != nil {
			return false
		}
	}
	return false
}

// Show prints a picture, and a line end after it. Errors are those of w and of a picture
// that cannot be decoded.
func (g Graphics) Show(w io.Writer, picture []byte) error {
	img, _, err := image.Decode(bytes.NewReader(picture))
	if err != nil {
		return fmt.Errorf("show the picture: %w", err)
	}
	var text bytes.Buffer
	switch g {
	case Kitty:
		err = kitty.EncodeGraphics(&text, img, &kitty.Options{
			Action: kitty.TransmitAndPut, Transmission: kitty.Direct, Format: kitty.PNG, Quiet: 2, Chunk: true,
		})
	case ITerm:
		text.WriteString(ansi.ITerm2(iterm2.File{
			Inline: true, Size: int64(len(picture)), Content: []byte(base64.StdEncoding.EncodeToString(picture)),
		}))
	case Sixel:
		var pixels bytes.Buffer
		if err = (&sixel.Encoder{}).Encode(&pixels, img); err == nil {
			text.WriteString(ansi.SixelGraphics(0, 1, 0, pixels.Bytes()))
		}
	case NoGraphics:
		return nil
	}
	if err != nil {
		return fmt.Errorf("show the picture: %w", err)
	}
	text.WriteByte('\n')
	if _, err := text.WriteTo(w); err != nil {
		return fmt.Errorf("show the picture: %w", err)
	}
	return nil
}
