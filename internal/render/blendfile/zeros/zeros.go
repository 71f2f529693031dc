// Package zeros packs bytes that are mostly zeros.
//
// Blocks of a .blend wait for the DNA, which is at its end, as runs of zeros and the bytes
// between them: structs are mostly empty text and unset pointers.
//
//	(count of literal bytes, the bytes, count of zeros) ...    counts are uvarints
//
// What always holds: Unpack is the inverse of Pack. It trusts what it unpacks, which never
// comes from a file. Start reading at Pack.
package zeros

import "encoding/binary"

// minZeros is the shortest run of zeros worth its two counts.
const minZeros = 4

// Pack appends b to dst in packed form.
func Pack(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		start, zeros := i, 0
		for ; i < len(b) && zeros < minZeros; i++ {
			if b[i] == 0 {
				zeros++
			} else {
				zeros = 0
			}
		}
		literal := b[start : i-zeros]
		for ; i < len(b) && b[i] == 0; i++ {
			zeros++
		}
		dst = binary.AppendUvarint(dst, uint64(len(literal)))
		dst = append(dst, literal...)
		dst = binary.AppendUvarint(dst, uint64(zeros))
	}
	return dst
}

// Unpack is the inverse of Pack for the first size bytes, of which
// there must be as many.
func Unpack(b []byte, size int) []byte {
	out := make([]byte, size)
	at := 0
	for len(b) > 0 && at < size {
		n, k := binary.Uvarint(b)
		b = b[k:]
		at += copy(out[at:], b[:n])
		b = b[n:]
		n, k = binary.Uvarint(b)
		b = b[k:]
		at += int(n)
	}
	return out
}
