package blendfile

import "encoding/binary"

// Blocks wait for the DNA, which stands at the end, as runs of zeros and the
// bytes between them: structs are mostly empty text and unset pointers.
//
//	(count of literal bytes, the bytes, count of zeros) ...    counts are uvarints

// minZeros is the shortest run of zeros worth its two counts.
const minZeros = 4

// packZeros appends b to dst in packed form.
func packZeros(dst, b []byte) []byte {
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

// unpackZeros is the inverse of packZeros for the first size bytes, of which
// there must be as many.
func unpackZeros(b []byte, size int) []byte {
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
