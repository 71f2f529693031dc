// Package framename gives frames the names that a scene gives them: by the last part of its
// output path, as in shot_010_#### for //render/shot_010_####.
//
// What always holds: a name is one part of a path on every operating system, it has the frame's
// number, so no two frames of a job share one, and it has at most MaxBytes with its extension.
// Whatever the path has that breaks this, such as tokens in braces, becomes an underscore.
//
// Start reading at Of.
package framename

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes bounds a name with its extension. File systems take 255 bytes; what saves frames
// adds to the name while they are incomplete.
const MaxBytes = 200

// Pattern is how the frames of a scene are named.
type Pattern struct {
	before, after string
	digits        int // the number has at least so many
}

// Blender's: how many digits a number has where the path has no #, and the extensions of
// pictures, of which one at the end of the path gives way to that of the format.
const ensured = 4

func extensions() []string {
	return []string{
		".png", ".tga", ".bmp", ".jpg", ".jpeg", ".sgi", ".rgb", ".rgba", ".tif", ".tiff", ".tx", ".jp2", ".j2c", ".hdr", ".dds", ".dpx", ".cin", ".exr", ".psd", ".pdd", ".psb", ".webp",
	}
}

const (
	mostDigits    = 32
	mostExtension = 8
)

// Of reads a scene's output path, of any operating system.
func Of(output string) Pattern {
	name := output[strings.LastIndexAny(output, `/\`)+1:]
	end := strings.LastIndexByte(name, '#') + 1
	if end == 0 {
		return Pattern{before: fitted(cleaned(name), MaxBytes-mostDigits-mostExtension), digits: ensured}
	}
	first := end
	for first > 0 && name[first-1] == '#' {
		first--
	}
	p := Pattern{before: cleaned(name[:first]), after: cleaned(name[end:]), digits: min(end-first, mostDigits)}
	if ext := path.Ext(p.after); slices.Contains(extensions(), strings.ToLower(ext)) {
		p.after = strings.TrimSuffix(p.after, ext)
	}
	const most = (MaxBytes - mostDigits - mostExtension) / 2
	p.before, p.after = fitted(p.before, most), fitted(p.after, most)
	return p
}

// String is the pattern as Blender writes it.
func (p Pattern) String() string {
	return p.before + strings.Repeat("#", max(1, p.digits)) + p.after
}

// File is the name of a frame, 0 or above, with an extension such as ".png".
func (p Pattern) File(frame int, extension string) string {
	name := fmt.Sprintf("%s%0*d%s%s", p.before, max(1, p.digits), frame, p.after, extension)
	switch stem, _, _ := strings.Cut(name, "."); {
	case name[0] == '.' || name[0] == '-' || name[0] == ' ':
		return "_" + name[1:] // hidden, or taken for an option
	case reserved(stem):
		return "_" + name
	}
	return name
}

// reserved reports whether Windows takes a name for a device.
func reserved(stem string) bool {
	stem = strings.ToUpper(strings.TrimSpace(stem))
	switch {
	case slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}, stem):
		return true
	case strings.HasPrefix(stem, "COM"), strings.HasPrefix(stem, "LPT"):
		return utf8.RuneCountInString(stem) == 4 // a digit, also a raised one
	}
	return false
}

// cleaned replaces what is no part of a name on some operating system, and what a person does
// not see.
func cleaned(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"/\|?*{}#%`, r) || r == utf8.RuneError || !unicode.IsPrint(r) || r > unicode.MaxLatin1 && unicode.Is(unicode.Cf, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
}

// fitted cuts a text to some bytes, at the end of a character.
func fitted(text string, most int) string {
	for len(text) > most {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}
