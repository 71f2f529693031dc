package cutoff

import "encoding/binary"

// tiff is what differs between the two forms of a TIFF: where the first directory's place is, and
// the bytes of places, of a directory's count and of an entry.
type tiff struct {
	order                        binary.ByteOrder
	first, place, counted, entry int
}

func classicTIFF(order binary.ByteOrder) tiff { return tiff{order, 4, 4, 2, 12} }

func bigTIFF(order binary.ByteOrder) tiff { return tiff{order, 8, 8, 8, 20} }

// number reads one of as many bytes as p has.
func (t tiff) number(p []byte) uint64 {
	switch len(p) {
	case 2:
		return uint64(t.order.Uint16(p))
	case 4:
		return uint64(t.order.Uint32(p))
	}
	return t.order.Uint64(p)
}

// The tags of places of pixels and of their lengths, for strips and for tiles.
const (
	stripPlaces, stripLengths = 273, 279
	tilePlaces, tileLengths   = 324, 325
)

// cutTIFF finds the first directory: a count, entries, and where the next directory is. An entry
// has its tag, the type and number of its values, and the values themselves or their place. Some
// programs write the pixels after it, so their places are read too.
func cutTIFF(f file, t tiff) bool {
	from := t.number(f.at8(t.first)[:t.place])
	if from > uint64(f.size) || f.lacks(int64(from)+int64(t.counted)) {
		return true
	}
	count := f.read(int64(from), int64(t.counted))
	if count == nil || t.number(count) > mostTable/uint64(t.entry) {
		return false
	}
	begin, length := int64(from)+int64(t.counted), int64(t.number(count))*int64(t.entry)
	if f.lacks(begin + length + int64(t.place)) {
		return true
	}
	places := map[uint16][]byte{}
	sizes := map[uint16]int{}
	for entries := f.read(begin, length); len(entries) >= t.entry; entries = entries[t.entry:] {
		tag, kind := t.order.Uint16(entries), t.order.Uint16(entries[2:])
		size := map[uint16]int{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 16: 8}[kind]
		n, value := t.number(entries[4:][:t.place]), entries[4+t.place:t.entry]
		if n > uint64(f.size) {
			n = 0
		}
		if bytes := int64(n) * int64(size); bytes > int64(t.place) {
			at := t.number(value)
			if at > uint64(f.size) || f.lacks(int64(at)+bytes) {
				return true
			}
			if value = nil; bytes <= mostTable && (tag == stripPlaces || tag == stripLengths || tag == tilePlaces || tag == tileLengths) {
				value = f.read(int64(at), bytes)
			}
		} else {
			value = value[:bytes]
		}
		places[tag], sizes[tag] = value, size
	}
	return f.lacksPixels(t, places[stripPlaces], places[stripLengths], sizes[stripPlaces], sizes[stripLengths]) ||
		f.lacksPixels(t, places[tilePlaces], places[tileLengths], sizes[tilePlaces], sizes[tileLengths])
}

// lacksPixels reports that a strip or tile lies beyond the end of a TIFF.
func (f file) lacksPixels(t tiff, places, lengths []byte, place, length int) bool {
	if place < 2 || length < 2 {
		return false
	}
	for ; len(places) >= place && len(lengths) >= length; places, lengths = places[place:], lengths[length:] {
		at, n := t.number(places[:place]), t.number(lengths[:length])
		if n > 0 && (at > uint64(f.size) || n > uint64(f.size)-at) {
			return true
		}
	}
	return false
}

// at8 returns 8 bytes of the head; zeros after its end.
func (f file) at8(from int) []byte {
	p := make([]byte, 8)
	copy(p, f.head[min(from, len(f.head)):])
	return p
}

// cutIris counts the pixels, or follows the tables of places and lengths of packed rows.
func cutIris(f file) bool {
	const header, channels = 512, 3
	order := binary.BigEndian
	width, height, depth := int64(f.number(order, 6, 2)), int64(f.number(order, 8, 2)), int64(f.number(order, 10, 2))
	switch f.number(order, 4, 2) {
	case 1:
		height, depth = 1, 1
	case channels - 1:
		depth = 1
	case channels:
	default:
		return false
	}
	if depth > 4 {
		return false
	}
	if f.at(2) == 0 {
		return f.lacks(header + width*height*depth*int64(f.at(3)))
	}
	rows := 4 * height * depth
	if f.lacks(header + 2*rows) {
		return true
	}
	table := f.read(header, min(2*rows, mostTable))
	for i := int64(0); i < rows && int64(len(table)) == 2*rows; i += 4 {
		if f.lacks(int64(order.Uint32(table[i:])) + int64(order.Uint32(table[rows+i:]))) {
			return true
		}
	}
	return false
}

// cutPSD passes over colours, resources and layers to the picture of all layers, which is what
// Blender shows.
func cutPSD(f file) bool {
	order := binary.BigEndian
	channels, height, width, depth := int64(f.number(order, 12, 2)), int64(f.big32(14)), int64(f.big32(18)), int64(f.number(order, 22, 2))
	place := int64(2) // bytes of a row's length
	if f.number(order, 4, 2) == 2 {
		place = 4
	}
	from := int64(26)
	for section := range 3 {
		bytes := int64(4)
		if section == 2 && place == 4 {
			bytes = 8
		}
		length := f.read(from, bytes)
		if length == nil || f.lacks(from+bytes) {
			return length != nil
		}
		n := uint64(order.Uint32(length))
		if bytes == 8 {
			n = order.Uint64(length)
		}
		if n > uint64(f.size) {
			return true
		}
		from += bytes + int64(n)
	}
	packing := f.read(from, 2)
	switch {
	case packing == nil || f.lacks(from+2):
		return packing != nil
	case channels > 56 || width > 300_000 || height > 300_000:
		return false
	case order.Uint16(packing) == 0:
		return f.lacks(from + 2 + channels*height*((width*depth+7)/8))
	case order.Uint16(packing) != 1:
		return false
	}
	from += 2
	if f.lacks(from + channels*height*place) {
		return true
	}
	table := f.read(from, min(mostTable, channels*height*place))
	from += channels * height * place
	for ; int64(len(table)) >= place; table = table[place:] {
		if place == 2 {
			from += int64(order.Uint16(table))
		} else {
			from += int64(order.Uint32(table))
		}
	}
	return f.lacks(from)
}

// cutDDS counts the bytes of the largest picture, which the smaller copies follow.
func cutDDS(f file) bool {
	const header, more, fourCC, plain = 128, 20, 0x4, 0x20040
	height, width, flags := int64(f.little32(12)), int64(f.little32(16)), f.little32(80)
	if f.lacks(header) || width > 1<<20 || height > 1<<20 {
		return f.lacks(header)
	}
	from, block := int64(header), int64(0) // bytes of 4 x 4 pixels
	switch packing := string(f.at8(84)[:4]); {
	case flags&fourCC == 0 && flags&plain != 0:
		return f.lacks(from + height*((width*int64(min(f.little32(88), 128))+7)/8))
	case flags&fourCC == 0:
		return false
	case packing == "DX10":
		from += more
		switch kind := f.little32(header); {
		case kind >= 70 && kind <= 72, kind >= 79 && kind <= 81:
			block = 8
		case kind >= 73 && kind <= 78, kind >= 82 && kind <= 84, kind >= 94 && kind <= 99:
			block = 16
		}
	default:
		block = map[string]int64{"DXT1": 8, "BC4U": 8, "BC4S": 8, "ATI1": 8, "DXT2": 16, "DXT3": 16, "DXT4": 16, "DXT5": 16, "ATI2": 16, "BC5U": 16, "BC5S": 16}[packing]
	}
	return f.lacks(from + (width+3)/4*((height+3)/4)*block)
}

// cutFont reads the table of an OpenType or TrueType font: each entry has a place and a length.
func cutFont(f file) bool { return f.cutFontAt(0) }

func (f file) cutFontAt(at int64) bool {
	const header, entry, mostEntries = 12, 16, 1 << 10
	head := f.read(at, header)
	if len(head) < header {
		return head != nil
	}
	entries := int64(min(mostEntries, binary.BigEndian.Uint16(head[4:])))
	table := f.read(at+header, entry*entries)
	if f.lacks(at + header + entry*entries) {
		return true
	}
	for ; len(table) >= entry; table = table[entry:] {
		if f.lacks(int64(binary.BigEndian.Uint32(table[8:])) + int64(binary.BigEndian.Uint32(table[12:]))) {
			return true
		}
	}
	return false
}

// cutCollection reads where each font of several in one file begins.
func cutCollection(f file) bool {
	for i := range min(64, int(f.big32(8))) {
		if f.cutFontAt(int64(f.big32(12 + 4*i))) {
			return true
		}
	}
	return false
}

// cutPFB follows the segments of a PostScript font, each with its length.
func cutPFB(f file) bool {
	for from, n := int64(0), 0; n < mostBoxes; n++ {
		segment := f.read(from, 6)
		switch {
		case len(segment) < 2:
			return segment != nil
		case segment[0] != 0x80 || segment[1] > 2: // the end, or something unknown
			return false
		case len(segment) < 6:
			return true
		}
		if from += 6 + int64(binary.LittleEndian.Uint32(segment[2:])); f.lacks(from) {
			return true
		}
	}
	return false
}

// cutVDB follows the grids of a volume, each of which tells where it ends. The header has the
// format's version and that of the library, whether there are such places, an identifier and
// values of any kind by name.
func cutVDB(f file) bool {
	const header, places, mostGrids = 8 + 4 + 4 + 4 + 1 + 36, 20, 1 << 10
	version := f.little32(8)
	if f.at(places) == 0 && !f.lacks(header) || version < 222 || version > 300 {
		return false
	}
	r := reader{file: f, at: header}
	for range r.count() {
		r.skip(int64(r.count())) // name
		r.skip(int64(r.count())) // type
		r.skip(int64(r.count())) // value
		if r.ended() {
			return r.cut
		}
	}
	for range min(mostGrids, r.count()) {
		for range 3 { // the names of the grid, of its type and of the grid that it shares its tree with
			r.skip(int64(r.count()))
		}
		r.skip(2 * 8) // where its data and their blocks are
		end := r.number(8)
		if r.ended() {
			return r.cut
		}
		if end > uint64(f.size) {
			return true
		}
		if int64(end) <= r.at {
			return false
		}
		r.at = int64(end)
	}
	return r.cut
}

// reader reads little-endian numbers one after the other. cut says that one of them lies beyond
// the file's end, failed that the file could not be read.
type reader struct {
	file
	at          int64
	near        []byte // what was read
	nearAt      int64
	cut, failed bool
}

func (r *reader) ended() bool { return r.cut || r.failed }

func (r *reader) skip(n int64) { r.at += n }

func (r *reader) count() uint32 { return uint32(r.number(4)) }

func (r *reader) number(n int64) uint64 {
	if r.ended() || r.lacks(r.at+n) {
		r.cut = !r.failed
		return 0
	}
	if r.at < r.nearAt || r.at+n > r.nearAt+int64(len(r.near)) {
		if r.near, r.nearAt = r.read(r.at, headBytes), r.at; r.near == nil {
			r.failed = true
			return 0
		}
	}
	p := r.near[r.at-r.nearAt:]
	r.at += n
	if n == 4 {
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

// cutPC2 and cutMDD count the points of all frames of a mesh cache.
func cutPC2(f file) bool {
	return f.lacks(32) || f.lacksPoints(32, int64(f.little32(28)), int64(f.little32(16)))
}

func cutMDD(f file) bool {
	frames := int64(f.big32(0))
	return f.lacks(8) || f.lacksPoints(8+4*frames, frames, int64(f.big32(4)))
}

func (f file) lacksPoints(header, frames, points int64) bool {
	const most = 1 << 24 // of either; a file that says more is something else
	return frames > 0 && frames < most && points > 0 && points < most && f.lacks(header+frames*points*12)
}
