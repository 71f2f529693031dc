package pixels

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/image/tiff/lzw"
)

// readTIFF unpacks the strips of the only directory. Every byte of the file must belong to
// the header, the directory, one of its values or a strip; a byte between them may fill up
// an odd place.
func readTIFF(in *bufio.Reader, l *Limits) (Picture, error) {
	file, err := l.whole(in)
	if err != nil {
		return Picture{}, err
	}
	t, err := tiffDirectory(file)
	if err != nil {
		return Picture{}, fmt.Errorf("read the tiff picture's directory: %w", err)
	}
	width, height, err := t.size()
	if err == nil {
		err = l.claims("tiff", width, height)
	}
	if err != nil {
		return Picture{}, err
	}
	if err := t.strips(width, height); err != nil {
		return Picture{}, fmt.Errorf("decode the tiff picture: %w", noEOF(err))
	}
	if !t.used.all(1) {
		return Picture{}, errors.New("the tiff file has bytes that are no part of the picture")
	}
	return structured(width, height), nil
}

// The tags of a directory that are read.
const (
	tiffWidth       = 256
	tiffHeight      = 257
	tiffBits        = 258
	tiffCompression = 259
	tiffOffsets     = 273
	tiffSamples     = 277
	tiffRowsPer     = 278
	tiffCounts      = 279
	tiffPlanar      = 284
)

// tiff is a file with its directory.
type tiff struct {
	file   []byte
	used   *parts
	values map[uint16][]uint32 // of whole numbers
}

// parts notes which bytes of a file belong to something.
type parts struct {
	file []byte
	ends map[int64]int64 // where a part ends that begins there
}

// take returns a part of the file.
func (p *parts) take(offset, size int64) ([]byte, error) {
	if offset < 0 || size < 0 || offset > int64(len(p.file)) || size > int64(len(p.file))-offset {
		return nil, io.ErrUnexpectedEOF
	}
	if size > 0 {
		p.ends[offset] = max(p.ends[offset], offset+size)
	}
	return p.file[offset:][:size], nil
}

// all reports whether the parts fill the file, but for gaps of so many bytes.
func (p *parts) all(gap int64) bool {
	at := int64(0)
	for len(p.ends) > 0 {
		next, found := int64(0), false
		for skip := int64(0); skip <= gap; skip++ {
			if end, ok := p.ends[at+skip]; ok {
				next, found = end, true
				delete(p.ends, at+skip)
				break
			}
		}
		if !found {
			return false
		}
		at = max(at, next)
	}
	return int64(len(p.file))-at <= gap
}

// tiffSizes are the bytes of a value, by type.
var tiffSizes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8}

// tiffDirectory reads the directory. It must be the only one.
func tiffDirectory(file []byte) (*tiff, error) {
	t := &tiff{file: file, used: &parts{file, map[int64]int64{}}, values: map[uint16][]uint32{}}
	head, err := t.used.take(0, 8)
	if err != nil {
		return nil, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(head[4:]))
	count, err := t.used.take(at, 2)
	if err != nil {
		return nil, err
	}
	n := int64(order.Uint16(count))
	list, err := t.used.take(at, 2+12*n+4)
	if err != nil {
		return nil, err
	}
	if order.Uint32(list[2+12*n:]) != 0 {
		return nil, errors.New("it has a second picture")
	}
	for i := range n {
		entry := list[2+12*i:][:12]
		tag, kind, count := order.Uint16(entry), order.Uint16(entry[2:]), int64(order.Uint32(entry[4:]))
		if int(kind) >= len(tiffSizes) || kind == 0 {
			return nil, fmt.Errorf("tag %d is of an unknown type", tag)
		}
		value, size := entry[8:], count*tiffSizes[kind]
		if size > 4 {
			if value, err = t.used.take(int64(order.Uint32(value)), size); err != nil {
				return nil, err
			}
		}
		for j := range count {
			switch kind {
			case 3:
				t.values[tag] = append(t.values[tag], uint32(order.Uint16(value[2*j:])))
			case 4:
				t.values[tag] = append(t.values[tag], order.Uint32(value[4*j:]))
			}
		}
	}
	return t, nil
}

// one is the only value of a tag, or what it is without one.
func (t *tiff) one(tag uint16, without uint32) int64 {
	if len(t.values[tag]) == 0 {
		return int64(without)
	}
	return int64(t.values[tag][0])
}

func (t *tiff) size() (width, height int, err error) {
	w, h := t.one(tiffWidth, 0), t.one(tiffHeight, 0)
	if w > MaxPixels || h > MaxPixels {
		return 0, 0, fmt.Errorf("the tiff picture is %dx%d", w, h)
	}
	return int(w), int(h), nil
}

// strips unpacks each strip and counts its bytes.
func (t *tiff) strips(width, height int) error {
	samples, rows := t.one(tiffSamples, 1), min(t.one(tiffRowsPer, 1<<31), int64(height))
	offsets, counts := t.values[tiffOffsets], t.values[tiffCounts]
	if samples < 1 || samples > 4 || len(t.values[tiffBits]) != int(samples) || rows < 1 || t.one(tiffPlanar, 1) != 1 {
		return errors.New("it is of a kind that Blender does not write")
	}
	bits := int64(0)
	for _, b := range t.values[tiffBits] {
		if b != 8 && b != 16 && b != 32 {
			return fmt.Errorf("it has %d bits", b)
		}
		bits += int64(b)
	}
	if n := (int64(height) + rows - 1) / rows; int64(len(offsets)) != n || int64(len(counts)) != n {
		return errors.New("it has another number of strips than its rows need")
	}
	for i, offset := range offsets {
		strip, err := t.used.take(int64(offset), int64(counts[i]))
		if err != nil {
			return err
		}
		want := min(rows, int64(height)-int64(i)*rows) * int64(width) * bits / 8
		if err := tiffStrip(strip, t.one(tiffCompression, 1), want); err != nil {
			return fmt.Errorf("strip %d of %d: %w", i+1, len(offsets), err)
		}
	}
	return nil
}

// tiffStrip unpacks a strip, which must have want bytes.
func tiffStrip(strip []byte, compression, want int64) error {
	var unpacked io.Reader
	packed := bytes.NewReader(strip)
	switch compression {
	case 1:
		unpacked = packed
	case 5:
		r := lzw.NewReader(packed, lzw.MSB, 8)
		defer func() { _ = r.Close() }()
		unpacked = r
	case 8, 32946:
		r, err := zlib.NewReader(packed)
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		unpacked = r
	case 32773:
		return packBits(strip, want)
	default:
		return fmt.Errorf("its compression %d is not one of Blender's", compression)
	}
	if n, err := io.CopyN(io.Discard, unpacked, want+1); n != want || err != io.EOF || packed.Len() > 0 {
		return fmt.Errorf("it does not unpack to %d bytes: %w", want, errors.Join(io.ErrUnexpectedEOF, err))
	}
	return nil
}

// packBits counts what runs unpack to.
func packBits(strip []byte, want int64) error {
	for len(strip) > 0 && want > 0 {
		n := int(int8(strip[0]))
		switch skip := 2; {
		case n == -128:
			strip = strip[1:]
		default:
			run := 1 - n
			if n >= 0 {
				run, skip = n+1, n+2
			}
			if want -= int64(run); want < 0 || skip > len(strip) {
				return io.ErrUnexpectedEOF
			}
			strip = strip[skip:]
		}
	}
	if want != 0 || len(strip) > 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// irisHead is the length of the header of an IRIS file.
const irisHead = 512

// readIRIS decodes the rows, which lie in the file from the bottom up, one channel after the
// other, plain or in runs to which tables lead.
func readIRIS(in *bufio.Reader, l *Limits) (Picture, error) {
	h, err := head(in, "iris", irisHead)
	if err != nil {
		return Picture{}, err
	}
	be := binary.BigEndian
	inRuns, width, height, channels := h[2] == 1, int(be.Uint16(h[6:])), int(be.Uint16(h[8:])), int(be.Uint16(h[10:]))
	if dimensions := be.Uint16(h[4:]); dimensions < 2 || dimensions > 3 || channels < 1 || channels > 4 || (dimensions == 2 && channels != 1) {
		return Picture{}, errors.New("the iris picture is of a kind that Blender does not write")
	}
	if err := l.claims("iris", width, height); err != nil {
		return Picture{}, err
	}
	file, err := l.whole(in)
	if err != nil {
		return Picture{}, err
	}
	r := iris{&parts{file, map[int64]int64{}}, width, height, inRuns}
	p, err := r.picture(channels)
	if err != nil {
		return Picture{}, fmt.Errorf("decode the iris picture: %w", noEOF(err))
	}
	return p, nil
}

// iris is a file whose header has been read.
type iris struct {
	used          *parts
	width, height int
	inRuns        bool
}

func (r iris) picture(channels int) (Picture, error) {
	rows := int64(r.height) * int64(channels)
	begin := int64(irisHead)
	if r.inRuns {
		begin += 8 * rows
	}
	if _, err := r.used.take(0, begin); err != nil {
		return Picture{}, err
	}
	f, planes, row := newForm(r.width, r.height, 8), make([]byte, r.width*channels), make([]byte, 4*r.width)
	for y := r.height - 1; y >= 0; y-- {
		for c := range channels {
			if err := r.row(planes[c*r.width:][:r.width], int64(c)*int64(r.height)+int64(y), rows); err != nil {
				return Picture{}, err
			}
		}
		for x := range r.width {
			for c := range 3 {
				row[4*x+c] = planes[min(c, (channels-1)/2*2)*r.width+x] // grey is three equal colours
			}
			row[4*x+3] = 0xff
			if channels%2 == 0 {
				row[4*x+3] = planes[(channels-1)*r.width+x]
			}
		}
		f.row(row)
	}
	if !r.used.all(0) {
		return Picture{}, errors.New("the file has bytes that are no part of the picture")
	}
	return f.picture(), nil
}

// row decodes row i of so many.
func (r iris) row(to []byte, i, rows int64) error {
	if !r.inRuns {
		from, err := r.used.take(irisHead+i*int64(r.width), int64(r.width))
		copy(to, from)
		return err
	}
	offset, size := binary.BigEndian.Uint32(r.used.file[irisHead+4*i:]), binary.BigEndian.Uint32(r.used.file[irisHead+4*(rows+i):])
	from, err := r.used.take(int64(offset), int64(size))
	if err != nil {
		return err
	}
	for len(from) > 0 && from[0]&0x7f != 0 {
		n, plain := int(from[0]&0x7f), from[0] >= 0x80
		if from = from[1:]; n > len(to) || len(from) == 0 || (plain && n > len(from)) {
			return io.ErrUnexpectedEOF
		}
		if plain {
			copy(to, from[:n])
			from = from[n:]
		} else {
			copy(to, bytes.Repeat(from[:1], n))
			from = from[1:]
		}
		to = to[n:]
	}
	if len(to) > 0 || len(from) > 1 {
		return io.ErrUnexpectedEOF
	}
	return nil
}
