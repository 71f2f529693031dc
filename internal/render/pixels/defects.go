package pixels

import "bytes"

// Defects are what can show that a picture is broken. It is the zero value for pictures that this
// package does not decode, so zero proves nothing. Only code that knows the scene can say what a
// value means: a black frame can be right.
type Defects struct {
	// Blank is the share of rows, 0 to 1, in one run from the top or from the
	// bottom edge, that are all of one colour; 1 for a picture of one colour.
	Blank float64 `json:"blank"`
	// Pink is the share of pixels, 0 to 1, in the colour that Cycles paints where a
	// texture is missing: red and blue alike and no green. Lit, glossy or
	// tone-mapped it is another colour, so a small share proves nothing.
	Pink float64 `json:"pink"`
	// Black reports that every pixel is opaque and black, or so dark that a screen
	// shows black. A picture with a transparent pixel is not: what it shows may be in
	// its alpha alone.
	Black bool `json:"black"`
	// NotFinite reports that a colour is infinite or not a number. Only OpenEXR can
	// hold such values.
	NotFinite bool `json:"not_finite"`
}

// detector looks for defects row by row, from the top, so that no picture has to be
// in memory.
type detector struct {
	rows        int
	top, bottom int // rows of one colour, in a run from the edge
	topRun      bool
	colour      []byte // of the run that may reach the bottom
	edge        []byte // of the run from the top
	pixels      int
	pink        int
	visible     bool // a pixel is lighter than black, or not opaque
	notFinite   bool
}

// row adds a row whose pixels have so many bytes each. A row is of one colour when
// it equals itself shifted by a pixel.
func (l *detector) row(row []byte, pixel int) {
	flat := bytes.Equal(row[pixel:], row[:len(row)-pixel])
	l.flat(flat, row[:pixel])
}

// flat adds whether the next row is of one colour, and which. A run from the bottom
// is known only at the end, so each run may become it.
func (l *detector) flat(flat bool, colour []byte) {
	if l.rows == 0 {
		l.topRun, l.edge = flat, append(l.edge, colour...)
	}
	l.rows++
	l.topRun = l.topRun && flat && bytes.Equal(colour, l.edge)
	if l.topRun {
		l.top++
	}
	switch {
	case !flat:
		l.bottom = 0
	case l.bottom > 0 && bytes.Equal(colour, l.colour):
		l.bottom++
	default:
		l.bottom, l.colour = 1, append(l.colour[:0], colour...)
	}
}

// A pixel is pink when red and blue are bright enough to be seen, at most pinkApart
// apart, and green is at most pinkGreen, of 255.
const (
	pinkLeast = 64
	pinkApart = 4
	pinkGreen = 4
)

// blackMost is the lightest value of a black pixel, of 255: Blender's dither lightens
// black by one.
const blackMost = 2

// colours counts the pink pixels in a row of red, green, blue and alpha, whose
// values have so many bytes each, the highest first, and looks for one that is not
// black. With 16 bits it uses the high byte.
func (l *detector) colours(row []byte, value int) {
	l.pixels += len(row) / (4 * value)
	for i := 0; i < len(row); i += 4 * value {
		r, g, b := int(row[i]), int(row[i+value]), int(row[i+2*value])
		if r >= pinkLeast && g <= pinkGreen && b-r <= pinkApart && r-b <= pinkApart {
			l.pink++
		}
		l.visible = l.visible || max(r, g, b) > blackMost || row[i+3*value] != 0xff
	}
}

// defects returns what was found, after the last row.
func (l *detector) defects() Defects {
	if l.rows == 0 {
		return Defects{}
	}
	return Defects{
		Blank: float64(max(l.top, l.bottom)) / float64(l.rows), Pink: float64(l.pink) / float64(max(l.pixels, 1)),
		Black: l.pixels > 0 && !l.visible, NotFinite: l.notFinite,
	}
}
