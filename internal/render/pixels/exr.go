package pixels

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
)

// The facts used here of the OpenEXR file layout, all little-endian: magic number,
// version field, header (attributes of name\0 type\0 size value, ended by an
// empty name), a table of one 8-byte offset for each chunk, the chunks. A chunk of
// a scan-line file is its first row (int32), its size (int32) and that many bytes.

// exrMagic is the magic number, the first four bytes of every OpenEXR file.
var exrMagic = [4]byte{0x76, 0x2f, 0x31, 0x01}

const (
	// exrVersion is the only version. The field also has flags, of which Blender
	// sets only long names; the others mean tiles, deep pixels or several parts.
	exrVersion   = 2
	exrLongNames = 0x400

	// maxEXRHeader bounds the bytes of all attributes. A cryptomatte lists the names of
	// all objects there.
	maxEXRHeader = 64 << 20
	// maxEXRAttribute bounds an attribute that is kept; those of the largest list of
	// channels take half of it.
	maxEXRAttribute = 1 << 20
	// maxEXRChannels bounds the channels. Twenty layers with all passes have half as many.
	maxEXRChannels = 8192
)

// The compressions, as the header numbers them.
const (
	exrNone = iota
	exrRLE
	exrZIPS
	exrZIP
	exrPIZ
	exrPXR24
	exrB44
	exrB44A
	exrDWAA
	exrDWAB
)

// exrRows is how many rows a chunk holds, by compression.
var exrRows = [...]int{1, 1, 1, 16, 32, 16, 32, 32, 32, 256}

// exrMeaning names the attributes that are hashed, in this order. The others are
// remarks, among them the date and time of the render, which differ between equal
// pictures.
var exrMeaning = []string{"channels", "compression", "dataWindow", "displayWindow", "lineOrder"}

// exrFile is an OpenEXR picture whose header has been read.
type exrFile struct {
	in            *bufio.Reader
	attributes    map[string][]byte // those of exrMeaning
	channels      []exrChannel
	width, height int
	firstY        int // of the data window
	compression   byte
	perChunk      int // rows
	upwards       bool
	rowBytes      int // of a decoded row, over all channels
	codec         exrCodec
}

// openEXR reads a header. Errors: those of a damaged one, and of what Blender does not
// write (tiles, deep pixels, several parts, channels of fewer pixels).
func openEXR(in *bufio.Reader) (*exrFile, error) { return openEXRWith(in, nil) }

// openEXRWith is openEXR that also tells of the remarks in the header, unless remark is nil.
func openEXRWith(in *bufio.Reader, remark func(name, kind string, value []byte)) (*exrFile, error) {
	attributes, err := readEXRHeader(in, remark)
	if err != nil {
		return nil, err
	}
	for _, name := range exrMeaning {
		if attributes[name] == nil {
			return nil, fmt.Errorf("the OpenEXR header has no %s", name)
		}
	}
	f := &exrFile{in: in, attributes: attributes}
	if err := f.windows(); err != nil {
		return nil, err
	}
	compression, order := attributes["compression"], attributes["lineOrder"]
	if len(compression) != 1 || int(compression[0]) >= len(exrRows) {
		return nil, fmt.Errorf("the OpenEXR compression %v is unknown", compression)
	}
	if len(order) != 1 || order[0] > 1 {
		return nil, fmt.Errorf("the OpenEXR order of rows %v is unknown", order)
	}
	f.compression, f.perChunk, f.upwards = compression[0], exrRows[compression[0]], order[0] == 1
	if f.channels, err = exrChannels(attributes["channels"]); err != nil {
		return nil, err
	}
	for i, c := range f.channels {
		f.channels[i].offset = f.rowBytes
		f.rowBytes += c.bytes * f.width
	}
	f.codec = exrCodec{exrFile: f}
	return f, nil
}

// windows reads the size. It computes in 64 bits, because the corners of a hostile
// window may be as far apart as 32 bits allow.
func (f *exrFile) windows() error {
	var corners [2][4]int32 // of each window: least x and y, greatest x and y
	for i, name := range []string{"dataWindow", "displayWindow"} {
		if value := f.attributes[name]; len(value) != 16 {
			return fmt.Errorf("the OpenEXR %s has %d bytes", name, len(value))
		}
		_, _ = binary.Decode(f.attributes[name], binary.LittleEndian, &corners[i]) // 16 bytes are enough
		w, h := int64(corners[i][2])-int64(corners[i][0])+1, int64(corners[i][3])-int64(corners[i][1])+1
		if w < 1 || h < 1 || w > MaxPixels || h > MaxPixels || w*h > MaxPixels {
			return fmt.Errorf("the OpenEXR %s is %dx%d: not between 1 and %d pixels", name, w, h, MaxPixels)
		}
		if i == 0 {
			f.width, f.height, f.firstY = int(w), int(h), int(corners[i][1])
		}
	}
	return nil
}

// readEXRHeader returns the values of the attributes that say what the pixels mean.
func readEXRHeader(r *bufio.Reader, remark func(name, kind string, value []byte)) (map[string][]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("read the OpenEXR version: %w", noEOF(err))
	}
	if version := binary.LittleEndian.Uint32(head[4:]); version&^exrLongNames != exrVersion {
		return nil, fmt.Errorf("the OpenEXR file is of another version, or has tiles, deep pixels or several parts (%#x): %w", version, ErrUnsupported)
	}
	attributes := make(map[string][]byte)
	for left := int64(maxEXRHeader); ; {
		name, value, size, err := readEXRAttribute(r, left, remark)
		if err == nil && attributes[name] != nil {
			err = fmt.Errorf("it has %s twice", name)
		}
		if err != nil {
			return nil, fmt.Errorf("read the OpenEXR header: %w", noEOF(err))
		}
		if name == "" {
			return attributes, nil
		}
		left -= size
		if value != nil {
			attributes[name] = value
		}
	}
}

// readEXRAttribute reads one attribute, of at most left bytes, and returns how many it
// had. value is nil for one that is not in exrMeaning; remark takes those, unless it is nil. It
// returns an empty name at the header's end.
func readEXRAttribute(r *bufio.Reader, left int64, remark func(name, kind string, value []byte)) (name string, value []byte, size int64, err error) {
	if name, err = readEXRName(r); err != nil || name == "" {
		return "", nil, 0, err
	}
	kind, err := readEXRName(r)
	if err != nil {
		return "", nil, 0, err
	}
	var length [4]byte
	if _, err = io.ReadFull(r, length[:]); err != nil {
		return "", nil, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(length[:]))
	size = n + int64(len(name)) + 6 // two zero bytes, and the length
	if size > left {
		return "", nil, 0, errors.New("its attributes are too long")
	}
	if !slices.Contains(exrMeaning, name) {
		if remark == nil {
			_, err = io.CopyN(io.Discard, r, n)
			return name, nil, size, err
		}
		var whole bytes.Buffer // it grows with what really arrives
		_, err = io.CopyN(&whole, r, n)
		remark(name, kind, whole.Bytes())
		return name, nil, size, err
	}
	if n > maxEXRAttribute {
		return "", nil, 0, fmt.Errorf("%s is too long", name)
	}
	value = make([]byte, n)
	_, err = io.ReadFull(r, value)
	return name, value, size, err
}

// readEXRName reads a text that ends with a zero byte, of at most 255 bytes.
func readEXRName(r *bufio.Reader) (string, error) {
	var name []byte
	for len(name) < 256 {
		c, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		if c == 0 {
			return string(name), nil
		}
		name = append(name, c)
	}
	return "", errors.New("a name is too long")
}

// exrChunkHead is how many bytes precede a chunk's own: its first row and its size.
const exrChunkHead = 8

// chunkBytes is the size of a decoded chunk.
func (f *exrFile) chunkBytes() int64 {
	return int64(f.rowBytes) * int64(min(f.perChunk, f.height))
}

// viewBytes is what the rows of a picture take that is shown: a chunk and the steps before it. Those
// of DWA have whole blocks, and up to two more steps.
func (f *exrFile) viewBytes() int64 {
	if f.compression < exrDWAA {
		return 3 * f.chunkBytes()
	}
	rows := (min(f.perChunk, f.height) + dwaBlock - 1) / dwaBlock * dwaBlock
	return 5 * int64(f.rowBytes) * int64(rows)
}

// memory is what reading takes: a chunk as rows and in the steps before that, a row of the
// float form, or all of them where they run upwards, and the codec's tables.
func (f *exrFile) memory() int64 {
	n, line := 3*f.chunkBytes(), 16*int64(f.width)
	switch f.compression {
	case exrNone:
		n = f.chunkBytes()
	case exrZIPS, exrZIP:
		n = 2 * f.chunkBytes()
	}
	if f.upwards {
		line *= int64(f.height)
	}
	return n + line + exrTables
}

// chunks reads all chunks and the end of the file. stored takes each as it is, with its
// head; rows takes each row of it, top to bottom, with its place in the picture.
func (f *exrFile) chunks(stored io.Writer, rows func(y int, row []byte)) error {
	if err := f.walk(stored, func(int) (func(int, []byte), bool) { return rows, true }); err != nil {
		return err
	}
	return atEnd(f.in)
}

// walk reads chunk after chunk as they lie in the file. of is asked before each, by its first row:
// what takes its rows, nil to pass over them, and whether any more are wanted. The table of offsets is
// skipped: the chunks of such a file follow each other.
func (f *exrFile) walk(stored io.Writer, of func(first int) (rows func(y int, row []byte), on bool)) error {
	count := (f.height + f.perChunk - 1) / f.perChunk
	if _, err := io.CopyN(io.Discard, f.in, 8*int64(count)); err != nil {
		return fmt.Errorf("read the OpenEXR offsets: %w", noEOF(err))
	}
	for i := range count {
		at := i
		if f.upwards {
			at = count - 1 - i
		}
		rows, on := of(at * f.perChunk)
		if !on {
			return nil
		}
		if err := f.chunk(at*f.perChunk, stored, rows); err != nil {
			return fmt.Errorf("read OpenEXR chunk %d of %d: %w", i+1, count, noEOF(err))
		}
	}
	return nil
}

// chunk reads the chunk that must begin at row y.
func (f *exrFile) chunk(y int, stored io.Writer, rows func(y int, row []byte)) error {
	var head [exrChunkHead]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return err
	}
	first, size := int32(binary.LittleEndian.Uint32(head[:])), int64(binary.LittleEndian.Uint32(head[4:]))
	if int64(first) != int64(f.firstY)+int64(y) {
		return fmt.Errorf("it begins at row %d instead of %d", first, int64(f.firstY)+int64(y))
	}
	n := min(f.perChunk, f.height-y)
	if size > int64(n)*int64(f.rowBytes) {
		return fmt.Errorf("it claims %d bytes, and its rows have %d", size, int64(n)*int64(f.rowBytes))
	}
	if _, err := stored.Write(head[:]); err != nil {
		return err
	}
	if rows == nil { // only what is stored is wanted
		_, err := io.CopyN(stored, f.in, size)
		return err
	}
	raw, err := f.codec.unpack(io.TeeReader(io.LimitReader(f.in, size), stored), size, n)
	if err != nil {
		return err
	}
	for i := 0; raw != nil && i < n; i++ { // nil: only the structure is known
		rows(y+i, raw[i*f.rowBytes:][:f.rowBytes])
	}
	return nil
}

// readEXR hashes a file as it is stored and looks for defects in the rows on the way. Of
// a picture with red, green and blue, or grey, and no other layers, it also makes the
// float form.
func readEXR(in *bufio.Reader, l *Limits) (Picture, error) {
	f, err := openEXR(in)
	if err != nil {
		return Picture{}, err
	}
	if err := l.claims("exr", f.width, f.height); err != nil {
		return Picture{}, err
	}
	// Only the chunk itself says how much of a DWA chunk must be unpacked.
	memory := f.memory()
	if f.compression >= exrDWAA && l.Memory > 0 {
		memory = min(memory, l.Memory)
		f.codec.most = l.Memory
	}
	if !l.fits(memory) {
		return Picture{}, fmt.Errorf("the OpenEXR picture takes %d bytes to decode: too much for a file of its size", memory)
	}
	if err := l.takes(memory); err != nil {
		return Picture{}, err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "svc-exr-v1 %d %d\n", f.width, f.height)
	for _, name := range exrMeaning {
		fmt.Fprintf(sum, "%s %d\n", name, len(f.attributes[name]))
		sum.Write(f.attributes[name])
	}
	p := structured(f.width, f.height)
	rows := func(int, []byte) {} // the structure of its packing is looked at
	var detector *exrDetector
	var floats *floatForm
	if p.Decoded = f.compression < exrDWAA; p.Decoded {
		detector, floats = newEXRDetector(f), newFloatForm(f)
		rows = func(y int, row []byte) {
			detector.values(row)
			floats.row(y, row)
		}
	}
	if err := f.chunks(sum, rows); err != nil {
		return Picture{}, err
	}
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if p.Decoded {
		p.Defects, p.FloatSHA256 = detector.defects(), floats.sum()
	}
	// Blender shows no pixels of layers, so they are known by what is stored.
	p.Comparable = p.FloatSHA256 != "" || slices.ContainsFunc(f.channels, func(c exrChannel) bool { return layerOf(c.name) != "" })
	return p, nil
}

// floatForm makes the form svc-pixels-f32-v1 of an OpenEXR picture as Blender reads it: four
// channels, grey as three equal colours, a missing alpha as opaque. Depth is left out. A
// picture with layers, or without colours, has none.
type floatForm struct {
	f      *exrFile
	colour [4]*exrChannel // red, green, blue and alpha; nil is opaque
	hash   hash.Hash
	line   []byte
	turned []byte // rows of a picture that comes bottom first
}

func newFloatForm(f *exrFile) *floatForm {
	form := &floatForm{f: f}
	byName := map[string]*exrChannel{}
	for i, c := range f.channels {
		byName[c.name] = &f.channels[i]
	}
	layers := slices.ContainsFunc(f.channels, func(c exrChannel) bool { return layerOf(c.name) != "" })
	switch y := byName["Y"]; {
	case layers:
		return nil
	case byName["R"] != nil && byName["G"] != nil && byName["B"] != nil:
		form.colour = [4]*exrChannel{byName["R"], byName["G"], byName["B"], byName["A"]}
	case y != nil && byName["RY"] == nil && byName["BY"] == nil:
		form.colour = [4]*exrChannel{y, y, y, byName["A"]}
	default:
		return nil
	}
	for _, c := range form.colour {
		if c != nil && !c.float {
			return nil
		}
	}
	form.hash, form.line = sha256.New(), make([]byte, 16*f.width)
	fmt.Fprintf(form.hash, "svc-pixels-f32-v1 %d %d 4\n", f.width, f.height)
	return form
}

// row adds a row, which comes before all of those below it, or above it where the file's
// rows run upwards.
func (m *floatForm) row(y int, row []byte) {
	if m == nil {
		return
	}
	line := m.line
	if m.f.upwards {
		if m.turned == nil {
			m.turned = make([]byte, len(m.line)*m.f.height)
		}
		line = m.turned[len(m.line)*y:][:len(m.line)]
	}
	for i, c := range m.colour {
		for x := range m.f.width {
			v := float32(1)
			if c != nil {
				v = c.of(row, m.f.width).at(x)
			}
			binary.BigEndian.PutUint32(line[16*x+4*i:], math.Float32bits(v))
		}
	}
	if !m.f.upwards {
		m.hash.Write(line)
	}
}

// sum ends the hash; "" where there is none.
func (m *floatForm) sum() string {
	if m == nil {
		return ""
	}
	m.hash.Write(m.turned)
	return hex.EncodeToString(m.hash.Sum(nil))
}

// exrChannels reads the channels of a header: name, type, whether the compression may
// think of it as linear, three bytes of nothing, and the sampling in x and y.
func exrChannels(list []byte) (channels []exrChannel, err error) {
	seen := map[string]bool{}
	for len(list) > 0 && list[0] != 0 {
		end := bytes.IndexByte(list, 0)
		if end < 0 || len(list) < end+17 {
			return nil, errors.New("the OpenEXR list of channels is cut")
		}
		name, rest := string(list[:end]), list[end+1:]
		kind := binary.LittleEndian.Uint32(rest)
		if kind > 2 || rest[4] > 1 {
			return nil, fmt.Errorf("the OpenEXR channel %q is of an unknown type", name)
		}
		if binary.LittleEndian.Uint32(rest[8:]) != 1 || binary.LittleEndian.Uint32(rest[12:]) != 1 {
			return nil, fmt.Errorf("the OpenEXR channel %q has fewer pixels than the picture", name)
		}
		if seen[name] || len(channels) == maxEXRChannels {
			return nil, fmt.Errorf("the OpenEXR file has a channel %q twice, or more than %d channels", name, maxEXRChannels)
		}
		seen[name] = true
		c := exrChannel{name: name, bytes: 4, float: kind != 0, linear: rest[4] == 1, colour: isColour(name)}
		if kind == 1 {
			c.bytes = 2
		}
		channels, list = append(channels, c), rest[16:]
	}
	if len(channels) == 0 || len(list) != 1 {
		return nil, errors.New("the OpenEXR list of channels has no end, or is empty")
	}
	return channels, nil
}
