package records

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// header is the first line of a .blend: how to read the rest of it.
type header struct {
	version int
	pointer int // bytes of an address: 4 or 8
	order   binary.ByteOrder
	large   bool // block heads of 32 bytes with 64-bit lengths, from 5.0
}

const (
	oldHeaderSize = 12
	newHeaderSize = 17
	newFormat     = "01"
)

// readHeader reads either form of the header:
//
//	BLENDER-v401        pointer size (_ 32, - 64), byte order (v little, V big), version
//	BLENDER17-01v0502   header size, -, format, byte order, version
func readHeader(s *stream) (header, error) {
	var b [newHeaderSize]byte
	if err := s.full(b[:oldHeaderSize]); err != nil {
		if e := looksLikeBlend(b[:s.pos]); e != nil && s.pos > 0 && s.ended(err) {
			return header{}, e
		}
		return header{}, s.fault(err, "", "the file header")
	}
	if err := looksLikeBlend(b[:oldHeaderSize]); err != nil {
		if s.compression != "none" {
			return header{}, fmt.Errorf("%w (inside %s)", err, s.compression)
		}
		return header{}, err
	}
	if b[7] == '_' || b[7] == '-' {
		return oldHeader(b[:oldHeaderSize])
	}
	// The older form has the size of an address here, the newer one its own length
	// in digits.
	if b[7] < '0' || b[7] > '9' {
		return header{}, &DamagedError{Offset: 7, What: fmt.Sprintf("the header says neither 32 nor 64 bit but %q", b[7])}
	}
	if err := s.full(b[oldHeaderSize:]); err != nil {
		return header{}, s.fault(err, "", "the file header")
	}
	return newHeader(b[:])
}

// oldHeader reads the form of all versions before 5.0.
func oldHeader(b []byte) (header, error) {
	h := header{pointer: 8, order: binary.LittleEndian}
	if b[7] == '_' {
		h.pointer = 4
	}
	switch b[8] {
	case 'v':
	case 'V':
		h.order = binary.BigEndian
	default:
		return h, &DamagedError{Offset: 8, What: fmt.Sprintf("the header names no byte order but %q", b[8])}
	}
	return withVersion(h, b[9:], 9)
}

// newHeader reads the form from 5.0 on. It exists only for 64 bits and
// little-endian.
func newHeader(b []byte) (header, error) {
	h := header{pointer: 8, order: binary.LittleEndian, large: true}
	if size, format := string(b[7:9]), string(b[10:12]); size != "17" || b[9] != '-' || format != newFormat || b[12] != 'v' {
		return h, &UnsupportedError{What: fmt.Sprintf("header form %q is not known", b)}
	}
	return withVersion(h, b[13:], 13)
}

// withVersion adds the version, whose digits begin at offset: 277 is 2.77, 401 is
// 4.1.
func withVersion(h header, digits []byte, offset int64) (header, error) {
	for _, c := range digits {
		if c < '0' || c > '9' {
			return h, &DamagedError{Offset: offset, What: fmt.Sprintf("the version is no number but %q", digits)}
		}
	}
	var err error
	if h.version, err = strconv.Atoi(string(digits)); err != nil {
		return h, &DamagedError{Offset: offset, What: "the version is no number", Err: err}
	}
	return h, nil
}

// address reads an old address: where a block lay in the memory of the Blender
// that saved it, which is how blocks refer to each other.
func (h header) address(b []byte) uint64 {
	if h.pointer == 4 {
		return uint64(h.order.Uint32(b))
	}
	return h.order.Uint64(b)
}
