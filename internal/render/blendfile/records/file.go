package records

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"

	"svc.example/internal/render/blendfile/dna"
)

// File is a .blend that was read: what was kept of its blocks, to be read by its DNA. Not
// safe for concurrent use.
type File struct {
	// Version is as in the header: 277, 401, 502.
	Version int
	// Pointer is the bytes of an address, 4 or 8.
	Pointer int
	// BigEndian is the order of the bytes.
	BigEndian bool
	// Global is the file's settings, struct FileGlobal; empty where the file has none.
	Global Record
	// Thumbnail is the file's preview; nil when the file carries none.
	Thumbnail *Thumbnail
	// Links says which data-block may use which.
	Links *Links
	// Lost has the structs of which some were given up, outside of the scene. Code
	// that cuts a list of the answer adds what it is made of.
	Lost map[string]bool

	stream *stream
	header header
	dna    *dna.DNA
	keep   *keeper
	index  map[group]*index // made when asked for
	trees  map[uint64]int   // ordinals of the node trees that are data-blocks, by address
	steps  int              // addresses followed: see At
	most   int              // steps
	err    error            // the first fault; what is read after it is not used
}

// minSteps bounds the addresses that are followed, so that lists which share
// their tails, as no Blender writes them, cost no more than they are long. A file of
// more blocks than half of it has twice as many steps as blocks that it keeps. A struct
// counts once more for each stepBytes that it has.
const (
	minSteps  = 1 << 18
	stepBytes = 256
)

// Open reads r forward up to the end mark, though it may have read two buffers of 64 KiB
// beyond. The caller closes the file. Errors are those of blendfile.Inspect.
func Open(r io.Reader, o Options) (*File, error) {
	s, err := openStream(r, o.withDefaults())
	if err != nil {
		return nil, err
	}
	f, err := read(s, o)
	if err != nil {
		s.close()
		return nil, err
	}
	return f, nil
}

// read is Open of a stream that is left to the caller when there is an error.
func read(s *stream, o Options) (*File, error) {
	h, err := readHeader(s)
	if err != nil {
		return nil, err
	}
	blocks := newScan(s, h, o.Memory)
	if err := blocks.run(); err != nil {
		blocks.keep.memory.End()
		return nil, err
	}
	return newFile(blocks), nil
}

// newFile makes a file of a finished scan. Only now, with the DNA, can kept blocks
// be read.
func newFile(s *scan) *File {
	s.links.end()
	f := &File{
		Version: s.header.version, Pointer: s.header.pointer, BigEndian: s.header.order == binary.BigEndian,
		Thumbnail: s.thumb, Links: &s.links, Lost: map[string]bool{},
		stream: s.stream, header: s.header, dna: s.dna, keep: s.keep, index: map[group]*index{},
	}
	blocks := 0
	for _, h := range s.keep.inOrder {
		blocks += h.blocks
	}
	f.most = max(minSteps, 2*blocks)
	if s.global.size > 0 {
		f.Global = f.record(s.global, "FileGlobal")
	}
	return f
}

// Close gives the memory back. The reader that the file was opened from stays open.
func (f *File) Close() {
	f.stream.close()
	f.keep.memory.End()
}

// ReadAll reads what follows the end mark, to the reader's end. The error is the
// reader's own.
func (f *File) ReadAll() error { return f.stream.drain() }

// Compression is how the file is packed: "none", "gzip" or "zstd".
func (f *File) Compression() string { return f.stream.compression }

// Unpacked is how many bytes of the unpacked stream were read.
func (f *File) Unpacked() int64 { return f.stream.pos }

// Kept is how many bytes the file holds in memory.
func (f *File) Kept() int { return f.keep.held() + f.Links.size() }

// Again resets the bound on followed addresses to that of a new file, for another query of
// the same file.
func (f *File) Again() { f.steps = 0 }

// Address reads an address.
func (f *File) Address(b []byte) uint64 { return f.header.address(b) }

// Layout is that of the struct that blocks name by a number; nil without an error when
// there is none. Errors say what contradicts itself.
func (f *File) Layout(index int) (*dna.Layout, error) { return f.dna.Layout(f.dna.StructName(index)) }

// LayoutOf is Layout by a struct's name.
func (f *File) LayoutOf(name string) (*dna.Layout, error) { return f.dna.Layout(name) }

// Fail notes the first fault. Reading continues and gives zero values, which
// keeps the readers of members free of error handling; Err then returns the
// fault.
func (f *File) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Err is the first fault. When it is not nil, nothing that was read may be used.
func (f *File) Err() error { return f.err }

// record reads a kept block as struct as. It is empty when the block is of
// another struct.
func (f *File) record(k kept, as string) Record {
	if f.dna.StructName(k.index) != as {
		return Record{}
	}
	l, err := f.dna.Layout(as)
	if err != nil {
		f.Fail(&DamagedError{Offset: k.offset, Block: k.code, What: err.Error()})
		return Record{}
	}
	if k.size < int64(l.Size) {
		f.Fail(&DamagedError{Offset: k.offset, Block: k.code, What: fmt.Sprintf("%d bytes cannot hold a %s of %d", k.size, as, l.Size)})
		return Record{}
	}
	return Record{f: f, l: l, kept: k, bytes: k.first(l.Size)}
}

// Facts yields the data-blocks of a code that were kept whole.
func (f *File) Facts(code, as string) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for k := range f.keep.kinds[kind{group: inFacts, code: code}].all() {
			if r := f.record(k, as); r.OK() && !yield(r) {
				return
			}
		}
	}
}

// DataBlock finds the data-block of a code at an address and reads it as struct as. The
// record is empty where it is of another struct, such as an ID, which stands for one in a
// library; found is false where there is none.
func (f *File) DataBlock(code, as string, addr uint64) (r Record, found bool) {
	k, found := f.dataBlock(code, addr)
	return f.record(k, as), found
}

// DataBlockName is the name of the data-block of a code at an address, in this file or in
// a library; "" when there is none.
func (f *File) DataBlockName(code string, addr uint64) string {
	k, found := f.dataBlock(code, addr)
	if !found {
		return ""
	}
	return f.headName(k)
}

// dataBlock finds the data-block of a code at an address, in this file or, with
// the code ID, standing for one in a library. If there are several, the last
// one counts.
func (f *File) dataBlock(code string, addr uint64) (kept, bool) {
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
func (f *File) held(g group, as string) *held {
	i, ok := f.dna.Index(as)
	if !ok {
		return nil
	}
	return f.keep.kinds[kind{group: g, index: i}]
}

// Part is a part of the file whose data is kept, and given up, apart from that of others.
type Part group

// The parts: data of scenes, of node trees that are data-blocks, and everything
// else.
const (
	InScenes = Part(inScene)
	InTrees  = Part(inTree)
	InOthers = Part(inOther)
)

// DataIn yields the data of a struct in a part, without noting what was given up.
func (f *File) DataIn(p Part, as string) iter.Seq[Record] { return f.in(group(p), as) }

// BlocksIn is how many blocks of a struct were kept in a part.
func (f *File) BlocksIn(p Part, as string) int {
	if h := f.held(group(p), as); h != nil {
		return h.blocks
	}
	return 0
}

// GoneIn reports whether one of some structs was given up in a part.
func (f *File) GoneIn(p Part, structs ...string) bool {
	return slices.ContainsFunc(structs, func(as string) bool {
		h := f.held(group(p), as)
		return h != nil && h.gone
	})
}

// DataAt finds the struct at an address within a data-block of a part. It is empty where
// there is none or it was given up. The caller bounds how often it asks.
func (f *File) DataAt(p Part, owner uint32, addr uint64, as string) Record {
	if k, ok := f.indexed(group(p)).find(int(owner), addr); ok && addr != 0 {
		return f.record(k, as)
	}
	return Record{}
}

// InTrees yields the data of a struct in all node trees that are data-blocks.
func (f *File) InTrees(as string) iter.Seq[Record] { return f.in(inTree, as) }

// Everywhere yields the data of a struct in all groups, and notes when some of
// it was given up.
func (f *File) Everywhere(as string) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, g := range []group{inScene, inTree, inOther} {
			if h := f.held(g, as); h != nil && h.gone {
				f.Lost[as] = true
			}
			for r := range f.in(g, as) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// in yields the data of a struct in one group.
func (f *File) in(g group, as string) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for k := range f.held(g, as).all() {
			if r := f.record(k, as); r.OK() && !yield(r) {
				return
			}
		}
	}
}

// Gone reports whether a struct of r's data was given up, and notes it. Otherwise a
// cut list read from r would look like an empty one.
func (f *File) Gone(r Record, structs ...string) bool {
	for _, as := range structs {
		if h := f.held(groupOf(r), as); h != nil && h.gone {
			f.Lost[as] = true
			return true
		}
	}
	return false
}

// groupOf is the group that the data of r's data-block was kept in.
func groupOf(r Record) group {
	switch {
	case r.kept.group == inFacts && r.kept.code == "SC":
		return inScene
	case r.kept.group == inFacts:
		return inOther
	case r.kept.group == inTrees:
		return inTree
	}
	return r.kept.group
}

// At finds the struct at an address within the data-block of r. What was given up
// cannot be distinguished from what was never there, so then there are no facts: a
// scene is whole or an error.
func (f *File) At(r Record, addr uint64, as string) Record {
	if addr == 0 {
		return Record{}
	}
	if f.steps > f.most {
		f.Fail(&TooLargeError{What: "addresses to follow", Limit: int64(f.most)})
		return Record{}
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
		f.Fail(&TooLargeError{What: "bytes of scene data to keep", Limit: needMost})
	}
	return Record{}
}

// Raw finds the bytes at an address within the data-block of r, whatever they
// are declared to be: text of free length is stored so.
func (f *File) Raw(r Record, addr uint64) []byte {
	if k, ok := f.indexed(groupOf(r)).find(r.kept.owner, addr); ok && addr != 0 {
		return k.data()
	}
	return nil
}

// Place is where the bytes at an address within the data-block of r are in the unpacked
// file; ok is false when there are none.
func (f *File) Place(r Record, addr uint64) (offset, size int64, ok bool) {
	k, ok := f.indexed(groupOf(r)).find(r.kept.owner, addr)
	return k.offset + int64(f.header.headSize()), k.size, ok && addr != 0
}

// Tree finds a node tree that is a data-block of this file. One that was given
// up may hold what is asked for, so its loss is an error.
func (f *File) Tree(addr uint64) Record {
	h := f.held(inTrees, "bNodeTree")
	if f.trees == nil {
		f.trees = map[uint64]int{}
		for k := range h.all() {
			f.trees[k.addr] = k.owner
		}
	}
	owner, ok := f.trees[addr]
	if !ok && h != nil && h.gone {
		f.Fail(&TooLargeError{What: "bytes of node trees to keep", Limit: needMost})
	}
	k, _ := f.indexed(inTrees).first(owner)
	return f.record(k, "bNodeTree")
}

// Head reads the object, collection, texture or particle settings of an ordinal as struct as. It is empty
// when there is none, or it was given up.
func (f *File) Head(ordinal uint32, as string) Record {
	k, ok := f.indexed(inHeads).first(int(ordinal))
	if !ok {
		return Record{}
	}
	return f.record(k, as)
}

// Heads yields those of Head of a code, in the file's order. whole is false where they were
// given up.
func (f *File) Heads(code, as string) (heads iter.Seq[Record], whole bool) {
	held := f.keep.kinds[kind{group: inHeads, code: code}]
	return func(yield func(Record) bool) {
		for k := range held.all() {
			if r := f.record(k, as); r.OK() && !yield(r) {
				return
			}
		}
	}, held == nil || !held.gone
}

// OwnerName is the name of the data-block that a record belongs to, "" when the
// name was given up.
func (f *File) OwnerName(r Record) string {
	if r.kept.group == inFacts {
		return r.Name()
	}
	// A name is kept apart from the data only for data-blocks that are not facts
	// themselves.
	if name, ok := f.name(r.kept.owner, inNames, inFacts); ok {
		return name
	}
	f.Lost["ID"] = true
	return ""
}

// NameOf is the name of the data-block of an ordinal, "" when it was given up.
func (f *File) NameOf(ordinal uint32) string {
	name, _ := f.name(int(ordinal), inNames, inHeads, inFacts, inTrees)
	return name
}

// name looks a data-block up in some groups.
func (f *File) name(ordinal int, groups ...group) (string, bool) {
	for _, g := range groups {
		if k, ok := f.indexed(g).first(ordinal); ok {
			return f.headName(k), true
		}
	}
	return "", false
}

// headName reads the name from the first bytes of a data-block, for any struct:
// all begin with an ID.
func (f *File) headName(k kept) string {
	l, err := f.dna.Layout("ID")
	if l == nil || err != nil {
		return ""
	}
	return Record{f: f, l: l, kept: k, bytes: k.first(l.Size)}.Name()
}
