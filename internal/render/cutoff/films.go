package cutoff

import (
	"encoding/binary"
	"math/bits"
)

// cutMP4 follows the boxes of a film, each with its length and its type. One that has samples
// needs a table of them.
func cutMP4(f file) bool {
	samples, table := false, false
	for from, n := int64(0), 0; n < mostBoxes; n++ {
		box := f.read(from, 16)
		if len(box) < 8 {
			return box != nil && (len(box) > 0 || samples && !table)
		}
		samples = samples || string(box[4:8]) == "mdat"
		table = table || string(box[4:8]) == "moov" || string(box[4:8]) == "moof"
		length := uint64(binary.BigEndian.Uint32(box))
		switch {
		case length == 0: // to the end of the file
			return samples && !table
		case length == 1 && len(box) == 16:
			length = binary.BigEndian.Uint64(box[8:])
		}
		if length < 8 {
			return false
		}
		if length > uint64(f.size-from) {
			return true
		}
		from += int64(length)
	}
	return false
}

// cutMatroska finds the length of the one segment that follows the header. That of a live
// recording is not known.
func cutMatroska(f file) bool {
	header, begin := ebmlLength(f, 4)
	if begin == 0 || header > headBytes/2 {
		return false
	}
	from := begin + int(header)
	if f.number(binary.BigEndian, from, 4) != 0x18538067 {
		return false
	}
	length, begin := ebmlLength(f, from+4)
	return begin > 0 && length > uint64(max(0, f.size-int64(begin)))
}

// ebmlLength reads a length in the head, and where what has it begins; 0 if it is not known. The
// zeros at the front of the first byte tell how many bytes follow it.
func ebmlLength(f file, from int) (length uint64, begin int) {
	more := bits.LeadingZeros8(f.at(from))
	if more > 7 || from+more >= len(f.head) {
		return 0, 0
	}
	length = uint64(f.at(from)) & (1<<(7-more) - 1)
	for i := range more {
		length = length<<8 | uint64(f.at(from+1+i))
	}
	if length == 1<<(7*(more+1))-1 { // all ones
		return 0, 0
	}
	return length, from + more + 1
}
