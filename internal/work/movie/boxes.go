package movie

import "encoding/binary"

// boxes follows the outermost boxes of an MP4 (ISO/IEC 14496-12) while it is written, to tell a
// movie from anything else without decoding it.
type boxes struct {
	head []byte // of the box that begins
	left uint64 // bytes of the box that are still to come
	seen []string
	bad  bool
}

// mostBoxes is far above what Blender writes: four.
const mostBoxes = 64

func (b *boxes) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && !b.bad; {
		if b.left > 0 {
			n := min(b.left, uint64(len(rest)))
			b.left, rest = b.left-n, rest[n:]
			continue
		}
		b.head = append(b.head, rest[0])
		rest = rest[1:]
		b.begin()
	}
	return len(p), nil
}

// begin begins a box once its head is whole: four bytes of size, four of kind, and eight more of
// size where the first say 1.
func (b *boxes) begin() {
	if len(b.head) < 8 {
		return
	}
	size, header := uint64(binary.BigEndian.Uint32(b.head)), uint64(8)
	if size == 1 {
		if header = 16; len(b.head) < 16 {
			return
		}
		size = binary.BigEndian.Uint64(b.head[8:])
	}
	kind := string(b.head[4:8])
	b.head = b.head[:0]
	if b.bad = size < header || len(b.seen) == mostBoxes; !b.bad {
		b.left, b.seen = size-header, append(b.seen, kind)
	}
}

// areMovie reports whether what was written is a whole movie: it says so first, and has one index
// and at least one box of pictures.
func (b *boxes) areMovie() bool {
	count := map[string]int{}
	for _, kind := range b.seen {
		count[kind]++
	}
	return !b.bad && b.left == 0 && len(b.head) == 0 && len(b.seen) > 0 && b.seen[0] == "ftyp" && count["moov"] == 1 && count["mdat"] > 0
}
