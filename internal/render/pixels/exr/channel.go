package exr

import (
	"encoding/binary"
	"math"
	"strings"
)

// Channel is a channel of a picture. In a row, all values of the first channel come before those
// of the second, and so on.
type Channel struct {
	Name   string // such as "R", or "ViewLayer.Depth.Z"
	Float  bool   // half or float; otherwise unsigned
	bytes  int    // of a value: 2 for half, 4 for float and unsigned
	offset int    // of its first value in a row, in bytes
	length int    // of its values in a row, in bytes
	linear bool   // B44 may pack its logarithm
}

// Layer is what precedes a channel's own name: "" or a text that ends with a point.
func (c Channel) Layer() string { return c.Name[:strings.LastIndexByte(c.Name, '.')+1] }

// Of returns the channel's values of a row.
func (c Channel) Of(row []byte) Values { return Values{row[c.offset:][:c.length], c.bytes, c.Float} }

// Values are the values of one channel in a row, as they lie in the file.
type Values struct {
	Raw   []byte // little-endian
	Size  int    // bytes of a value: 2 for half, 4 for float and unsigned
	float bool
}

// At returns the value at a place, from the left.
func (v Values) At(x int) float32 {
	if v.Size == 2 {
		return halfValue(binary.LittleEndian.Uint16(v.Raw[2*x:]))
	}
	if !v.float {
		return float32(binary.LittleEndian.Uint32(v.Raw[4*x:]))
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(v.Raw[4*x:]))
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
