package exr

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Flags of the version field, next to longNames.
const (
	tiledFlag = 0x200
	partsFlag = 0x1000
)

// maxParts and maxPlaces bound the parts of a file and the chunks of them all.
const (
	maxParts  = 1 << 10
	maxPlaces = 1 << 17
)

// part is what a header says of where its pixels are.
type part struct {
	kind   string // "" in a file of one part
	count  int64  // of all chunks; 0 where the header does not say
	shown  int64  // of the chunks of the whole picture; others are smaller copies of it
	window [4]int32
	tile   [2]uint32
	packed byte // the compression
}

// End reads the headers and tables of offsets of a file of any number of parts, with rows or
// tiles, and returns the place of the chunk that lies last and how many bytes come before its
// size. Smaller copies of the picture, which Blender does not show, do not count. A cut header or
// table is an io.ErrUnexpectedEOF, and deep pixels are ErrUnsupported.
func End(in *bufio.Reader) (last, before int64, err error) {
	var head [8]byte
	if n, err := io.ReadFull(in, head[:]); err != nil || string(head[:len(Magic)]) != Magic {
		if n < len(head) {
			return 0, 0, noEOF(err)
		}
		return 0, 0, ErrUnsupported
	}
	flags := binary.LittleEndian.Uint32(head[4:])
	if flags&^(longNames|tiledFlag|partsFlag) != fileVersion { // such as deep pixels
		return 0, 0, fmt.Errorf("the version field is %#x: %w", flags, ErrUnsupported)
	}
	parts, err := readParts(in, flags&partsFlag != 0)
	if err != nil {
		return 0, 0, err
	}
	for _, p := range parts {
		tiled := flags&tiledFlag != 0 || p.kind == "tiledimage"
		if err := p.measure(tiled, flags&partsFlag != 0); err != nil {
			return 0, 0, err
		}
		for i := range p.count {
			var offset [8]byte
			if _, err := io.ReadFull(in, offset[:]); err != nil {
				return 0, 0, noEOF(err)
			}
			if at := int64(binary.LittleEndian.Uint64(offset[:])); i < p.shown && at > last {
				last, before = at, 4 // the first row
				if tiled {
					before = 16 // its column, row, and the levels of both
				}
			}
		}
	}
	if last == 0 { // a writer that ended too early; OpenEXR looks for the chunks themselves
		return 0, 0, fmt.Errorf("a table of offsets without one: %w", ErrUnsupported)
	}
	if flags&partsFlag != 0 {
		before += 4 // the number of the part
	}
	return last, before, nil
}

// readParts reads the headers. Those of several parts end with an empty one.
func readParts(in *bufio.Reader, several bool) (parts []part, err error) {
	for left := int64(maxHeader); len(parts) < maxParts; {
		p, size, err := readPart(in, left)
		if err != nil {
			return nil, noEOF(err)
		}
		if size == 0 && several {
			return parts, nil
		}
		parts = append(parts, p)
		if left -= size; !several {
			return parts, nil
		}
	}
	return nil, fmt.Errorf("more than %d parts: %w", maxParts, ErrUnsupported)
}

// readPart reads one header, of at most left bytes, and returns how many it had.
func readPart(in *bufio.Reader, left int64) (p part, size int64, err error) {
	for size < left {
		name, err := readName(in)
		if err != nil || name == "" {
			return p, size, err
		}
		if _, err := readName(in); err != nil {
			return p, size, err
		}
		var length [4]byte
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return p, size, err
		}
		n := int64(binary.LittleEndian.Uint32(length[:]))
		if size += n + int64(len(name)) + 6; size > left {
			break
		}
		value := make([]byte, min(n, 16))
		if _, err := io.ReadFull(in, value); err != nil {
			return p, size, err
		}
		if _, err := io.CopyN(io.Discard, in, n-int64(len(value))); err != nil {
			return p, size, err
		}
		p.take(name, value)
	}
	return p, size, errors.New("the attributes are too long")
}

// take notes the first bytes of an attribute.
func (p *part) take(name string, value []byte) {
	switch name {
	case "type":
		p.kind = string(value)
	case "chunkCount":
		if len(value) == 4 {
			p.count = int64(int32(binary.LittleEndian.Uint32(value)))
		}
	case "dataWindow":
		_, _ = binary.Decode(value, binary.LittleEndian, &p.window)
	case "tiles":
		_, _ = binary.Decode(value, binary.LittleEndian, &p.tile)
	case "compression":
		if len(value) == 1 {
			p.packed = value[0]
		}
	}
}

// measure counts the chunks of the picture, and of the whole part where its header does not.
func (p *part) measure(tiled, several bool) error {
	width, height := int64(p.window[2])-int64(p.window[0])+1, int64(p.window[3])-int64(p.window[1])+1
	switch {
	case width < 1 || height < 1 || width > MaxPixels || height > MaxPixels,
		tiled && (p.tile[0] == 0 || p.tile[1] == 0), int(p.packed) >= len(rowsPerChunk),
		p.kind != "" && p.kind != "scanlineimage" && p.kind != "tiledimage", several && p.count < 1:
		return fmt.Errorf("a header that Blender does not write: %w", ErrUnsupported)
	case tiled:
		p.shown = up(width, int64(p.tile[0])) * up(height, int64(p.tile[1]))
	default:
		p.shown = up(height, int64(rowsPerChunk[p.packed]))
	}
	if !several {
		p.count = p.shown // nothing that follows is looked at
	}
	if p.count > maxPlaces {
		return fmt.Errorf("more than %d chunks: %w", maxPlaces, ErrUnsupported)
	}
	return nil
}

// up divides and rounds up.
func up(n, by int64) int64 { return (n + by - 1) / by }
