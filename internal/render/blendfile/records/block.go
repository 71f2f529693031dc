package records

import (
	"fmt"
	"strings"
)

// block is the head of one block.
type block struct {
	code   string // "DATA", "GLOB", "SC", ...; padding taken off
	index  int    // of the block's struct in the DNA
	addr   uint64
	size   int64 // bytes that follow the head
	count  int64 // structs in it
	offset int64 // of the head in the unpacked stream
}

// maxBlocks bounds the blocks of a file; films have some hundred thousand. Without
// it a highly packed file of empty blocks would keep the scan busy.
const maxBlocks = 1 << 24

// headSize is the size of a block head in bytes: 20 or 24 before 5.0, by the size
// of an address, 32 from then on.
func (h header) headSize() int {
	if h.large {
		return 32
	}
	return 16 + h.pointer
}

// parseHead reads a block head:
//
//	before 5.0   code, length int32, address, struct index int32, count int32
//	from 5.0     code, struct index int32, address, length int64, count int64
func (h header) parseHead(b []byte, offset int64) (block, error) {
	k := block{offset: offset}
	u32 := func(at int) int32 { return int32(h.order.Uint32(b[at:])) }
	if h.large {
		k.index = int(u32(4))
		k.addr = h.address(b[8:])
		k.size, k.count = int64(h.order.Uint64(b[16:])), int64(h.order.Uint64(b[24:]))
	} else {
		k.size = int64(u32(4))
		k.addr = h.address(b[8:])
		k.index, k.count = int(u32(8+h.pointer)), int64(u32(12+h.pointer))
	}
	// Two-letter codes are at either end of the four bytes, depending on byte
	// order.
	k.code = strings.Trim(string(b[:4]), "\x00")
	for _, c := range []byte(k.code) {
		if c < '0' || c > 'z' {
			return k, &DamagedError{Offset: offset, What: fmt.Sprintf("%q is no block code", b[:4])}
		}
	}
	if len(k.code) < 2 {
		return k, &DamagedError{Offset: offset, What: fmt.Sprintf("%q is no block code", b[:4])}
	}
	if k.size < 0 || k.index < 0 || k.count < 0 {
		return k, &DamagedError{Offset: offset, Block: k.code, What: fmt.Sprintf("length %d, struct %d, count %d: one is negative", k.size, k.index, k.count)}
	}
	return k, nil
}
