package blendfile

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"svc.example/internal/ground/blendfile/dna"
)

// file is a scanned .blend: the DNA, and the kept blocks to read by it.
type file struct {
	header header
	dna    *dna.DNA
	keep   *keeper
	global record
	index  map[group]*index // made when asked for
	lost   map[string]bool  // structs of which some were given up, outside of the scene
	steps  int              // addresses followed: see at
	most   int              // steps
	answer int              // bytes of the answer that blocks could share: see spend
	links  *links
	reach  *reach // what the picture comes from; nil = not known
	err    error  // the first fault; what is read after it is not used
}

// minSteps bounds the addresses that are followed, so that lists which share
// their tails, as no Blender writes them, cost no more than they are long. A file of
// more blocks than half of it has twice as many steps as blocks that it keeps. A struct
// counts once more for each stepBytes that it has.
const (
	minSteps  = 1 << 18
	stepBytes = 256
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

// answerBudget bounds the parts of the answer that are made of blocks which many
// others may point to: without it a small file could give a huge answer.
const answerBudget = 2 << 20

// spend takes n bytes and the cost of an entry from the answer's budget, and
// reports whether they were left.
func (f *file) spend(n int) bool {
	f.answer += n + 2*factCost
	return f.answer <= answerBudget
}

// newFile makes a file of a finished scan. Only now, with the DNA, can kept blocks
// be read.
func newFile(s *scan) *file {
	f := &file{header: s.header, dna: s.dna, keep: s.keep, index: map[group]*index{}, lost: map[string]bool{}, most: minSteps, links: &s.links}
	blocks := 0
	for _, h := range s.keep.inOrder {
		blocks += h.blocks
	}
	f.most = max(minSteps, 2*blocks)
	if s.global.size > 0 {
		f.global = f.record(s.global, "FileGlobal")
	}
	return f
}

// fail notes the first fault. Reading goes on and gives zero values, which keeps
// the readers of members free of error handling; gather then returns the fault
// instead of the facts.
func (f *file) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// record reads a kept block as struct as. It is empty when the block is of
// another struct.
func (f *file) record(k kept, as string) record {
	if f.dna.StructName(k.index) != as {
		return record{}
	}
	l, err := f.dna.Layout(as)
	if err != nil {
		f.fail(&DamagedError{Offset: k.offset, Block: k.code, What: err.Error()})
		return record{}
	}
	if k.size < int64(l.Size) {
		f.fail(&DamagedError{Offset: k.offset, Block: k.code, What: fmt.Sprintf("%d bytes cannot hold a %s of %d", k.size, as, l.Size)})
		return record{}
	}
	return record{f: f, l: l, kept: k, bytes: k.first(l.Size)}
}

// facts yields the data-blocks of a code that were kept whole.
func (f *file) facts(code, as string) iter.Seq[record] {
	return func(yield func(record) bool) {
		for k := range f.keep.kinds[kind{group: inFacts, code: code}].all() {
			if r := f.record(k, as); r.l != nil && !yield(r) {
				return
			}
		}
	}
}

// dataBlock finds the data-block of a code at an address, in this file or, with
// the code ID, standing for one in a library. Of several the last one counts.
func (f *file) dataBlock(code string, addr uint64) (kept, bool) {
	last, found := kept{}, false
	for _, c := range []string{code, "ID"} {
		for k := range f.keep.kinds[kind{group: inFacts, code: c}].all() {
			if addr != 0 && k.addr == addr && k.offset >= last.offset {
				last, found = k, true
			}
		}
	}
	return last, found
}

// held is what is kept of a struct in a group, nil when there is nothing.
func (f *file) held(g group, as string) *held {
	i, ok := f.dna.Index(as)
	if !ok {
		return nil
	}
	return f.keep.kinds[kind{group: g, index: i}]
}

// everywhere yields the data of a struct in all groups, and notes when some of
// it was given up.
func (f *file) everywhere(as string) iter.Seq[record] {
	return func(yield func(record) bool) {
		for _, g := range []group{inScene, inTree, inOther} {
			h := f.held(g, as)
			if h != nil && h.gone {
				f.lost[as] = true
			}
			for k := range h.all() {
				if r := f.record(k, as); r.l != nil && !yield(r) {
					return
				}
			}
		}
	}
}

// groupOf is the group that the data of r's data-block was kept in.
func groupOf(r record) group {
	switch {
	case r.kept.group == inFacts && r.kept.code == "SC":
		return inScene
	case r.kept.group == inTrees:
		return inTree
	}
	return r.kept.group
}

// at finds the struct at an address within the data-block of r. What was given
// up cannot be distinguished from what was never there, so then the facts are not to be
// had: a scene is whole or an error.
func (f *file) at(r record, addr uint64, as string) record {
	if addr == 0 {
		return record{}
	}
	if f.steps > f.most {
		f.fail(&TooLargeError{What: "addresses to follow", Limit: int64(f.most)})
		return record{}
	}
	f.steps++
	g := groupOf(r)
	if k, ok := f.indexed(g).find(r.kept.owner, addr); ok && f.dna.StructName(k.index) == as {
		// A large struct costs more to unpack than a step, so it counts as several.
		found := f.record(k, as)
		f.steps += len(found.bytes) / stepBytes
		return found
	}
	if h := f.held(g, as); h != nil && h.gone {
		f.fail(&TooLargeError{What: "bytes of scene data to keep", Limit: needMost})
	}
	return record{}
}

// raw finds the bytes at an address within the data-block of r, whatever they
// are declared to be: text of free length is stored so.
func (f *file) raw(r record, addr uint64) []byte {
	if k, ok := f.indexed(groupOf(r)).find(r.kept.owner, addr); ok && addr != 0 {
		return k.data()
	}
	return nil
}

// blocks is how many blocks the data-block of r could reach.
func (f *file) blocks(r record) int { return len(f.indexed(groupOf(r)).places) }

// indexed returns the index of a group, made on the first use.
func (f *file) indexed(g group) *index {
	if f.index[g] == nil {
		f.index[g] = newIndex(f.keep, g)
	}
	return f.index[g]
}

// newIndex reads all blocks of a group once. Of several at one place it keeps the
// last in the file, which sorting puts first.
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

// byOwnerAndAddress is the order of an index: all blocks of a data-block stand
// together.
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

// ownerName is the name of the data-block that a record belongs to, "" when the
// name was given up.
func (f *file) ownerName(r record) string {
	if r.kept.group == inFacts {
		return r.name()
	}
	// A name is kept apart from the data only for data-blocks that are not facts
	// themselves.
	for _, g := range []group{inNames, inFacts} {
		if k, ok := f.indexed(g).first(r.kept.owner); ok {
			return f.headName(k)
		}
	}
	f.lost["ID"] = true
	return ""
}

// headName reads the name from the first bytes of a data-block, whatever struct
// it is: all begin with an ID.
func (f *file) headName(k kept) string {
	l, err := f.dna.Layout("ID")
	if l == nil || err != nil {
		return ""
	}
	return record{f: f, l: l, kept: k, bytes: k.first(l.Size)}.name()
}
