package pixels

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"strings"
)

// exrScaler scales an OpenEXR picture chunk by chunk.
type exrScaler struct {
	*scaler
	colours     [3]exrPlace // red, green and blue; all the same for grey
	compression byte
	perChunk    int // rows
	rowBytes    int
	firstY      int           // of the data window
	raw         []byte        // the chunk, as it was before zlib or RLE
	sorted      bool          // raw's bytes are sorted: see expandEXR
	packed      io.ReadCloser // zlib's state, which serves all chunks
	stored      bufio.Reader  // what it reads
	runs        bytes.Buffer  // the chunk as it is stored, of RLE
}

// exrPlace is where a channel lies in a row; the zero value is no channel.
type exrPlace struct {
	offset int // of its first value, in bytes
	bytes  int // of a value: 2 for half, 4 for float
}

// exrThumbnail scales an OpenEXR picture while it is read.
func exrThumbnail(in *bufio.Reader, side int) (*image.RGBA, error) {
	attributes, err := readEXRHeader(in)
	if err != nil {
		return nil, err
	}
	p, perChunk, err := exrSize(attributes, MaxPixels)
	if err != nil {
		return nil, err
	}
	s := &exrScaler{
		compression: attributes["compression"][0], perChunk: perChunk,
		firstY: int(int32(binary.LittleEndian.Uint32(attributes["dataWindow"][4:]))),
	}
	channels, blind := exrChannels(attributes["channels"])
	if blind || s.compression > 3 || !s.place(channels, p.Width) {
		return nil, fmt.Errorf("OpenEXR of another compression, layout or without colours: %w", ErrUnsupported)
	}
	largest := int64(s.rowBytes) * int64(min(perChunk, p.Height))
	cost := largest
	if s.compression == 1 {
		cost *= 3 // the runs are in memory too, in a buffer that grows
	}
	if cost > thumbnailMost {
		return nil, fmt.Errorf("an OpenEXR chunk has %d bytes: %w", largest, ErrTooLarge)
	}
	s.scaler, s.raw = newScaler(p.Width, p.Height, side), make([]byte, largest)
	chunks := (p.Height + perChunk - 1) / perChunk
	if _, err := io.CopyN(io.Discard, in, 8*int64(chunks)); err != nil {
		return nil, fmt.Errorf("read the OpenEXR offsets: %w", noEOF(err))
	}
	for i := range chunks {
		if err := s.chunk(in); err != nil {
			return nil, fmt.Errorf("read OpenEXR chunk %d of %d: %w", i+1, chunks, noEOF(err))
		}
	}
	return s.picture(onScreen), nil
}

// place finds the channels of the picture itself, of its first layer, or its grey one.
// It also sums up a row's bytes.
func (s *exrScaler) place(channels []exrChannel, width int) (found bool) {
	places := map[string]exrPlace{}
	for _, c := range channels {
		if c.colour && c.float {
			places[c.name] = exrPlace{s.rowBytes, c.bytes}
		}
		s.rowBytes += c.bytes * width
	}
	for _, names := range []string{"RGB", "YYY", "VVV"} {
		for _, c := range channels {
			layer := strings.TrimSuffix(c.name, names[:1])
			if layer == c.name || (layer != "" && !strings.HasSuffix(layer, ".")) {
				continue
			}
			found = true
			for i := range s.colours {
				s.colours[i] = places[layer+names[i:i+1]]
				found = found && s.colours[i].bytes > 0
			}
			if found {
				return true
			}
		}
	}
	return false
}

// chunk adds the rows of the next chunk. The chunks may come in any order: each begins
// with the number of its first row.
func (s *exrScaler) chunk(in io.Reader) error {
	var head [exrChunkHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return err
	}
	top, size := int(int32(binary.LittleEndian.Uint32(head[:])))-s.firstY, int64(binary.LittleEndian.Uint32(head[4:]))
	if top < 0 || top >= s.height || top%s.perChunk != 0 {
		return errors.New("it begins at no chunk's row")
	}
	rows := min(s.perChunk, s.height-top)
	s.raw = s.raw[:rows*s.rowBytes]
	if size > int64(len(s.raw)) {
		return fmt.Errorf("it claims %d bytes", size)
	}
	stored := io.LimitReader(in, size)
	s.sorted = size < int64(len(s.raw)) // else compressing it gained nothing
	if err := s.unpack(stored); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, stored); err != nil {
		return err
	}
	for y := range rows {
		from := y * s.rowBytes
		s.add(top+y, func(x int) (r, g, b float64) {
			return s.light(from, x, s.colours[0]), s.light(from, x, s.colours[1]), s.light(from, x, s.colours[2])
		})
	}
	return nil
}

// unpack fills raw from a chunk as it is stored, and undoes the differences.
func (s *exrScaler) unpack(stored io.Reader) error {
	if !s.sorted {
		_, err := io.ReadFull(stored, s.raw)
		return err
	}
	switch s.compression {
	case 1:
		s.runs.Reset()
		if _, err := s.runs.ReadFrom(stored); err != nil {
			return err
		}
		raw, err := expandRuns(s.raw[:0], s.runs.Bytes(), len(s.raw)) // in place
		if err != nil || len(raw) != len(s.raw) {
			return errors.Join(errors.New("it cannot be decompressed"), err)
		}
	case 2, 3:
		if err := s.inflate(stored); err != nil {
			return errors.Join(errors.New("it cannot be decompressed"), err)
		}
	default:
		return errors.New("it is shorter than its header says")
	}
	undoDifferences(s.raw)
	return nil
}

// inflate fills raw from a zlib stream, and reads the stream to its checksum.
func (s *exrScaler) inflate(stored io.Reader) (err error) {
	s.stored.Reset(stored)
	if s.packed == nil {
		s.packed, err = zlib.NewReader(&s.stored)
	} else {
		err = s.packed.(zlib.Resetter).Reset(&s.stored, nil)
	}
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(s.packed, s.raw); err != nil {
		return err
	}
	if n, err := s.packed.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return errors.Join(errors.New("it is too long"), err)
	}
	return nil
}

// light returns a value as light, 0 to 1: a screen shows no more. What is no number is
// dark. from is where the row begins. All values begin at even places.
func (s *exrScaler) light(from, x int, c exrPlace) float64 {
	at := from + c.offset + x*c.bytes
	var b [4]byte
	if s.sorted {
		half := (len(s.raw) + 1) / 2
		b[0], b[1] = s.raw[at/2], s.raw[half+at/2]
		if c.bytes == 4 {
			b[2], b[3] = s.raw[at/2+1], s.raw[half+at/2+1]
		}
	} else {
		copy(b[:c.bytes], s.raw[at:])
	}
	v := math.Float32frombits(binary.LittleEndian.Uint32(b[:]))
	if c.bytes == 2 {
		v = halfValue(binary.LittleEndian.Uint16(b[:]))
	}
	if v > 0 { // no number is not
		return min(float64(v), 1)
	}
	return 0
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
