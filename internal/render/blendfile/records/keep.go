package records

import (
	"encoding/binary"
	"iter"

	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/render/blendfile/zeros"
)

// The memory bound. What waits for the DNA is held to these, in bytes. What a scene may
// need has a budget that grows with the bytes that were read: what a sound file says
// takes more room in the file than here.
const (
	needBudget   = 6 << 20   // facts, scenes and node trees: this, and a byte for each that was read, ...
	needMost     = 106 << 20 // ... but at most the largest upload more; beyond: see keeper.need
	factCost     = 64        // what each fact counts besides its bytes: it becomes a part of the answer
	indexCost    = 32        // what each other block counts besides its bytes, for its index entry
	restBudget   = 3 << 20   // the data of everything else; beyond: the largest kind of block goes
	maxKinds     = 1 << 13   // kinds of blocks; a version has some thousand structs
	keepPrefix   = 16 << 10  // of one block; every struct that is read is far smaller
	namePrefix   = 512       // of a data-block that is kept for its name only
	packedPrefix = 64        // of the data of libraries: a packed one is a file of its own
	firstChunk   = 1 << 10
	lastChunk    = 16 << 10
)

// group says why a block is kept.
type group uint8

const (
	inFacts group = iota // data-blocks that are facts themselves
	inScene              // data of scenes
	inTrees              // node trees that are data-blocks
	inTree               // their data
	inOther              // data of the rest
	inNames              // data-blocks whose data is kept, for their name
	inHeads              // see headCodes
)

// kind is the unit of eviction: blocks of one struct in one group. What is evicted
// is lost whole, so that a list is complete or known to be partial.
type kind struct {
	group group
	code  string // of the data-block, in inFacts, inNames and inHeads
	index int    // of the struct, in the others
}

// held is all blocks of one kind, packed one after the other in few large chunks: a
// slice for each block would cost more memory than most blocks.
type held struct {
	kind   kind
	chunks [][]byte
	bytes  int // allocated
	blocks int
	gone   bool
}

// needed reports whether the blocks of a group may say what a scene is.
func (g group) needed() bool { return g != inOther && g != inNames && g != inHeads }

// keeper holds packed blocks within the memory bound.
type keeper struct {
	kinds   map[kind]*held
	inOrder []*held      // the kinds as they came, since a map has no order
	need    int          // bytes and costs of the groups that are needed
	rest    int          // those of the others
	memory  memory.Share // on the memory of all inspections
	scratch []byte
}

func newKeeper(of *memory.Budget) *keeper {
	return &keeper{kinds: map[kind]*held{}, memory: memory.Share{Of: of}}
}

// add keeps data, the first bytes of block b, which belongs to data-block owner.
// Errors: a TooLargeError, since facts are never evicted: without them there is no
// answer; ErrBusy.
func (k *keeper) add(key kind, owner int, b block, data []byte) error {
	h := k.kinds[key]
	if h == nil {
		if len(k.kinds) == maxKinds {
			return &TooLargeError{What: "kinds of blocks", Limit: maxKinds}
		}
		h = &held{kind: key}
		k.kinds[key] = h
		k.inOrder = append(k.inOrder, h)
	}
	// Once evicted, a kind stays evicted: a list of which the middle is missing
	// would look whole.
	if h.gone {
		return nil
	}
	s := k.scratch[:0]
	for _, v := range []uint64{uint64(owner), b.addr, uint64(b.index), uint64(b.size), uint64(b.count), uint64(b.offset), uint64(len(data))} {
		s = binary.AppendUvarint(s, v)
	}
	s = zeros.Pack(s, data)
	k.scratch = s
	grown := h.append(s) + indexCost
	if key.group == inFacts {
		grown += factCost - indexCost
	}
	if key.group.needed() {
		k.need += grown
	} else {
		k.rest += grown
	}
	budget := min(needMost, needBudget+b.offset)
	for int64(k.need) > budget {
		if !k.evict(group.needed) {
			return &TooLargeError{What: "bytes of data-block heads to keep", Limit: budget}
		}
	}
	for k.rest > restBudget {
		k.evict(func(g group) bool { return !g.needed() })
	}
	if !k.memory.Hold(k.held()) {
		return ErrBusy
	}
	return nil
}

// held is how many bytes are kept.
func (k *keeper) held() int { return k.need + k.rest }

// append stores one packed block after its length, and returns how many bytes of
// memory that took. Chunks grow with the kind, so that rare kinds stay small.
func (h *held) append(s []byte) int {
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(s)))
	grown := 0
	if len(h.chunks) == 0 || cap(h.chunks[len(h.chunks)-1])-len(h.chunks[len(h.chunks)-1]) < n+len(s) {
		size := max(min(max(firstChunk, h.bytes), lastChunk), n+len(s))
		h.chunks = append(h.chunks, make([]byte, 0, size))
		h.bytes += size
		grown = size
	}
	h.blocks++
	last := &h.chunks[len(h.chunks)-1]
	*last = append(append(*last, length[:n]...), s...)
	return grown
}

// evict gives up the kind that takes most, of those in the given groups, and reports
// whether there was one. Facts stay. If two take as much, the one that came first
// goes.
func (k *keeper) evict(from func(group) bool) bool {
	var largest *held
	for _, h := range k.inOrder {
		if h.kind.group != inFacts && from(h.kind.group) && !h.gone && (largest == nil || h.cost() > largest.cost()) {
			largest = h
		}
	}
	if largest == nil {
		return false
	}
	if largest.kind.group.needed() {
		k.need -= largest.cost()
	} else {
		k.rest -= largest.cost()
	}
	*largest = held{kind: largest.kind, gone: true}
	return true
}

// cost is what a kind that is no fact takes of its budget.
func (h *held) cost() int { return h.bytes + h.blocks*indexCost }

// kept is one block that was kept; its bytes are still packed.
type kept struct {
	block
	group  group
	owner  int // ordinal of the data-block it belongs to
	length int // of the kept bytes, unpacked
	packed []byte
}

// data unpacks all bytes that were kept of the block.
func (r kept) data() []byte { return r.first(r.length) }

// first is the first n bytes, or all if there are fewer.
func (r kept) first(n int) []byte { return zeros.Unpack(r.packed, min(n, r.length)) }

// all yields the blocks of a kind in the file's order.
func (h *held) all() iter.Seq[kept] {
	return func(yield func(kept) bool) {
		if h == nil {
			return
		}
		for _, chunk := range h.chunks {
			for at := 0; at < len(chunk); {
				r, next := h.read(chunk, at)
				if !yield(r) {
					return
				}
				at = next
			}
		}
	}
}

// read reads the packed block at a place of a chunk, and returns where the next
// one is.
func (h *held) read(chunk []byte, at int) (kept, int) {
	n, w := binary.Uvarint(chunk[at:])
	end := at + w + int(n)
	b := chunk[at+w : end]
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	r := kept{group: h.kind.group, owner: int(next())}
	r.code, r.addr, r.index = h.kind.code, next(), int(next())
	r.size, r.count, r.offset = int64(next()), int64(next()), int64(next())
	r.length = int(next())
	r.packed = b
	return r, end
}
