package pixels

import "bytes"

// Look is what a picture looks like, as far as that shows a broken one. It is
// empty for OpenEXR compressed otherwise than by none, RLE or ZIP.
type Look struct {
	// Blank is the share of rows, in one run from the top or from the bottom edge,
	// that are all of one colour; 1 for a picture of one colour.
	Blank float64
	// Pink is the share of pixels in the colour that Cycles paints where a texture
	// is missing: red and blue alike and no green. Lit, glossy or toned by a view
	// transform it is another colour, so that a small share says nothing.
	Pink float64
	// NotFinite says that a colour is infinite or no number.
	NotFinite bool
}

// looker looks at a picture row by row, from the top.
type looker struct {
	rows        int
	top, bottom int // rows of one colour, in a run from the edge
	topRun      bool
	colour      []byte // of the run that may reach the bottom
	edge        []byte // of the run from the top
	pixels      int
	pink        int
	notFinite   bool
}

// row takes in a row whose pixels have so many bytes each.
func (l *looker) row(row []byte, pixel int) {
	flat := bytes.Equal(row[pixel:], row[:len(row)-pixel])
	l.flat(flat, row[:pixel])
}

// flat takes in whether the next row is of one colour, and which.
func (l *looker) flat(flat bool, colour []byte) {
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

// A pixel is pink when red and blue are bright enough to be seen, at most
// pinkApart apart, and green is at most pinkGreen, of 255.
const (
	pinkLeast = 64
	pinkApart = 4
	pinkGreen = 4
)

// colours counts the pink among pixels of red, green, blue and alpha, whose
// values have so many bytes each, the highest first.
func (l *looker) colours(row []byte, value int) {
	l.pixels += len(row) / (4 * value)
	for i := 0; i < len(row); i += 4 * value {
		r, g, b := int(row[i]), int(row[i+value]), int(row[i+2*value])
		if r >= pinkLeast && g <= pinkGreen && b-r <= pinkApart && r-b <= pinkApart {
			l.pink++
		}
	}
}

func (l *looker) look() Look {
	if l.rows == 0 {
		return Look{}
	}
	return Look{
		Blank: float64(max(l.top, l.bottom)) / float64(l.rows), Pink: float64(l.pink) / float64(max(l.pixels, 1)), NotFinite: l.notFinite,
	}
}
