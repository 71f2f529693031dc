package exr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zlib"
)

// tables bounds the tables of all codecs and their states, in bytes.
const tables = 4 << 20

// errPacking is a chunk that does not unpack to the rows that its header promises.
var errPacking = errors.New("it does not unpack to its rows")

// codec unpacks chunks. Its buffers serve all chunks of a picture.
type codec struct {
	*File
	most   int64  // bytes that a chunk of DWA may unpack to; 0 for any number
	shows  bool   // chunks of DWA become rows
	raw    []byte // rows
	packed bytes.Buffer
	spare  []byte   // what a first step makes
	words  []uint16 // the same, of PIZ
	zlib   io.ReadCloser
}

// unpack returns n rows of a chunk that is stored in so many bytes; nil for a compression of
// which only the structure is known. A chunk that is not shorter than its rows was stored
// without compression, which gained nothing. The caller has checked that the chunk is not
// longer.
func (c *codec) unpack(stored io.Reader, size int64, n int) (rows []byte, err error) {
	want := n * c.rowBytes
	if c.compression >= dwaA && size < int64(want) {
		if err := c.unpackDWA(stored, size, n); err != nil || !c.shows {
			return nil, err
		}
		return c.raw, nil
	}
	c.raw = grown(c.raw, want)
	if size == int64(want) {
		_, err = io.ReadFull(stored, c.raw)
		return c.raw, err
	}
	switch c.compression {
	case none:
		return nil, errors.New("it is shorter than its rows")
	case zips, zip:
		c.spare = grown(c.spare, want)
		if err = c.inflate(stored, c.spare); err == nil {
			unsort(c.raw, c.spare)
		}
	default:
		packed, err := c.load(stored, size)
		if err != nil {
			return nil, err
		}
		switch c.compression {
		case rle:
			c.spare = grown(c.spare, want)
			if err = expandRuns(c.spare, packed); err == nil {
				unsort(c.raw, c.spare)
			}
		case piz:
			err = c.piz(packed, n)
		case pxr24:
			err = c.pxr24(packed, n)
		case b44, b44A:
			err = c.b44(packed, n)
		}
		if err != nil {
			return nil, errors.Join(errPacking, err)
		}
	}
	if err != nil {
		return nil, errors.Join(errPacking, err)
	}
	if _, err := io.Copy(io.Discard, stored); err != nil { // what zlib leaves
		return nil, err
	}
	return c.raw, nil
}

// load reads a chunk as it is stored. The buffer grows with what really arrives.
func (c *codec) load(stored io.Reader, size int64) ([]byte, error) {
	c.packed.Reset()
	n, err := c.packed.ReadFrom(stored)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return c.packed.Bytes(), err
}

// grown returns a buffer of n bytes, the same one where it is large enough.
func grown(buffer []byte, n int) []byte {
	if cap(buffer) < n {
		return make([]byte, n)
	}
	return buffer[:n]
}

// inflate fills raw from a zlib stream, and reads the stream to its checksum. Nothing may
// follow the stream.
func (c *codec) inflate(stored io.Reader, raw []byte) error {
	n, err := c.inflated(stored, raw)
	if err == nil && n != len(raw) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// inflated is inflate of a stream that may be shorter than raw; it returns its length.
func (c *codec) inflated(stored io.Reader, raw []byte) (n int, err error) {
	if c.zlib == nil {
		c.zlib, err = zlib.NewReader(stored)
	} else {
		err = c.zlib.(zlib.Resetter).Reset(stored, nil)
	}
	if err != nil {
		return 0, noEOF(err)
	}
	if n, err = io.ReadFull(c.zlib, raw); err == io.ErrUnexpectedEOF || err == io.EOF {
		return n, nil
	} else if err != nil {
		return n, err
	}
	if more, err := c.zlib.Read(make([]byte, 1)); more > 0 || err != io.EOF {
		return n, errors.Join(errors.New("it unpacks to more"), noEOF(err))
	}
	return n, nil
}

// unsort undoes what was done to the bytes before RLE and zlib: they were sorted, those of
// even places before those of odd ones, and replaced by their differences.
func unsort(rows, sorted []byte) {
	for i := 1; i < len(sorted); i++ {
		sorted[i] += sorted[i-1] - 128
	}
	half := (len(rows) + 1) / 2
	for i := range rows {
		if i%2 == 0 {
			rows[i] = sorted[i/2]
		} else {
			rows[i] = sorted[half+i/2]
		}
	}
}

// expandRuns fills out from runs: a count and what it counts. Below zero it is that many
// bytes as they are, otherwise one byte, once more than the count.
func expandRuns(out, packed []byte) error {
	for len(packed) > 1 {
		n := int(int8(packed[0]))
		packed = packed[1:]
		if n < 0 {
			n = -n
			if n > len(packed) || n > len(out) {
				return io.ErrUnexpectedEOF
			}
			copy(out, packed[:n])
			out, packed = out[n:], packed[n:]
			continue
		}
		if n++; n > len(out) {
			return errors.New("its runs are too long")
		}
		for i := range out[:n] {
			out[i] = packed[0]
		}
		out, packed = out[n:], packed[1:]
	}
	if len(out) > 0 || len(packed) > 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// pxr24 unpacks zlib of differences between the pixels of a row, whose bytes were put apart:
// the highest ones of all pixels first. A float has lost its lowest byte.
func (c *codec) pxr24(packed []byte, n int) error {
	total := 0
	for _, ch := range c.Channels {
		total += n * c.Width * pxr24Bytes(ch)
	}
	c.spare = grown(c.spare, total)
	if err := c.inflate(bytes.NewReader(packed), c.spare); err != nil {
		return err
	}
	from := c.spare
	for y := range n {
		for _, ch := range c.Channels {
			row, kept, pixel := c.raw[y*c.rowBytes+ch.offset:], pxr24Bytes(ch), uint32(0)
			for x := range c.Width {
				var difference uint32
				for b := range kept {
					difference |= uint32(from[b*c.Width+x]) << (8 * (ch.bytes - 1 - b))
				}
				pixel += difference
				if ch.bytes == 2 {
					binary.LittleEndian.PutUint16(row[2*x:], uint16(pixel))
				} else {
					binary.LittleEndian.PutUint32(row[4*x:], pixel)
				}
			}
			from = from[kept*c.Width:]
		}
	}
	return nil
}

// pxr24Bytes is how many bytes of a value are kept.
func pxr24Bytes(c Channel) int {
	if c.Float && c.bytes == 4 {
		return 3
	}
	return c.bytes
}

// b44 unpacks halfs in blocks of 4x4 pixels, of one channel after the other. Other channels
// lie there as they are.
func (c *codec) b44(packed []byte, n int) error {
	for _, ch := range c.Channels {
		if !ch.Float || ch.bytes == 4 {
			line := ch.bytes * c.Width
			if len(packed) < n*line {
				return io.ErrUnexpectedEOF
			}
			for y := range n {
				copy(c.raw[y*c.rowBytes+ch.offset:][:line], packed[y*line:])
			}
			packed = packed[n*line:]
			continue
		}
		if ch.linear {
			return errors.New("a channel has its logarithm packed, which Blender does not do")
		}
		var err error
		if packed, err = c.b44Blocks(ch, packed, n); err != nil {
			return err
		}
	}
	if len(packed) > 0 {
		return errors.New("bytes are left")
	}
	return nil
}

// b44Blocks unpacks the blocks of one channel, and returns what follows them.
func (c *codec) b44Blocks(ch Channel, packed []byte, n int) (rest []byte, err error) {
	var s [16]uint16
	for top := 0; top < n; top += 4 {
		for left := 0; left < c.Width; left += 4 {
			size := 14
			if len(packed) >= 3 && packed[2] >= 13<<2 {
				size = 3
			}
			if len(packed) < size {
				return nil, io.ErrUnexpectedEOF
			}
			b44Block(&s, packed[:size])
			packed = packed[size:]
			for i, v := range s {
				if y, x := top+i/4, left+i%4; y < n && x < c.Width {
					binary.LittleEndian.PutUint16(c.raw[y*c.rowBytes+ch.offset+2*x:], v)
				}
			}
		}
	}
	return packed, nil
}

// b44Block unpacks a block: three bytes for one value, 14 for the first one and the
// differences from it, down the first column and then along the rows.
func b44Block(s *[16]uint16, b []byte) {
	s[0] = binary.BigEndian.Uint16(b)
	for i := 1; i < 16; i++ {
		s[i] = s[0]
	}
	if len(b) > 3 {
		shift := b[2] >> 2
		bias := uint16(0x20) << shift
		at := 2*8 + 6 // of the next difference, in bits
		next := func(from uint16) uint16 {
			v := uint16(0)
			for range 6 {
				v = v<<1 | uint16(b[at/8]>>(7-at%8)&1)
				at++
			}
			return from + v<<shift - bias
		}
		for _, i := range [...]int{4, 8, 12} {
			s[i] = next(s[i-4])
		}
		for x := 1; x < 4; x++ {
			for y := range 4 {
				s[4*y+x] = next(s[4*y+x-1])
			}
		}
	}
	for i, v := range s { // values were ordered by their bits
		if v&0x8000 != 0 {
			s[i] = v & 0x7fff
		} else {
			s[i] = ^v
		}
	}
}
