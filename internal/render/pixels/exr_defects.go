package pixels

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
)

// exrChannel is a channel of an OpenEXR file. In a row, all values of the first channel
// come before those of the second, and so on.
type exrChannel struct {
	name   string
	offset int  // of its first value in a row, in bytes
	bytes  int  // of a value: 2 for half, 4 for float and unsigned
	float  bool // half or float
	linear bool // B44 may pack its logarithm
	colour bool // red, green, blue, alpha or grey, of any layer
}

// of returns the channel's values of a row.
func (c *exrChannel) of(row []byte, width int) exrValues {
	return exrValues{row[c.offset:][:c.bytes*width], c.bytes, c.float}
}

// isColour distinguishes colours ("R", "ViewLayer.Combined.R", "ViewLayer.DiffCol.R")
// from passes, such as depth and vectors, in which infinite values are normal.
func isColour(name string) bool {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "R", "G", "B", "A", "Y", "V":
		return true
	}
	return false
}

// layerOf is what precedes the name of a channel: "" or a text that ends with a point.
func layerOf(name string) string { return name[:strings.LastIndexByte(name, '.')+1] }

// exrDetector looks for defects in the rows of a picture.
type exrDetector struct {
	detector
	width int
	// colours are all channels of colours. shown are those of the picture itself: those
	// of the layers called Combined or without a name, or else of the first layer with
	// colours.
	colours, shown []exrChannel
	// rgb are red, green and blue of the first layer that is shown and has them, or grey
	// three times; nil for none.
	rgb []exrChannel
}

func newEXRDetector(f *exrFile) *exrDetector {
	d := &exrDetector{width: f.width}
	byName, main := map[string]exrChannel{}, ""
	for _, c := range f.channels {
		if !c.colour || !c.float {
			continue
		}
		d.colours = append(d.colours, c)
		byName[c.name] = c
		if layer := layerOf(c.name); layer == "" || strings.HasSuffix(layer, "Combined.") {
			d.shown = append(d.shown, c)
		}
	}
	if len(d.shown) == 0 && len(d.colours) > 0 {
		main = layerOf(d.colours[0].name)
		for _, c := range d.colours {
			if layerOf(c.name) == main {
				d.shown = append(d.shown, c)
			}
		}
	}
	for _, c := range d.shown {
		layer := layerOf(c.name)
		for _, names := range [][3]string{{"R", "G", "B"}, {"Y", "Y", "Y"}, {"V", "V", "V"}} {
			r, ok := byName[layer+names[0]]
			g, ok2 := byName[layer+names[1]]
			b, ok3 := byName[layer+names[2]]
			if ok && ok2 && ok3 && d.rgb == nil {
				d.rgb = []exrChannel{r, g, b}
			}
		}
	}
	return d
}

// values looks at one row.
func (l *exrDetector) values(row []byte) {
	for i := range l.colours {
		l.notFinite = l.notFinite || l.colours[i].of(row, l.width).hasNotFinite()
	}
	if len(l.shown) == 0 {
		return
	}
	flat, colour := true, make([]byte, 0, 16)
	for i := range l.shown {
		c := &l.shown[i]
		values := c.of(row, l.width)
		flat = flat && bytes.Equal(values.raw[c.bytes:], values.raw[:len(values.raw)-c.bytes])
		colour = append(colour, values.raw[:c.bytes]...)
		l.visible = l.visible || values.visible(strings.HasSuffix(c.name, "A"))
	}
	l.flat(flat, colour)
	l.pixels += l.width
	if l.rgb != nil {
		l.pink += pinkOf(l.rgb[0].of(row, l.width), l.rgb[1].of(row, l.width), l.rgb[2].of(row, l.width), l.width)
	}
}

// The bounds of colours for linear light: what sRGB codes as pinkLeast, pinkGreen and
// blackMost. Light has no brightest value, so red and blue are compared in parts of
// them. An alpha of exrOpaque is a full one, rounded.
const (
	exrPinkLeast = 0.0513
	exrPinkGreen = 0.0012
	exrPinkApart = 0.04
	exrBlackMost = 0.0006
	exrOpaque    = 0.999
)

// exrValues are the values of one channel in a row, as they lie in the file.
type exrValues struct {
	raw   []byte
	bytes int  // of a value: 2 for half, 4 for float and unsigned
	float bool // half or float
}

func (v exrValues) at(x int) float32 {
	if v.bytes == 2 {
		return halfValue(binary.LittleEndian.Uint16(v.raw[2*x:]))
	}
	if !v.float {
		return float32(binary.LittleEndian.Uint32(v.raw[4*x:]))
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(v.raw[4*x:]))
}

// visible reports whether a value is lighter than black, or, of an alpha, not opaque.
func (v exrValues) visible(alpha bool) bool {
	for x := range len(v.raw) / v.bytes {
		if value := v.at(x); (alpha && value < exrOpaque) || (!alpha && value > exrBlackMost) {
			return true
		}
	}
	return false
}

// hasNotFinite finds a value whose exponent is all ones: infinity or no number.
func (v exrValues) hasNotFinite() bool {
	if v.bytes == 2 {
		for i := 1; i < len(v.raw); i += 2 {
			if v.raw[i]&0x7c == 0x7c {
				return true
			}
		}
		return false
	}
	for i := 0; i < len(v.raw); i += 4 {
		if binary.LittleEndian.Uint32(v.raw[i:])&0x7f800000 == 0x7f800000 {
			return true
		}
	}
	return false
}

// pinkOf counts the pink pixels of a row.
func pinkOf(red, green, blue exrValues, width int) (n int) {
	for x := range width {
		r := red.at(x)
		if r < exrPinkLeast || green.at(x) > exrPinkGreen {
			continue
		}
		if b := blue.at(x); max(r, b)-min(r, b) <= exrPinkApart*max(r, b) {
			n++
		}
	}
	return n
}

// halfValue returns the value of a half: a sign, 5 bits of exponent, 10 of fraction. They
// are put at their places in a float, whose exponent is 112 less; the product is exact for
// the smallest ones too.
func halfValue(bits uint16) float32 {
	const notFinite = 0x7c00
	exact := math.Float32frombits(uint32(bits&0x7fff)<<13) * (1 << 112)
	switch {
	case bits&0x7fff > notFinite:
		return float32(math.NaN())
	case bits&0x7fff == notFinite:
		exact = float32(math.Inf(1))
	}
	if bits&0x8000 != 0 {
		return -exact
	}
	return exact
}
