package records

import (
	"cmp"
	"slices"
)

// index finds the blocks of one group by data-block and address. Where a damaged
// file has several at one address, the last one counts, as it does to Blender.
type index struct {
	chunks []chunkOf
	places []place // sorted by owner, then address; no two are equal in both
}

// chunkOf is a chunk with the kind that it belongs to, which is needed to read it.
type chunkOf struct {
	held  *held
	bytes []byte
}

// place is where one kept block lies. It is small, since there can be a hundred
// thousand: chunks are at most 16 KiB unless one block is larger, so 16 bits hold
// an offset.
type place struct {
	addr  uint64
	owner uint32
	chunk uint16
	at    uint16 // in the chunk
}

// blocks is how many blocks the data-block of r could reach.
func (f *File) blocks(r Record) int { return len(f.indexed(groupOf(r)).places) }

// indexed returns the index of a group, made on the first use.
func (f *File) indexed(g group) *index {
	if f.index[g] == nil {
		f.index[g] = newIndex(f.keep, g)
	}
	return f.index[g]
}

// newIndex reads all blocks of a group once. If several are at one place it keeps
// the last in the file, which sorting puts first.
func newIndex(k *keeper, g group) *index {
	blocks := 0
	for _, h := range k.inOrder {
		if h.kind.group == g {
			blocks += h.blocks
		}
	}
	x := &index{places: make([]place, 0, blocks)}
	// The kinds are visited in the order of the file, so that equal files give
	// equal answers.
	for _, h := range k.inOrder {
		if h.kind.group != g {
			continue
		}
		for _, c := range h.chunks {
			for at := 0; at < len(c); {
				r, next := h.read(c, at)
				x.places = append(x.places, place{addr: r.addr, owner: uint32(r.owner), chunk: uint16(len(x.chunks)), at: uint16(at)})
				at = next
			}
			x.chunks = append(x.chunks, chunkOf{h, c})
		}
	}
	slices.SortFunc(x.places, func(a, b place) int {
		if c := byOwnerAndAddress(a, b); c != 0 {
			return c
		}
		return cmp.Compare(x.read(b).offset, x.read(a).offset)
	})
	x.places = slices.CompactFunc(x.places, func(a, b place) bool { return byOwnerAndAddress(a, b) == 0 })
	return x
}

// search is where a block at owner and addr stands, or would stand.
func (x *index) search(owner int, addr uint64) (int, bool) {
	return slices.BinarySearchFunc(x.places, place{owner: uint32(owner), addr: addr}, byOwnerAndAddress)
}

// byOwnerAndAddress is the order of an index: all blocks of a data-block are
// adjacent.
func byOwnerAndAddress(a, b place) int {
	return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.addr, b.addr))
}

// find returns the block at an address within a data-block. Addresses of different
// data-blocks may be equal, because a data-block's own are unique only while it is
// written.
func (x *index) find(owner int, addr uint64) (kept, bool) {
	i, ok := x.search(owner, addr)
	if !ok {
		return kept{}, false
	}
	return x.read(x.places[i]), true
}

// first is the first block of a data-block.
func (x *index) first(owner int) (kept, bool) {
	i, _ := x.search(owner, 0)
	if i == len(x.places) || x.places[i].owner != uint32(owner) {
		return kept{}, false
	}
	return x.read(x.places[i]), true
}

// read unpacks the description of a block, but not yet its bytes.
func (x *index) read(p place) kept {
	c := x.chunks[p.chunk]
	k, _ := c.held.read(c.bytes, int(p.at))
	return k
}
