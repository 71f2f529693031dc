package pixels

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image/jpeg"
	"io"

	"golang.org/x/image/webp"
)

// readJPEG decodes a JPEG whole, through the standard library, where that fits the memory.
// In addition, the markers are walked through to the end: the decoder stops at the end of
// the picture, wherever the file ends.
func readJPEG(in *bufio.Reader, l *Limits) (Picture, error) {
	var seen bytes.Buffer
	c, bytesEach, err := jpegCost(io.TeeReader(in, &seen))
	if err != nil {
		return Picture{}, fmt.Errorf("read the jpeg picture's header: %w", noEOF(err))
	}
	if err := l.claims("jpeg", c.Width, c.Height); err != nil {
		return Picture{}, err
	}
	walk := &jpegWalk{}
	all := io.TeeReader(io.MultiReader(&seen, in), walk)
	p := structured(c.Width, c.Height)
	if cost := int64(c.Width) * int64(c.Height) * int64(bytesEach); l.fits(cost) {
		if err := l.takes(cost); err != nil {
			return Picture{}, err
		}
		img, err := jpeg.Decode(all)
		if err != nil {
			return Picture{}, fmt.Errorf("decode the jpeg picture: %w", noEOF(err))
		}
		p = Of(img)
		p.Decoded = true
	}
	if _, err := io.Copy(io.Discard, all); err != nil {
		return Picture{}, err
	}
	return p, walk.ended()
}

// jpegWalk follows the markers of a JPEG that is written to it.
type jpegWalk struct {
	state  jpegState
	marker byte
	skip   int // bytes of a segment to come
	scans  bool
	behind bool // bytes follow the end
}

type jpegState int

const (
	jpegMark   jpegState = iota // the FF of a marker comes
	jpegKind                    // its kind comes
	jpegLength                  // the first byte of its length comes
	jpegLow                     // the second one
	jpegSkip                    // the segment continues
	jpegScan                    // coded pixels
	jpegEscape                  // the byte after an FF in them
	jpegDone
	jpegBroken
)

// Write implements io.Writer and never fails.
func (w *jpegWalk) Write(p []byte) (int, error) {
	for i := 0; i < len(p); i++ {
		switch w.state {
		case jpegSkip:
			n := min(w.skip, len(p)-i)
			if w.skip -= n; w.skip == 0 {
				w.afterSegment()
			}
			i += n - 1
		case jpegScan:
			n := bytes.IndexByte(p[i:], 0xff)
			if n < 0 {
				return len(p), nil
			}
			i, w.state = i+n, jpegEscape
		default:
			w.next(p[i])
		}
	}
	return len(p), nil
}

// next takes a byte outside of segments and scans.
func (w *jpegWalk) next(b byte) {
	switch w.state {
	case jpegMark:
		w.state = jpegBroken
		if b == 0xff {
			w.state = jpegKind
		}
	case jpegKind:
		w.kind(b)
	case jpegEscape:
		switch {
		case b == 0 || (b >= 0xd0 && b <= 0xd7): // an FF of the pixels, or a restart marker
			w.state = jpegScan
		case b != 0xff:
			w.kind(b)
		}
	case jpegLength:
		w.skip, w.state = int(b)<<8, jpegLow
	case jpegLow:
		w.skip += int(b) - 2
		w.state = jpegSkip
		switch {
		case w.skip < 0:
			w.state = jpegBroken
		case w.skip == 0:
			w.afterSegment()
		}
	case jpegDone:
		w.behind = true
	}
}

// kind takes the kind of a marker.
func (w *jpegWalk) kind(b byte) {
	switch {
	case b == 0xff: // fills
	case b == 0xd8:
		w.state = jpegMark
	case b == 0xd9:
		w.state = jpegDone
	case b < 0xc0:
		w.state = jpegBroken
	default:
		w.marker, w.state = b, jpegLength
	}
}

func (w *jpegWalk) afterSegment() {
	w.state = jpegMark
	if w.marker == 0xda {
		w.state, w.scans = jpegScan, true
	}
}

// ended says what is wrong after the last byte.
func (w *jpegWalk) ended() error {
	switch {
	case w.behind:
		return errors.New("bytes follow the jpeg picture")
	case w.state == jpegBroken:
		return errors.New("the jpeg picture's markers are out of order")
	case w.state != jpegDone || !w.scans:
		return fmt.Errorf("the jpeg picture has no end: %w", io.ErrUnexpectedEOF)
	}
	return nil
}

// readWebP decodes a WebP whole where that fits the memory; otherwise it walks through its
// parts. In either case they must end where the file does.
func readWebP(in *bufio.Reader, l *Limits) (Picture, error) {
	h, err := head(in, "webp", 30)
	if err != nil {
		return Picture{}, err
	}
	c, err := webp.DecodeConfig(bytes.NewReader(h))
	if err != nil {
		return Picture{}, fmt.Errorf("read the webp picture's header: %w", noEOF(err))
	}
	if err := l.claims("webp", c.Width, c.Height); err != nil {
		return Picture{}, err
	}
	walk := &riffWalk{left: int64(binary.LittleEndian.Uint32(h[4:])) + 8}
	all := io.TeeReader(in, walk)
	// Planes, the rows of alpha, and for one without loss as much again to predict from.
	if cost := 12 * int64(c.Width) * int64(c.Height); l.fits(cost) {
		if err := l.takes(cost); err != nil {
			return Picture{}, err
		}
		if _, err := webp.Decode(all); err != nil {
			return Picture{}, fmt.Errorf("decode the webp picture: %w", noEOF(err))
		}
	}
	if _, err := io.Copy(io.Discard, all); err != nil {
		return Picture{}, err
	}
	return structured(c.Width, c.Height), walk.ended()
}

// riffWalk follows the parts of a RIFF file that is written to it. left is what its header
// promises.
type riffWalk struct {
	left int64
	at   int64
	next int64 // where the next part begins
	head []byte
}

// Write implements io.Writer and never fails.
func (w *riffWalk) Write(p []byte) (int, error) {
	if w.next == 0 {
		w.next = 12
	}
	for rest := p; len(rest) > 0; {
		if w.at < w.next {
			n := min(int64(len(rest)), w.next-w.at)
			rest, w.at = rest[n:], w.at+n
			continue
		}
		n := min(8-len(w.head), len(rest))
		w.head = append(w.head, rest[:n]...)
		rest = rest[n:]
		if len(w.head) == 8 {
			size := int64(binary.LittleEndian.Uint32(w.head[4:]))
			w.next = w.at + 8 + size + size%2
			w.at += 8
			w.head = w.head[:0]
		}
	}
	return len(p), nil
}

func (w *riffWalk) ended() error {
	switch at := w.at + int64(len(w.head)); {
	case at < w.left || at < w.next:
		return fmt.Errorf("the webp picture is cut: %w", io.ErrUnexpectedEOF)
	case at > w.left || at > w.next:
		return errors.New("bytes follow the webp picture, or its parts have other lengths")
	}
	return nil
}

// readJP2 walks through a JPEG 2000 picture: the boxes around it, where it has some, its main
// header, and its tiles up to the end.
func readJP2(in *bufio.Reader, l *Limits) (Picture, error) {
	p, err := jp2Boxes(in, l)
	if err != nil {
		return Picture{}, fmt.Errorf("read the jp2 picture: %w", noEOF(err))
	}
	return p, nil
}

func jp2Boxes(in *bufio.Reader, l *Limits) (Picture, error) {
	if start, err := in.Peek(2); err != nil || start[0] == 0xff {
		return jp2Stream(in, l, -1)
	}
	for {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return Picture{}, err
		}
		size, kind := int64(binary.BigEndian.Uint32(head[:])), string(head[4:])
		if size == 1 { // a large one has its size after its kind
			var large [8]byte
			if _, err := io.ReadFull(in, large[:]); err != nil {
				return Picture{}, err
			}
			size = int64(binary.BigEndian.Uint64(large[:])) - 8
		}
		if kind == "jp2c" {
			return jp2Stream(in, l, size-8)
		}
		if size < 8 || size > 1<<20 {
			return Picture{}, fmt.Errorf("its box %q claims %d bytes", kind, size)
		}
		if err := rest(in, size-8); err != nil {
			return Picture{}, err
		}
	}
}

// jp2Stream reads the coded picture, of size bytes; below 0 the file's end is its own.
func jp2Stream(in *bufio.Reader, l *Limits, size int64) (p Picture, err error) {
	s := jp2{in: in}
	for s.tiles = false; ; {
		marker, length, err := s.marker()
		switch {
		case err != nil:
			return Picture{}, err
		case marker == 0xffd9:
			if !s.tiles || (size >= 0 && s.at != size) {
				return Picture{}, errors.New("it ends without its tiles, or elsewhere than its box")
			}
			return structured(s.width, s.height), nil
		case marker == 0xff51:
			if err := s.size(length); err != nil {
				return Picture{}, err
			}
			if err := l.claims("jp2", s.width, s.height); err != nil {
				return Picture{}, err
			}
		case marker == 0xff90:
			if s.width == 0 {
				return Picture{}, errors.New("its tiles come before its size")
			}
			if err := s.tile(length); err != nil {
				return Picture{}, err
			}
		default:
			if err := s.skip(length); err != nil {
				return Picture{}, err
			}
		}
	}
}

// jp2 is the coded part of a JPEG 2000 file.
type jp2 struct {
	in            *bufio.Reader
	at            int64 // bytes read
	width, height int
	tiles         bool
}

// marker reads a marker, and the length of what belongs to it.
func (s *jp2) marker() (marker uint16, length int64, err error) {
	var b [2]byte
	if err := s.read(b[:]); err != nil {
		return 0, 0, err
	}
	marker = binary.BigEndian.Uint16(b[:])
	switch {
	case marker == 0xff4f || marker == 0xffd9: // begin and end have none
		return marker, 0, nil
	case marker < 0xff50 || marker > 0xff93:
		return 0, 0, fmt.Errorf("it has a marker %#x", marker)
	}
	if err := s.read(b[:]); err != nil {
		return 0, 0, err
	}
	if length = int64(binary.BigEndian.Uint16(b[:])) - 2; length < 0 {
		return 0, 0, errors.New("a marker has no length")
	}
	return marker, length, nil
}

func (s *jp2) read(to []byte) error {
	n, err := io.ReadFull(s.in, to)
	s.at += int64(n)
	return err
}

func (s *jp2) skip(n int64) error {
	s.at += n
	return rest(s.in, n)
}

// size reads the corners of the picture on its grid.
func (s *jp2) size(length int64) error {
	var b [38]byte
	if length < int64(len(b)-2) {
		return errors.New("its size is too short")
	}
	if err := s.read(b[:36]); err != nil {
		return err
	}
	be := binary.BigEndian
	right, bottom, left, top := int64(be.Uint32(b[2:])), int64(be.Uint32(b[6:])), int64(be.Uint32(b[10:])), int64(be.Uint32(b[14:]))
	if right-left > MaxPixels || bottom-top > MaxPixels || right <= left || bottom <= top {
		return fmt.Errorf("it is %dx%d", right-left, bottom-top)
	}
	s.width, s.height = int(right-left), int(bottom-top)
	return s.skip(length - 36)
}

// tile passes over a part of a tile, by the length that it has from its marker on.
func (s *jp2) tile(length int64) error {
	begin := s.at - 4
	var b [8]byte
	if length != int64(len(b)) {
		return errors.New("a tile has no head")
	}
	if err := s.read(b[:]); err != nil {
		return err
	}
	part := int64(binary.BigEndian.Uint32(b[2:]))
	if part < 14 { // 0 would reach to the end; Blender's encoder gives the length
		return errors.New("a tile has no length")
	}
	s.tiles = true
	return s.skip(begin + part - s.at)
}
