package exr

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// The facts used here of the OpenEXR file layout, all little-endian: magic number,
// version field, header (attributes of name\0 type\0 size value, ended by an
// empty name), a table of one 8-byte offset for each chunk, the chunks. A chunk of
// a scan-line file is its first row (int32), its size (int32) and that many bytes.

// Magic begins every OpenEXR file.
const Magic = "\x76\x2f\x31\x01"

// MaxPixels bounds a picture, so that no size that follows from its header overflows.
const MaxPixels = 1 << 28

// ErrUnsupported reports a file that is no OpenEXR picture, or one of a kind that this package
// does not read.
var ErrUnsupported = errors.New("it is of no kind of OpenEXR that Blender writes")

const (
	// fileVersion is the only version. The field also has flags, of which Blender
	// sets only long names; the others mean tiles, deep pixels or several parts.
	fileVersion = 2
	longNames   = 0x400

	// maxHeader bounds the bytes of all attributes. A cryptomatte lists the names of
	// all objects there.
	maxHeader = 64 << 20
	// maxAttribute bounds an attribute that is kept; those of the largest list of
	// channels take half of it.
	maxAttribute = 1 << 20
	// maxChannels bounds the channels. Twenty layers with all passes have half as many.
	maxChannels = 8192
)

// The compressions, as the header numbers them.
const (
	none = iota
	rle
	zips
	zip
	piz
	pxr24
	b44
	b44A
	dwaA
	dwaB
)

// rowsPerChunk is how many rows a chunk holds, by compression.
var rowsPerChunk = [...]int{1, 1, 1, 16, 32, 16, 32, 32, 32, 256}

// meaning names the attributes that give the pixels their meaning, in a fixed order. The
// others are remarks, among them the date and time of the render, which differ between equal
// pictures.
var meaning = []string{"channels", "compression", "dataWindow", "displayWindow", "lineOrder"}

// File is an OpenEXR picture whose header has been read.
type File struct {
	Width, Height int // pixels
	Channels      []Channel
	Upwards       bool // the rows come from the bottom up

	in          *bufio.Reader
	attributes  map[string][]byte // those of meaning
	firstY      int               // of the data window
	compression byte
	perChunk    int // rows
	rowBytes    int // of a decoded row, over all channels
	codec       codec
}

// Open reads a header. Errors: ErrUnsupported for what Blender does not write (tiles, deep
// pixels, several parts) and for any other file, and those of a damaged header.
func Open(in *bufio.Reader) (*File, error) { return open(in, nil) }

// open is Open that also tells of the remarks in the header, unless remark is nil.
func open(in *bufio.Reader, remark func(name, kind string, value []byte)) (*File, error) {
	attributes, err := readHeader(in, remark)
	if err != nil {
		return nil, err
	}
	for _, name := range meaning {
		if attributes[name] == nil {
			return nil, fmt.Errorf("the OpenEXR header has no %s", name)
		}
	}
	f := &File{in: in, attributes: attributes}
	if err := f.windows(); err != nil {
		return nil, err
	}
	compression, order := attributes["compression"], attributes["lineOrder"]
	if len(compression) != 1 || int(compression[0]) >= len(rowsPerChunk) {
		return nil, fmt.Errorf("the OpenEXR compression %v is unknown", compression)
	}
	if len(order) != 1 || order[0] > 1 {
		return nil, fmt.Errorf("the OpenEXR order of rows %v is unknown", order)
	}
	f.compression, f.perChunk, f.Upwards = compression[0], rowsPerChunk[compression[0]], order[0] == 1
	if f.Channels, err = readChannels(attributes["channels"]); err != nil {
		return nil, err
	}
	for i, c := range f.Channels {
		f.Channels[i].offset, f.Channels[i].length = f.rowBytes, c.bytes*f.Width
		f.rowBytes += f.Channels[i].length
	}
	f.codec = codec{File: f}
	return f, nil
}

// Meaning yields the attributes that give the pixels their meaning, in a fixed order, with their
// values as they are stored.
func (f *File) Meaning() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, name := range meaning {
			if !yield(name, f.attributes[name]) {
				return
			}
		}
	}
}

// DWA reports that the pixels are packed with DWA, which loses some of them: what unpacks them is
// float arithmetic, which differs between processors. Rows of a packed chunk are given only after
// ShowDWA.
func (f *File) DWA() bool { return f.compression >= dwaA }

// ShowDWA makes Chunks and Row give rows of DWA too, for people to look at.
func (f *File) ShowDWA() { f.codec.shows = true }

// BoundDWA bounds the bytes that a chunk of DWA may unpack to: only the chunk itself says how
// many that are. Without a bound it is any number.
func (f *File) BoundDWA(most int64) { f.codec.most = most }

// windows reads the size. It computes in 64 bits, because the corners of a hostile
// window may be as far apart as 32 bits allow.
func (f *File) windows() error {
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
			f.Width, f.Height, f.firstY = int(w), int(h), int(corners[i][1])
		}
	}
	return nil
}

// readHeader returns the values of the attributes that say what the pixels mean.
func readHeader(r *bufio.Reader, remark func(name, kind string, value []byte)) (map[string][]byte, error) {
	var head [8]byte
	n, err := io.ReadFull(r, head[:])
	switch {
	case n >= len(Magic) && string(head[:len(Magic)]) != Magic:
		return nil, fmt.Errorf("it is no OpenEXR picture: %w", ErrUnsupported)
	case err != nil:
		return nil, fmt.Errorf("read the OpenEXR version: %w", noEOF(err))
	}
	if version := binary.LittleEndian.Uint32(head[4:]); version&^longNames != fileVersion {
		return nil, fmt.Errorf("the OpenEXR file is of another version, or has tiles, deep pixels or several parts (%#x): %w", version, ErrUnsupported)
	}
	attributes := make(map[string][]byte)
	for left := int64(maxHeader); ; {
		name, value, size, err := readAttribute(r, left, remark)
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

// readAttribute reads one attribute, of at most left bytes, and returns how many it
// had. value is nil for one that is not in meaning; remark takes those, unless it is nil. It
// returns an empty name at the header's end.
func readAttribute(r *bufio.Reader, left int64, remark func(name, kind string, value []byte)) (name string, value []byte, size int64, err error) {
	if name, err = readName(r); err != nil || name == "" {
		return "", nil, 0, err
	}
	kind, err := readName(r)
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
	if !slices.Contains(meaning, name) {
		if remark == nil {
			_, err = io.CopyN(io.Discard, r, n)
			return name, nil, size, err
		}
		var whole bytes.Buffer // it grows with what really arrives
		_, err = io.CopyN(&whole, r, n)
		remark(name, kind, whole.Bytes())
		return name, nil, size, err
	}
	if n > maxAttribute {
		return "", nil, 0, fmt.Errorf("%s is too long", name)
	}
	value = make([]byte, n)
	_, err = io.ReadFull(r, value)
	return name, value, size, err
}

// readName reads a text that ends with a zero byte, of at most 255 bytes.
func readName(r *bufio.Reader) (string, error) {
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

// readChannels reads the channels of a header: name, type, whether the compression may
// think of it as linear, three bytes of nothing, and the sampling in x and y.
func readChannels(list []byte) (channels []Channel, err error) {
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
		if seen[name] || len(channels) == maxChannels {
			return nil, fmt.Errorf("the OpenEXR file has a channel %q twice, or more than %d channels", name, maxChannels)
		}
		seen[name] = true
		c := Channel{Name: name, bytes: 4, Float: kind != 0, linear: rest[4] == 1}
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

// noEOF turns an unexpected end of a file into the error for a cut file.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
