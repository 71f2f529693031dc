package pixels

import (
	"bytes"
	"encoding/binary"
	"strings"

	"svc.example/internal/render/pixels/exr"
)

// isColour distinguishes colours ("R", "ViewLayer.Combined.R", "ViewLayer.DiffCol.R")
// from passes, such as depth and vectors, in which infinite values are normal.
func isColour(name string) bool {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "R", "G", "B", "A", "Y", "V":
		return true
	}
	return false
}

// exrDetector looks for defects in the rows of a picture.
type exrDetector struct {
	detector
	width int
	// colours are all channels of colours. shown are those of the picture itself: those
	// of the layers called Combined or without a name, or else of the first layer with
	// colours.
	colours, shown []exr.Channel
	// rgb are red, green and blue of the first layer that is shown and has them, or grey
	// three times; nil for none.
	rgb []exr.Channel
}

func newEXRDetector(f *exr.File) *exrDetector {
	d := &exrDetector{width: f.Width}
	byName, main := map[string]exr.Channel{}, ""
	for _, c := range f.Channels {
		if !isColour(c.Name) || !c.Float {
			continue
		}
		d.colours = append(d.colours, c)
		byName[c.Name] = c
		if layer := c.Layer(); layer == "" || strings.HasSuffix(layer, "Combined.") {
			d.shown = append(d.shown, c)
		}
	}
	if len(d.shown) == 0 && len(d.colours) > 0 {
		main = d.colours[0].Layer()
		for _, c := range d.colours {
			if c.Layer() == main {
				d.shown = append(d.shown, c)
			}
		}
	}
	for _, c := range d.shown {
		layer := c.Layer()
		for _, names := range [][3]string{{"R", "G", "B"}, {"Y", "Y", "Y"}, {"V", "V", "V"}} {
			r, ok := byName[layer+names[0]]
			g, ok2 := byName[layer+names[1]]
			b, ok3 := byName[layer+names[2]]
			if ok && ok2 && ok3 && d.rgb == nil {
				d.rgb = []exr.Channel{r, g, b}
			}
		}
	}
	return d
}

// values looks at one row.
func (l *exrDetector) values(row []byte) {
	for i := range l.colours {
		l.notFinite = l.notFinite || hasNotFinite(l.colours[i].Of(row))
	}
	if len(l.shown) == 0 {
		return
	}
	flat, colour := true, make([]byte, 0, 16)
	for i := range l.shown {
		c := &l.shown[i]
		values := c.Of(row)
		flat = flat && bytes.Equal(values.Raw[values.Size:], values.Raw[:len(values.Raw)-values.Size])
		colour = append(colour, values.Raw[:values.Size]...)
		l.visible = l.visible || visible(values, strings.HasSuffix(c.Name, "A"))
	}
	l.flat(flat, colour)
	l.pixels += l.width
	if l.rgb != nil {
		l.pink += pinkOf(l.rgb[0].Of(row), l.rgb[1].Of(row), l.rgb[2].Of(row), l.width)
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

// visible reports whether a value is lighter than black, or, of an alpha, not opaque.
func visible(v exr.Values, alpha bool) bool {
	for x := range len(v.Raw) / v.Size {
		if value := v.At(x); (alpha && value < exrOpaque) || (!alpha && value > exrBlackMost) {
			return true
		}
	}
	return false
}

// hasNotFinite finds a value whose exponent is all ones: infinity or no number.
func hasNotFinite(v exr.Values) bool {
	if v.Size == 2 {
		for i := 1; i < len(v.Raw); i += 2 {
			if v.Raw[i]&0x7c == 0x7c {
				return true
			}
		}
		return false
	}
	for i := 0; i < len(v.Raw); i += 4 {
		if binary.LittleEndian.Uint32(v.Raw[i:])&0x7f800000 == 0x7f800000 {
			return true
		}
	}
	return false
}

// pinkOf counts the pink pixels of a row.
func pinkOf(red, green, blue exr.Values, width int) (n int) {
	for x := range width {
		r := red.At(x)
		if r < exrPinkLeast || green.At(x) > exrPinkGreen {
			continue
		}
		if b := blue.At(x); max(r, b)-min(r, b) <= exrPinkApart*max(r, b) {
			n++
		}
	}
	return n
}
