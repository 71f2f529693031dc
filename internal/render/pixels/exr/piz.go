package exr

import (
	"encoding/binary"
	"errors"
	"io"
)

// piz unpacks a chunk of PIZ: the values that occur, as bits of a map, and then the values'
// places in that map, as wavelets in a Huffman code. Floats are two values each.
func (c *codec) piz(packed []byte, n int) error {
	lut, most, packed, err := pizValues(packed)
	if err != nil {
		return err
	}
	if len(packed) < 4 || int64(binary.LittleEndian.Uint32(packed)) != int64(len(packed)-4) {
		return io.ErrUnexpectedEOF
	}
	count := n * c.rowBytes / 2
	if cap(c.words) < count {
		c.words = make([]uint16, count)
	}
	words := c.words[:count]
	if err := unpackHuffman(words, packed[4:]); err != nil {
		return err
	}
	at := words
	for _, ch := range c.Channels {
		halves := ch.bytes / 2
		plane := at[:n*c.Width*halves]
		at = at[len(plane):]
		for j := range halves {
			wavelet{plane[j:], halves, c.Width * halves, c.Width, n, most < 1<<14}.undo()
		}
		for i, v := range plane {
			y, x := i/(c.Width*halves), i%(c.Width*halves)
			binary.LittleEndian.PutUint16(c.raw[y*c.rowBytes+ch.offset+2*x:], lut[v])
		}
	}
	return nil
}

// pizValues reads the map of values. most is the place of the last one.
func pizValues(packed []byte) (lut []uint16, most int, rest []byte, err error) {
	if len(packed) < 4 {
		return nil, 0, nil, io.ErrUnexpectedEOF
	}
	first, last := int(binary.LittleEndian.Uint16(packed)), int(binary.LittleEndian.Uint16(packed[2:]))
	packed = packed[4:]
	var bits [1 << 13]byte
	if last >= len(bits) {
		return nil, 0, nil, errors.New("its map of values is too long")
	}
	if first <= last {
		n := copy(bits[first:last+1], packed)
		if n < last+1-first {
			return nil, 0, nil, io.ErrUnexpectedEOF
		}
		packed = packed[n:]
	}
	lut = make([]uint16, 1<<16)
	k := 0
	for v := range 1 << 16 {
		if v == 0 || bits[v/8]>>(v%8)&1 != 0 {
			lut[k] = uint16(v)
			k++
		}
	}
	return lut, k - 1, packed, nil
}

// wavelet is a plane of values in a slice, each of them step after the one before it and
// line after the one above it.
type wavelet struct {
	v             []uint16
	step, line    int
	width, height int
	small         bool // all values have 14 bits
}

// undo turns sums and differences back into values, from the coarsest level on.
func (w wavelet) undo() {
	n := min(w.width, w.height)
	p := 1
	for p <= n {
		p <<= 1
	}
	p >>= 1
	join := join16
	if w.small {
		join = join14
	}
	for half := p >> 1; half >= 1; p, half = half, half>>1 {
		w.level(p, half, join)
	}
}

// level joins the values that are half apart.
func (w wavelet) level(p, half int, join func(low, high uint16) (uint16, uint16)) {
	right, down := w.step*half, w.line*half
	y := 0
	for ; y <= w.height-p; y += p {
		x := 0
		for ; x <= w.width-p; x += p {
			at := y*w.line + x*w.step
			a, c := join(w.v[at], w.v[at+down])
			b, d := join(w.v[at+right], w.v[at+down+right])
			w.v[at], w.v[at+right] = join(a, b)
			w.v[at+down], w.v[at+down+right] = join(c, d)
		}
		if w.width&half != 0 {
			at := y*w.line + x*w.step
			w.v[at], w.v[at+down] = join(w.v[at], w.v[at+down])
		}
	}
	if w.height&half == 0 {
		return
	}
	for x := 0; x <= w.width-p; x += p {
		at := y*w.line + x*w.step
		w.v[at], w.v[at+right] = join(w.v[at], w.v[at+right])
	}
}

func join14(low, high uint16) (uint16, uint16) {
	l, h := int(int16(low)), int(int16(high))
	a := l + h&1 + h>>1
	return uint16(a), uint16(a - h)
}

func join16(low, high uint16) (uint16, uint16) {
	b := low - high>>1
	return high + b - 1<<15, b
}

// huffLongest is the longest code, huffFast how many bits a table decodes at once.
const (
	huffLongest = 58
	huffFast    = 12
)

// huffman is a canonical code: those of one length follow each other, and a longer one is
// less than the beginning of a shorter one.
type huffman struct {
	first [huffLongest + 2]uint64 // code of each length
	count [huffLongest + 2]uint64
	start [huffLongest + 2]int // of each length's symbols
	order []uint32             // symbols by length
	fast  [1 << huffFast]uint32
}

// unpackHuffman fills out. The symbol after all values repeats the last value.
func unpackHuffman(out []uint16, packed []byte) error {
	if len(packed) == 0 && len(out) == 0 {
		return nil
	}
	if len(packed) < 20 {
		return io.ErrUnexpectedEOF
	}
	least, most := binary.LittleEndian.Uint32(packed), binary.LittleEndian.Uint32(packed[4:])
	bits := int64(binary.LittleEndian.Uint32(packed[12:]))
	if least > most || most > 1<<16 {
		return errors.New("its code is of more than all values")
	}
	in := bitReader{in: packed[20:]}
	h, err := readCode(&in, int(least), int(most))
	if err != nil {
		return err
	}
	in.toByte()
	if left := int64(len(in.in)) * 8; bits > left || bits <= left-8 {
		return errors.New("its codes have another length")
	}
	return h.decode(out, &in, bits, most)
}

// readCode reads the length of each symbol's code: six bits, of which the highest values
// skip symbols without one.
func readCode(in *bitReader, least, most int) (*huffman, error) {
	lengths := make([]byte, most+1)
	for i := least; i <= most; i++ {
		l, ok := in.take(6)
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		skip := 0
		switch {
		case l == 63:
			n, ok := in.take(8)
			if !ok {
				return nil, io.ErrUnexpectedEOF
			}
			skip = int(n) + 6
		case l >= 59:
			skip = int(l) - 59 + 2
		default:
			lengths[i] = byte(l)
		}
		if skip > 0 {
			if i+skip > most+1 {
				return nil, errors.New("its code is too long")
			}
			i += skip - 1
		}
	}
	return canonical(lengths)
}

// canonical makes the code of the lengths.
func canonical(lengths []byte) (*huffman, error) {
	h := &huffman{}
	for _, l := range lengths {
		h.count[l]++
	}
	h.count[0] = 0
	code, at := uint64(0), 0
	for l := huffLongest; l > 0; l-- {
		h.first[l] = code
		code = (code + h.count[l]) >> 1
	}
	for l := 1; l <= huffLongest; l++ {
		if h.first[l]+h.count[l] > 1<<min(l, 62) {
			return nil, errors.New("its code has more symbols than bits")
		}
		h.start[l] = at
		at += int(h.count[l])
	}
	h.order = make([]uint32, at)
	next := h.start
	for symbol, l := range lengths {
		if l == 0 {
			continue
		}
		place := next[l]
		h.order[place] = uint32(symbol)
		next[l]++
		if l <= huffFast {
			code := h.first[l] + uint64(place-h.start[l])
			for i := range 1 << (huffFast - l) {
				h.fast[code<<(huffFast-l)|uint64(i)] = uint32(symbol)<<6 | uint32(l)
			}
		}
	}
	return h, nil
}

// decode fills out from so many bits, of which none may be left.
func (h *huffman) decode(out []uint16, in *bitReader, bits int64, repeat uint32) error {
	n := 0
	for bits > 0 {
		symbol, length := h.symbol(in.peek())
		if length == 0 || int64(length) > bits {
			return errors.New("it holds no code")
		}
		in.skip(length)
		bits -= int64(length)
		if symbol != repeat {
			if n == len(out) || symbol >= 1<<16 {
				return errors.New("it holds more values")
			}
			out[n] = uint16(symbol)
			n++
			continue
		}
		times := int(in.peek() >> 56)
		in.skip(8)
		if bits -= 8; bits < 0 || n == 0 || times > len(out)-n {
			return errors.New("it repeats too much")
		}
		for range times {
			out[n] = out[n-1]
			n++
		}
	}
	if n != len(out) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// symbol finds the code that the highest bits begin with; length 0 for none.
func (h *huffman) symbol(bits uint64) (symbol uint32, length int) {
	if found := h.fast[bits>>(64-huffFast)]; found != 0 {
		return found >> 6, int(found & 63)
	}
	for l := 1; l <= huffLongest; l++ {
		if code := bits >> (64 - l); h.count[l] > 0 && code >= h.first[l] && code-h.first[l] < h.count[l] {
			return h.order[h.start[l]+int(code-h.first[l])], l
		}
	}
	return 0, 0
}

// bitReader reads bits, the highest of a byte first.
type bitReader struct {
	in   []byte // with the byte of the next bit first
	used int    // bits of it
}

// peek returns the next 64 bits, and zeros after the end.
func (b *bitReader) peek() (bits uint64) {
	if len(b.in) >= 9 {
		bits = binary.BigEndian.Uint64(b.in)
		return bits<<b.used | uint64(b.in[8])>>(8-b.used)
	}
	for i := range 9 {
		v := uint64(0)
		if i < len(b.in) {
			v = uint64(b.in[i])
		}
		if i == 8 {
			return bits<<b.used | v>>(8-b.used)
		}
		bits = bits<<8 | v
	}
	return bits
}

func (b *bitReader) skip(n int) {
	n += b.used
	b.in, b.used = b.in[min(n/8, len(b.in)):], n%8
}

// take reads n bits, up to 32.
func (b *bitReader) take(n int) (bits uint64, ok bool) {
	if len(b.in)*8-b.used < n {
		return 0, false
	}
	bits = b.peek() >> (64 - n)
	b.skip(n)
	return bits, true
}

// toByte leaves the rest of a byte that was begun.
func (b *bitReader) toByte() {
	if b.used > 0 {
		b.skip(8 - b.used)
	}
}
