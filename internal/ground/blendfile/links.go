package blendfile

import (
	"encoding/binary"
	"slices"
)

// links are the words of data-blocks that may be addresses of other data-blocks. Which
// are is known at the end, when all addresses and the DNA are: see graph.go. They are
// held to linksBudget; beyond it nothing is known about who uses what.
type links struct {
	pointer int  // bytes
	high    bool // addresses have all bits
	order   binary.ByteOrder
	nodes   []node
	words   []link // of finished data-blocks, then of the current one
	current int    // where those of the current one begin
	owner   uint32 // the current one; 0 = it has no links
	own     []uint64
	only    bool // of its data only arrays of addresses count: it is geometry
	gone    bool
}

// node is a data-block.
type node struct {
	addr    uint64
	ordinal uint32
	code    [2]byte
}

// link is a word at a place of a data-block.
type link struct {
	to    uint64
	from  uint32 // ordinal
	index uint16 // of the struct that it stands in
	at    uint16 // byte in the block
}

const (
	linksBudget = 3 << 20 // bytes; a sound file takes some hundred for each object
	linkCost    = 16
	leastWord   = 1 << 12 // lower words are numbers
)

// unlinkedCodes are data-blocks whose data refers to no other that a picture needs:
// files, animation curves, and scenes, which are read by name.
const unlinkedCodes = " SC IM LI TX VF SO CF VO MC ID AC IP WM WS SN SR BR PL PC GD "

// geometryCodes are data-blocks whose data is numbers, apart from arrays of materials.
const geometryCodes = " ME CU CV LT MB HA PT "

// begin starts a data-block.
func (l *links) begin(b block, ordinal int, head []byte) {
	l.end()
	if l.gone {
		return
	}
	n := node{addr: b.addr, ordinal: uint32(ordinal)}
	copy(n.code[:], b.code)
	l.nodes = append(l.nodes, n)
	if l.size() > linksBudget {
		*l = links{gone: true}
		return
	}
	if among(b.code, unlinkedCodes) {
		return
	}
	l.owner, l.only = n.ordinal, among(b.code, geometryCodes)
	l.add(b, head)
}

// add takes the words of a block of the current data-block.
func (l *links) add(b block, data []byte) {
	if l.owner == 0 || l.gone || b.index > 1<<16-1 {
		return
	}
	if b.code == "DATA" {
		l.own = append(l.own, b.addr)
		array := b.index == 0
		if l.only && !array || array && !l.addresses(data) {
			return
		}
	}
	for at := 0; at+l.pointer <= len(data); at += l.pointer {
		if w := l.word(data[at:]); l.possible(w) {
			l.words = append(l.words, link{to: w, from: l.owner, index: uint16(b.index), at: uint16(at)})
		}
	}
	if l.size() > linksBudget {
		*l = links{gone: true}
	}
}

// size is how many bytes are kept.
func (l *links) size() int { return linkCost*(len(l.words)+len(l.nodes)) + 8*len(l.own) }

// addresses reports whether a block can be an array of addresses, as those of materials.
func (l *links) addresses(data []byte) bool {
	for at := 0; at+l.pointer <= len(data); at += l.pointer {
		if w := l.word(data[at:]); w != 0 && !l.possible(w) {
			return false
		}
	}
	return true
}

// possible reports whether a word can be an address. Those of files before 5.0 are of
// memory, which has 48 bits.
func (l *links) possible(w uint64) bool { return w >= leastWord && (l.high || w>>48 == 0) }

func (l *links) word(b []byte) uint64 {
	if l.pointer == 4 {
		return uint64(l.order.Uint32(b))
	}
	return l.order.Uint64(b)
}

// end drops the words that lead to the data-block's own data, which most do.
func (l *links) end() {
	if l.owner == 0 {
		return
	}
	slices.Sort(l.own)
	kept := l.words[:l.current]
	for _, w := range l.words[l.current:] {
		if _, own := slices.BinarySearch(l.own, w.to); !own {
			kept = append(kept, w)
		}
	}
	l.words, l.current, l.own, l.owner = kept, len(kept), l.own[:0], 0
}
