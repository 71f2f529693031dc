package cutoff

import (
	"bytes"
	"encoding/binary"
)

// cutRIFF follows the chunks of a WAV, an AVI or a WebP, each with its length; a large film has
// several. A WAV that is written as a stream has a larger number than a file can have.
func cutRIFF(f file) bool {
	for from, n := int64(0), 0; n < mostBoxes; n++ {
		chunk := f.read(from, 8)
		if len(chunk) < 8 || from > 0 && string(chunk[:4]) != "RIFF" {
			return false
		}
		length := binary.LittleEndian.Uint32(chunk[4:])
		if length >= 1<<31 {
			return false
		}
		if from += 8 + int64(length); f.lacks(from) {
			return true
		}
	}
	return false
}

// cutOgg finds the last page, whose table of segments says how long it is. A page has less than
// 64 KiB.
func cutOgg(f file) bool {
	const header = 27
	begin := max(0, f.size-tailBytes)
	tail := f.read(begin, tailBytes)
	at := bytes.LastIndex(tail, []byte("OggS\x00"))
	if at < 0 {
		return false
	}
	page := tail[at:]
	if len(page) < header {
		return true
	}
	length := header + int(page[header-1])
	if len(page) < length {
		return true
	}
	for _, n := range page[header:length] {
		length += int(n)
	}
	return len(page) < length
}

// cutFLAC passes over the blocks of remarks, and finds the last frames, which are numbered. The
// header says how many samples there are.
func cutFLAC(f file) bool {
	from, last := int64(4), false
	for n := 0; !last && n < mostBoxes; n++ {
		block := f.read(from, 4)
		if len(block) < 4 {
			return block != nil
		}
		last = block[0] >= 0x80
		from += 4 + int64(binary.BigEndian.Uint32(block)&0xffffff)
	}
	if f.lacks(from+1) || f.at(4)&0x7f != 0 {
		return f.lacks(from + 1)
	}
	return f.lacksFrames()
}

// lacksFrames looks for two frames in a row near the end, since one alone may be an accident.
func (f file) lacksFrames() bool {
	least, most := f.number(binary.BigEndian, 8, 2), f.number(binary.BigEndian, 10, 2)
	samples := f.number(binary.BigEndian, 18, 8) & (1<<36 - 1)
	if samples == 0 || least != most || least < 16 { // unknown, or frames of several lengths
		return false
	}
	tail := f.read(max(0, f.size-tailBytes), tailBytes)
	last, found := uint64(0), false
	for i, before := 0, uint64(0); i+16 < len(tail); i++ {
		number, ok := flacFrame(tail[i:])
		if !ok {
			continue
		}
		if number == before+1 && before > 0 {
			last, found = number, true
		}
		before = number
	}
	return found && (last+1)*least < samples
}

// flacFrame reads the number of a frame of fixed length from its header, which has a checksum of
// its own.
func flacFrame(p []byte) (number uint64, ok bool) {
	if p[0] != 0xff || p[1] != 0xf8 || p[2]>>4 == 0 || p[2]&0xf == 0xf || p[3]&1 != 0 {
		return 0, false
	}
	// The number is written as UTF-8 writes a letter, with up to seven bytes.
	at, first := 5, p[4]
	switch ones := leadingOnes(first); {
	case ones == 0:
		number = uint64(first)
	case ones == 1 || ones > 6:
		return 0, false
	default:
		number = uint64(first) & (1<<(7-ones) - 1)
		for range ones - 1 {
			if p[at]>>6 != 2 {
				return 0, false
			}
			number = number<<6 | uint64(p[at]&0x3f)
			at++
		}
	}
	at += map[byte]int{6: 1, 7: 2}[p[2]>>4] + map[byte]int{12: 1, 13: 2, 14: 2}[p[2]&0xf]
	return number, at < len(p) && crc8(p[:at]) == p[at]
}

func leadingOnes(b byte) (n int) {
	for ; b&0x80 != 0; b <<= 1 {
		n++
	}
	return n
}

func crc8(p []byte) (sum byte) {
	for _, b := range p {
		sum ^= b
		for range 8 {
			if carry := sum & 0x80; carry != 0 {
				sum = sum<<1 ^ 0x07
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}

// cutMP3 reads what encoders write into the first frame: how many bytes all frames have. Tags
// come before and after them.
func cutMP3(f file) bool {
	const tag, frame, counted = 10, 40, 2
	from := int64(0)
	if string(f.at8(0)[:3]) == "ID3" { // its length has seven bits in each byte
		for _, b := range f.at8(6)[:4] {
			from = from<<7 | int64(b&0x7f)
		}
		from += tag
	}
	if f.lacks(from + 4) {
		return f.lacks(from)
	}
	head := f.read(from, headBytes)
	for _, name := range []string{"Xing", "Info"} {
		at := bytes.Index(head[:min(len(head), 4*frame)], []byte(name))
		if at < 4 || len(head) < at+16 || head[0] != 0xff {
			continue
		}
		flags := binary.BigEndian.Uint32(head[at+4:])
		if flags&counted == 0 {
			return false
		}
		size := head[at+8:]
		if flags&1 != 0 { // the number of frames comes first
			size = size[4:]
		}
		const largest = 1441 // of a frame: encoders differ in whether they count the first one
		return f.lacks(from + int64(binary.BigEndian.Uint32(size)) - largest)
	}
	return false
}
