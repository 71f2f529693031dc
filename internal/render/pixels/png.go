package pixels

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image/png"
	"io"

	"github.com/klauspost/compress/zlib"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngHead is how many bytes decide how a PNG is read: the signature, and the IHDR
// chunk without its checksum (length, type and 13 bytes of content).
const pngHead = len(pngSignature) + 8 + 13

// pngKind is how the pixels of a PNG lie in its rows.
type pngKind struct {
	width, height int
	bits          int // of a value: 8 or 16
	channels      int // 1 grey, 2 with alpha, 3 colour, 4 with alpha
}

// plainPNG reads the kind of a PNG as Blender writes them: 8 or 16 bits, no
// palette, not interlaced. ok is false for all others.
func plainPNG(head []byte) (k pngKind, ok bool) {
	if len(head) < pngHead || string(head[:8]) != pngSignature || binary.BigEndian.Uint32(head[8:]) != 13 || string(head[12:16]) != "IHDR" {
		return k, false
	}
	k = pngKind{
		width: int(int32(binary.BigEndian.Uint32(head[16:]))), height: int(int32(binary.BigEndian.Uint32(head[20:]))),
		bits: int(head[24]), channels: map[byte]int{0: 1, 2: 3, 4: 2, 6: 4}[head[25]],
	}
	methods := head[26] | head[27] | head[28] // compression, filter, interlacing: 0 each
	return k, k.width > 0 && k.height > 0 && (k.bits == 8 || k.bits == 16) && k.channels > 0 && methods == 0
}

// readPNG hashes a PNG. One of another kind than plain is left to image/png, which
// decodes it whole.
func readPNG(in *bufio.Reader, l *Limits) (Picture, error) {
	var f *form
	other, err := readRows(in, func(k pngKind) (func([]byte), error) {
		if err := l.claims("png", k.width, k.height); err != nil {
			return nil, err
		}
		f = newForm(k.width, k.height, k.bits)
		return f.row, l.takes(3 * 8 * int64(k.width)) // rows of the deepest kind
	})
	if err != nil {
		return Picture{}, err
	}
	if other != nil {
		return readOtherPNG(other, l)
	}
	return f.picture(), nil
}

// readOtherPNG decodes a PNG whole that Blender does not write: with a palette, interlaced
// or with a colour that counts as transparent. It reads the header twice: first for the size
// alone, because Decode allocates what the header claims.
func readOtherPNG(in io.Reader, l *Limits) (Picture, error) {
	var seen bytes.Buffer
	c, bytesEach, err := pngCost(io.TeeReader(in, &seen))
	if err != nil {
		return Picture{}, fmt.Errorf("read the png picture's header: %w", noEOF(err))
	}
	if err := l.claims("png", c.Width, c.Height); err != nil {
		return Picture{}, err
	}
	cost := int64(c.Width) * int64(c.Height) * int64(bytesEach)
	if !l.fits(cost) {
		return Picture{}, fmt.Errorf("the png picture is of a kind that takes %d bytes to decode, and that Blender does not write", cost)
	}
	if err := l.takes(cost); err != nil {
		return Picture{}, err
	}
	img, err := png.Decode(io.MultiReader(&seen, in))
	if err != nil {
		return Picture{}, fmt.Errorf("decode the png picture: %w", noEOF(err))
	}
	return Of(img), nil
}

// readRows reads a plain PNG row by row, so that three rows are all that is in
// memory, however large the picture is. start is called before the first row and
// returns what takes each: red, green, blue and alpha of every pixel, valid until the
// next row. For a PNG of another kind, other is the file from its start, and no row
// is taken.
func readRows(in *bufio.Reader, start func(pngKind) (take func(row []byte), err error)) (other io.Reader, err error) {
	peeked, _ := in.Peek(pngHead) // a shorter file is image/png's to refuse
	head := bytes.Clone(peeked)
	k, ok := plainPNG(head)
	if !ok {
		return in, nil
	}
	take, err := start(k)
	if err != nil {
		return nil, err
	}
	f := pngFile{in: in}
	if _, err := in.Discard(len(pngSignature)); err != nil {
		return nil, err
	}
	for {
		if err := f.next(); err != nil {
			return nil, badPNG(err)
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
			return nil, badPNG(f.picture(k, take))
		}
		if err := f.skip(); err != nil {
			return nil, badPNG(err)
		}
	}
}

// badPNG says what was being read; nil stays nil.
func badPNG(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("decode the png picture: %w", noEOF(err))
}

// pngFile reads a PNG chunk by chunk, and checks each checksum. As an io.Reader it
// is the contents of the image's chunks, which are one zlib stream.
type pngFile struct {
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
func (f *pngFile) kind() string { return string(f.head[4:]) }

// next goes to the next chunk; the one before must have been read to its end.
func (f *pngFile) next() error {
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
func (f *pngFile) end() error {
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
func (f *pngFile) take(p []byte) (int, error) {
	n, err := f.in.Read(p[:min(len(p), f.left)])
	f.sum = crc32.Update(f.sum, crc32.IEEETable, p[:n])
	f.left -= n
	return n, err
}

// skip reads the rest of the chunk without keeping it. It still checks the
// checksum.
func (f *pngFile) skip() error {
	var passed [4096]byte
	for f.left > 0 {
		if _, err := f.take(passed[:]); err != nil {
			return err
		}
	}
	return f.end()
}

// Read implements io.Reader over the image's chunks, which follow each other.
func (f *pngFile) Read(p []byte) (int, error) {
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
func (f *pngFile) picture(k pngKind, take func(row []byte)) error {
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
func (f *pngFile) rows(k pngKind, take func(row []byte)) error {
	packed, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	defer packed.Close()
	pixel := k.channels * k.bits / 8
	// The first byte of a row names its filter.
	row, above := make([]byte, 1+pixel*k.width), make([]byte, 1+pixel*k.width)
	wide := make([]byte, 4*k.bits/8*k.width)
	for range k.height {
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
func widen(to, from []byte, k pngKind) {
	switch value := k.bits / 8; k.channels {
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
