package records

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Links are the words of data-blocks that may be addresses of other data-blocks. Which
// are is known at the end, when all addresses and the DNA are: package reach finds out. They
// are held to linksBudget; beyond it nothing is known about who uses what.
type Links struct {
	Nodes []Node // in the file's order
	Words []Link
	Gone  bool // there were too many

	pointer int  // bytes
	high    bool // addresses have all bits
	order   binary.ByteOrder
	current int    // where the words of the current data-block begin
	owner   uint32 // the current one; 0 = it has no links
	own     []uint64
	only    bool // of its data only arrays of addresses count: it is geometry
}

// Node is a data-block.
type Node struct {
	Addr    uint64
	Ordinal uint32 // from 1 in the file's order
	code    [2]byte
}

// Code is the two letters that say what the data-block is.
func (n Node) Code() string { return strings.TrimRight(string(n.code[:]), "\x00") }

// Link is a word at a place of a data-block.
type Link struct {
	To    uint64
	From  uint32 // ordinal
	Index uint16 // of the struct that it stands in
	At    uint16 // byte in the block
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
func (l *Links) begin(b block, ordinal int, head []byte) {
	l.end()
	if l.Gone {
		return
	}
	n := Node{Addr: b.addr, Ordinal: uint32(ordinal)}
	copy(n.code[:], b.code)
	l.Nodes = append(l.Nodes, n)
	if l.size() > linksBudget {
		*l = Links{Gone: true}
		return
	}
	if among(b.code, unlinkedCodes) {
		return
	}
	l.owner, l.only = n.Ordinal, among(b.code, geometryCodes)
	l.add(b, head)
}

// add takes the words of a block of the current data-block.
func (l *Links) add(b block, data []byte) {
	if l.owner == 0 || l.Gone || b.index > 1<<16-1 {
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
			l.Words = append(l.Words, Link{To: w, From: l.owner, Index: uint16(b.index), At: uint16(at)})
		}
	}
	if l.size() > linksBudget {
		*l = Links{Gone: true}
	}
}

// size is how many bytes are kept.
func (l *Links) size() int { return linkCost*(len(l.Words)+len(l.Nodes)) + 8*len(l.own) }

// addresses reports whether a block can be an array of addresses, as those of materials.
func (l *Links) addresses(data []byte) bool {
	for at := 0; at+l.pointer <= len(data); at += l.pointer {
		if w := l.word(data[at:]); w != 0 && !l.possible(w) {
			return false
		}
	}
	return true
}

// possible reports whether a word can be an address. Those of files before 5.0 are of
// memory, which has 48 bits.
func (l *Links) possible(w uint64) bool { return w >= leastWord && (l.high || w>>48 == 0) }

func (l *Links) word(b []byte) uint64 {
	if l.pointer == 4 {
		return uint64(l.order.Uint32(b))
	}
	return l.order.Uint64(b)
}

// end drops the words that lead to the data-block's own data, which most do.
func (l *Links) end() {
	if l.owner == 0 {
		return
	}
	slices.Sort(l.own)
	kept := l.Words[:l.current]
	for _, w := range l.Words[l.current:] {
		if _, own := slices.BinarySearch(l.own, w.To); !own {
			kept = append(kept, w)
		}
	}
	l.Words, l.current, l.own, l.owner = kept, len(kept), l.own[:0], 0
}
