package pngrows

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"
)

// MaxPixels bounds a picture that is compressed, so that the bytes of its rows can be counted.
const MaxPixels = 1 << 28

// ErrUnsupported reports a file that is no PNG, or one of a kind that this package does not read.
var ErrUnsupported = errors.New("the file is no PNG of a kind that Blender writes")

const signature = "\x89PNG\r\n\x1a\n"

// headBytes is how many bytes decide how a PNG is read: the signature, and the IHDR
// chunk without its checksum (length, type and 13 bytes of content).
const headBytes = len(signature) + 8 + 13

// Kind is how the pixels of a PNG lie in its rows.
type Kind struct {
	Width, Height int // pixels
	Bits          int // of a value: 8 or 16
	channels      int // 1 grey, 2 with alpha, 3 colour, 4 with alpha
}

// plain reads the kind of a PNG as Blender writes them: 8 or 16 bits, no
// palette, not interlaced. ok is false for all others.
func plain(head []byte) (k Kind, ok bool) {
	if len(head) < headBytes || string(head[:8]) != signature || binary.BigEndian.Uint32(head[8:]) != 13 || string(head[12:16]) != "IHDR" {
		return k, false
	}
	k = Kind{
		Width: int(int32(binary.BigEndian.Uint32(head[16:]))), Height: int(int32(binary.BigEndian.Uint32(head[20:]))),
		Bits: int(head[24]), channels: map[byte]int{0: 1, 2: 3, 4: 2, 6: 4}[head[25]],
	}
	methods := head[26] | head[27] | head[28] // compression, filter, interlacing: 0 each
	return k, k.Width > 0 && k.Height > 0 && (k.Bits == 8 || k.Bits == 16) && k.channels > 0 && methods == 0
}

// Read reads a plain PNG row by row, so that three rows are all that is in
// memory, however large the picture is. start is called before the first row and
// returns what takes each: red, green, blue and alpha of every pixel, valid until the
// next row. For a PNG of another kind, other is the file from its start, and no row
// is taken.
func Read(in *bufio.Reader, start func(Kind) (take func(row []byte), err error)) (other io.Reader, err error) {
	peeked, _ := in.Peek(headBytes) // a shorter file is image/png's to refuse
	head := bytes.Clone(peeked)
	k, ok := plain(head)
	if !ok {
		return in, nil
	}
	take, err := start(k)
	if err != nil {
		return nil, err
	}
	f := file{in: in}
	if _, err := in.Discard(len(signature)); err != nil {
		return nil, err
	}
	for {
		if err := f.next(); err != nil {
			return nil, damaged(err)
		}
		switch f.kind() {
		case "PLTE", "tRNS", "IEND":
			// A colour that counts as transparent, or no picture at all. What was
			// passed over means nothing to the decoder.
			var seen bytes.Buffer
			seen.Write(head)
			seen.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(head[12:])))
			seen.Write(f.head[:])
			return io.MultiReader(&seen, in), nil
		case "IDAT":
			return nil, damaged(f.picture(k, take))
		}
		if err := f.skip(); err != nil {
			return nil, damaged(err)
		}
	}
}

// damaged says what was being read; nil stays nil.
func damaged(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("decode the png picture: %w", noEOF(err))
}

// file reads a PNG chunk by chunk, and checks each checksum. As an io.Reader it
// is the contents of the image's chunks, which are one zlib stream.
type file struct {
	in   *bufio.Reader
	head [8]byte // of the chunk: length and type
	left int     // bytes of the chunk to come
	sum  uint32
}

// Errors of a damaged PNG, in the words of image/png where it has any.
var (
	errChecksum = errors.New("invalid checksum")
	errTooLong  = errors.New("a chunk is too long")
	errTooFew   = errors.New("not enough pixel data")
	errTooMany  = errors.New("too much pixel data")
	errFilter   = errors.New("bad filter type")
	errOrder    = errors.New("chunk out of order")
)

// kind is the type of the chunk that is being read.
func (f *file) kind() string { return string(f.head[4:]) }

// next goes to the next chunk; the one before must have been read to its end.
func (f *file) next() error {
	if _, err := io.ReadFull(f.in, f.head[:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(f.head[:])
	if length > 1<<31-1 {
		return errTooLong
	}
	f.left, f.sum = int(length), crc32.ChecksumIEEE(f.head[4:])
	return nil
}

// end compares the checksum of a chunk that was read to its end.
func (f *file) end() error {
	var sum [4]byte
	if _, err := io.ReadFull(f.in, sum[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(sum[:]) != f.sum {
		return errChecksum
	}
	return nil
}

// take reads what the chunk still holds, as far as it fits into p, and adds it to
// the checksum.
func (f *file) take(p []byte) (int, error) {
	n, err := f.in.Read(p[:min(len(p), f.left)])
	f.sum = crc32.Update(f.sum, crc32.IEEETable, p[:n])
	f.left -= n
	return n, err
}

// skip reads the rest of the chunk without keeping it. It still checks the
// checksum.
func (f *file) skip() error {
	var passed [4096]byte
	for f.left > 0 {
		if _, err := f.take(passed[:]); err != nil {
			return err
		}
	}
	return f.end()
}

// Read implements io.Reader over the image's chunks, which follow each other.
func (f *file) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for f.left == 0 {
		if err := f.end(); err != nil {
			return 0, err
		}
		if err := f.next(); err != nil {
			return 0, err
		}
		if f.kind() != "IDAT" {
			return 0, errTooFew
		}
	}
	return f.take(p)
}

// picture reads the rows and then the file to its end: a delivery that is cut
// after the image is damaged too.
func (f *file) picture(k Kind, take func(row []byte)) error {
	if err := f.rows(k, take); err != nil {
		return err
	}
	for {
		if err := f.skip(); err != nil {
			return err
		}
		if f.kind() == "IEND" {
			return nil
		}
		if err := f.next(); err != nil {
			return err
		}
		switch f.kind() {
		// They would change the meaning of pixels that have been taken already.
		case "IHDR", "PLTE", "tRNS":
			return errOrder
		case "IEND":
			if f.left > 0 {
				return errTooLong
			}
		}
	}
}

// rows reads all rows, of which only this one and the one above are needed. It
// leaves the file at the end of the chunk in which the rows end.
func (f *file) rows(k Kind, take func(row []byte)) error {
	packed, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	defer packed.Close()
	pixel := k.channels * k.Bits / 8
	// The first byte of a row names its filter.
	row, above := make([]byte, 1+pixel*k.Width), make([]byte, 1+pixel*k.Width)
	wide := make([]byte, 4*k.Bits/8*k.Width)
	for range k.Height {
		if _, err := io.ReadFull(packed, row); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errTooFew
			}
			return err
		}
		if err := unfilter(row[0], row[1:], above[1:], pixel); err != nil {
			return err
		}
		widen(wide, row[1:], k)
		take(wide)
		// The two rows swap places, so that no row is allocated after the first.
		row, above = above, row
	}
	// The end of the stream carries a checksum of all rows.
	if n, err := io.ReadFull(packed, row[:1]); n > 0 || f.left > 0 {
		return errTooMany
	} else if err != io.EOF {
		return err
	}
	return nil
}

// unfilter gives a row the values that it had before its filter (PNG 9.2). pixel is
// the bytes of one pixel, and above is the row before, all 0 for the first.
func unfilter(filter byte, row, above []byte, pixel int) error {
	switch filter {
	case 0: // none
	case 1: // left
		for i := pixel; i < len(row); i++ {
			row[i] += row[i-pixel]
		}
	case 2: // above
		for i, up := range above[:len(row)] {
			row[i] += up
		}
	case 3: // mean of left and above
		for i := range min(pixel, len(row)) {
			row[i] += above[i] / 2
		}
		for i := pixel; i < len(row); i++ {
			row[i] += byte((int(row[i-pixel]) + int(above[i])) / 2)
		}
	case 4: // Paeth
		for i := range min(pixel, len(row)) {
			row[i] += above[i] // the nearest of 0, above and 0
		}
		for i := pixel; i < len(row); i++ {
			row[i] += paeth(row[i-pixel], above[i], above[i-pixel])
		}
	default:
		return errFilter
	}
	return nil
}

// paeth returns the one of left, up and corner that is nearest to left + up -
// corner; on a tie the first in that order, as the format requires.
func paeth(left, up, corner byte) byte {
	toLeft, toUp := int(up)-int(corner), int(left)-int(corner)
	toCorner := toLeft + toUp
	toLeft, toUp, toCorner = max(toLeft, -toLeft), max(toUp, -toUp), max(toCorner, -toCorner)
	switch {
	case toLeft <= toUp && toLeft <= toCorner:
		return left
	case toUp <= toCorner:
		return up
	}
	return corner
}

// widen writes a row as red, green, blue and alpha: grey becomes three equal
// colours, a missing alpha opaque.
func widen(to, from []byte, k Kind) {
	switch value := k.Bits / 8; k.channels {
	case 4:
		copy(to, from)
	case 3:
		for i, j := 0, 0; j < len(from); i, j = i+4*value, j+3*value {
			copy(to[i:], from[j:j+3*value])
			opaque(to[i+3*value:], value)
		}
	default:
		for i, j := 0, 0; j < len(from); i, j = i+4*value, j+k.channels*value {
			for c := range 3 {
				copy(to[i+c*value:], from[j:j+value])
			}
			if k.channels == 2 {
				copy(to[i+3*value:], from[j+value:j+2*value])
			} else {
				opaque(to[i+3*value:], value)
			}
		}
	}
}

// opaque sets one alpha value of that many bytes.
func opaque(alpha []byte, value int) {
	for i := range value {
		alpha[i] = 0xff
	}
}

// noEOF turns an unexpected end of a file into the error for a cut file.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
