package pixels

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// exrChannel is a channel of an OpenEXR file. In a chunk, each row holds all
// values of the first channel, then all of the second, and so on.
type exrChannel struct {
	name   string
	bytes  int  // of a value: 2 for half, 4 for float and unsigned
	float  bool // half or float
	colour bool // of the picture itself, not of a pass beside it
}

// exrDetector decodes chunks to look for defects in them. A compression or a layout
// that cannot be decoded here makes it blind: the picture is then hashed, but has
// no Defects.
type exrDetector struct {
	detector
	channels    []exrChannel
	width, rows int // rows of the picture that are still to come
	perChunk    int
	compression byte
	blind       bool
	// colours are red, green and blue of the first layer that has them, as indices of
	// channels. A grey picture has none, and cannot be pink.
	colours []int
}

// maxEXRChunkDecoded bounds a decoded chunk, in bytes; above it the picture has no
// Defects.
const maxEXRChunkDecoded = 256 << 20

// newEXRDetector decides from the header whether the chunks can be decoded.
func newEXRDetector(attributes map[string][]byte, p Picture, perChunk int) *exrDetector {
	l := &exrDetector{width: p.Width, rows: p.Height, perChunk: perChunk, compression: attributes["compression"][0]}
	l.channels, l.blind = exrChannels(attributes["channels"])
	l.blind = l.blind || !slices.ContainsFunc(l.channels, func(c exrChannel) bool { return c.colour }) || l.compression > 3 || l.chunkBytes(perChunk) > maxEXRChunkDecoded
	l.colours = colourPlaces(l.channels)
	return l
}

// colourPlaces finds red, green and blue of the first layer that has all three as half
// or float, as indices; nil where there is none.
func colourPlaces(channels []exrChannel) []int {
	for _, c := range channels {
		layer, ok := strings.CutSuffix(c.name, "R")
		if !ok || !c.colour {
			continue
		}
		var places []int
		for _, colour := range []string{"R", "G", "B"} {
			at := slices.IndexFunc(channels, func(c exrChannel) bool { return c.colour && c.float && c.name == layer+colour })
			if at >= 0 {
				places = append(places, at)
			}
		}
		if len(places) == 3 {
			return places
		}
	}
	return nil
}

// exrChannels reads the channels of a header: name, type, three bytes that do not
// matter here, and the sampling in x and y. blind is set for what Blender does not
// write.
func exrChannels(list []byte) (channels []exrChannel, blind bool) {
	for len(list) > 0 && list[0] != 0 {
		end := bytes.IndexByte(list, 0)
		if end < 0 || len(list) < end+17 {
			return nil, true
		}
		name, rest := string(list[:end]), list[end+1:]
		kind := binary.LittleEndian.Uint32(rest)
		if kind > 2 || binary.LittleEndian.Uint32(rest[8:]) != 1 || binary.LittleEndian.Uint32(rest[12:]) != 1 {
			return nil, true
		}
		c := exrChannel{name: name, bytes: 4, float: kind != 0, colour: isColour(name)}
		if kind == 1 {
			c.bytes = 2
		}
		channels, list = append(channels, c), rest[16:]
	}
	return channels, len(channels) == 0
}

// isColour distinguishes the picture's own channels ("R", "ViewLayer.Combined.R")
// from passes, such as depth, in which infinite values are normal.
func isColour(name string) bool {
	layer, channel := "", name
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		layer, channel = name[:dot], name[dot+1:]
	}
	return strings.Contains("R G B A Y V", channel) && (layer == "" || strings.HasSuffix(layer, "Combined"))
}

// rowBytes is the size of a decoded row, over all channels.
func (l *exrDetector) rowBytes() int {
	n := 0
	for _, c := range l.channels {
		n += c.bytes * l.width
	}
	return n
}

func (l *exrDetector) chunkBytes(rows int) int { return rows * l.rowBytes() }

// chunk looks at a chunk as it is stored. A chunk that is not shorter than its
// values was stored without compression, which gained nothing. One that does not
// decode is damaged, and an error.
func (l *exrDetector) chunk(stored []byte) error {
	if l.blind {
		return nil
	}
	rows := min(l.perChunk, l.rows)
	l.rows -= rows
	want := l.chunkBytes(rows)
	values := stored
	if len(stored) < want { // else compressing it gained nothing
		var err error
		if values, err = expandEXR(stored, l.compression, want); err != nil {
			return err
		}
	}
	if len(values) != want {
		return errors.New("it holds another number of values than its header says")
	}
	for at := 0; at < want; at += l.rowBytes() {
		l.values(values[at : at+l.rowBytes()])
	}
	return nil
}

// values looks at one row, channel by channel. Of the passes only the colours
// count.
func (l *exrDetector) values(row []byte) {
	flat, colour := true, make([]byte, 0, 16)
	of := make([]exrValues, len(l.channels))
	for i, c := range l.channels {
		n := c.bytes * l.width
		values := row[:n]
		row = row[n:]
		of[i] = exrValues{values, c.bytes}
		if !c.colour {
			continue
		}
		flat = flat && bytes.Equal(values[c.bytes:], values[:n-c.bytes])
		colour = append(colour, values[:c.bytes]...)
		l.notFinite = l.notFinite || (c.float && hasNotFinite(values, c.bytes))
		l.visible = l.visible || !c.float || of[i].visible(strings.HasSuffix(c.name, "A"))
	}
	l.flat(flat, colour)
	l.pixels += l.width
	if l.colours != nil {
		l.pink += pinkOf(of[l.colours[0]], of[l.colours[1]], of[l.colours[2]], l.width)
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
	bytes int // of a value: 2 for half, 4 for float
}

func (v exrValues) at(x int) float32 {
	if v.bytes == 2 {
		return halfValue(binary.LittleEndian.Uint16(v.raw[2*x:]))
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

// hasNotFinite finds a half or a float whose exponent is all ones: infinity or no
// number.
func hasNotFinite(values []byte, size int) bool {
	if size == 2 {
		for i := 1; i < len(values); i += 2 {
			if values[i]&0x7c == 0x7c {
				return true
			}
		}
		return false
	}
	for i := 0; i < len(values); i += 4 {
		if binary.LittleEndian.Uint32(values[i:])&0x7f800000 == 0x7f800000 {
			return true
		}
	}
	return false
}

// expandEXR undoes RLE (1) or zlib (2, 3), and then what was done to the bytes
// before both: they were sorted, those of even places before those of odd ones, and
// replaced by their differences. want bounds what is unpacked.
func expandEXR(stored []byte, compression byte, want int) (out []byte, err error) {
	var raw []byte
	switch compression {
	case 1:
		raw, err = expandRuns(nil, stored, want)
	case 2, 3:
		var z io.ReadCloser
		if z, err = zlib.NewReader(bytes.NewReader(stored)); err == nil {
			// One byte more than wanted shows a stream that is too long, without
			// unpacking all of it.
			raw, err = io.ReadAll(io.LimitReader(z, int64(want)+1))
		}
	default:
		err = errors.New("it is shorter than its header says")
	}
	if err != nil || len(raw) != want {
		return nil, errors.Join(errors.New("it cannot be decompressed"), err)
	}
	undoDifferences(raw)
	out = make([]byte, want)
	for i := range out {
		out[i] = raw[sortedPlace(i, want)]
	}
	return out, nil
}

// undoDifferences replaces each byte's difference from the one before by the byte.
func undoDifferences(raw []byte) {
	for i := 1; i < len(raw); i++ {
		raw[i] += raw[i-1] - 128
	}
}

// sortedPlace returns where byte i of n lies after they were sorted.
func sortedPlace(i, n int) int {
	if i%2 == 0 {
		return i / 2
	}
	return (n+1)/2 + i/2
}

// expandRuns undoes RLE, and appends to out: a count and what it counts. Below zero it
// is that many bytes as they are, else one byte, once more than the count.
func expandRuns(out, stored []byte, want int) (_ []byte, err error) {
	for len(stored) > 1 {
		n := int(int8(stored[0]))
		stored = stored[1:]
		if n < 0 {
			if -n > len(stored) {
				return nil, io.ErrUnexpectedEOF
			}
			if len(out)-n > want {
				return nil, errors.New("its runs are too long")
			}
			out, stored = append(out, stored[:-n]...), stored[-n:]
			continue
		}
		if len(out)+n+1 > want {
			return nil, errors.New("its runs are too long")
		}
		for range n + 1 {
			out = append(out, stored[0])
		}
		stored = stored[1:]
	}
	return out, nil
}
