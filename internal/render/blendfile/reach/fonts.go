package reach

import "svc.example/internal/render/blendfile/records"

// fontStyle is a set of the four kinds of letters of a text, each of which has a font.
type fontStyle uint8

const (
	regular fontStyle = 1 << iota
	bold
	italic
	boldItalic
)

// CharInfo.flag says of what kind a letter is.
const (
	letterBold   = 1 << 0
	letterItalic = 1 << 1
)

// font is the kind of letters that a pointer of a text leads to the font of; 0 for others.
func (m member) font() fontStyle {
	if m.of != "Curve" {
		return 0
	}
	return map[string]fontStyle{"vfont": regular, "vfontb": bold, "vfonti": italic, "vfontbi": boldItalic}[m.name]
}

// letters finds which kinds of letters each text has. A text whose letters were not kept is
// not in it.
func letters(f *records.File) map[uint32]fontStyle {
	styles := map[uint32]fontStyle{}
	if f.GoneIn(records.InOthers, "CharInfo") {
		return styles
	}
	for r := range f.DataIn(records.InOthers, "CharInfo") {
		var used fontStyle
		left := r.Count() - 1 // the last one ends the text
		for letter := range r.All() {
			if left--; left < 0 {
				break
			}
			used |= regular << (letter.Int("flag") & (letterBold | letterItalic))
		}
		styles[r.Owner()] |= used
	}
	return styles
}

// unused reports whether an edge leads to a font that no letter has. A kind of letters
// without a font has that of regular ones.
func (w *Set) unused(e edge) bool {
	used, known := w.letters[e.from]
	if e.font == 0 || !known {
		return false
	}
	if e.font == regular {
		for _, other := range w.g.of(e.from) {
			used &^= other.font &^ regular
		}
		return used == 0
	}
	return used&e.font == 0
}
