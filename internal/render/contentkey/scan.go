package contentkey

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc.example/internal/render/blendfile/records"
)

// Bounds of what is kept of a file. With them a scan holds less than 149 MiB, as a reading of
// package blendfile does.
const (
	mostBlocks   = 1 << 20
	mostPointers = 1 << 22
	mostKept     = 32 << 20 // bytes of keys, values, texts and scenes
	mostText     = 256      // bytes of raw data that may be the path of a curve
)

// file is the blocks of a .blend: what each contains, without the addresses in it.
type file struct {
	*shapes
	blocks   []block
	owners   []owner
	pointers []int32 // blocks that those of each block lead to; nowhere for none
	byAddr   []int32 // blocks, sorted by their addresses
	extras   map[int32]*extra
	memory   map[int32]string           // blocks of what has memory, and how people call it
	bases    map[int32]uint32           // the flags of bases, which lead to objects
	shown    map[int32]uint32           // objects that curves hide, and what of these flags follows from that
	items    map[int32]map[string]int32 // of lists by name, as they were looked for
	listed   int                        // items of lists that were walked over
	kept     int

	subversion int64
	namesRead  bool // a node shows names, or things in their order, or can read anything
	buffer     []byte
	sum        [sha256.Size]byte
	hash       hash.Hash
}

const nowhere = -1

// block is one block of the file.
type block struct {
	addr        uint64
	sum         [16]byte // of the members that count, without pointers and those of extra
	first, last uint32   // its pointers
	owner       int32
	index       uint16 // of its struct
}

// owner is a data-block: a head and the blocks of data after it.
type owner struct {
	code, name  string
	first, last int32 // its blocks
}

// extra is what is kept of some blocks.
type extra struct {
	raw       []byte // the first struct, of scenes, view layers, actions and curves; raw data that may be a text
	keys      []key
	values    []byte // one after the other
	forgotten []byte // values without those that curves set; nil where curves set none
	matrices  [16]byte
	spans     []byte
	name      string // of nodes, bones and shape keys; of libraries the path
	kind      string // of nodes
	property  int8   // IDProperty.type, DriverVar.type
	weak      bool   // it stands for data of a library that is loaded only if other data needs it
}

// sieve leaves out the blocks that are no part of any data-block that a picture comes from.
// DATA blocks belong to the data-block before them.
type sieve struct{ open bool }

func (s *sieve) counts(code string) bool {
	if code != "DATA" {
		s.open = !among(code, unsaved+"REND TEST GLOB USER ")
	}
	return s.open
}

// read makes two passes over a file: the first learns its structs and where its blocks are,
// the second what the blocks contain.
func read(open func() (io.ReadCloser, error), o records.Options) (*file, error) {
	f := &file{extras: map[int32]*extra{}, memory: map[int32]string{}, bases: map[int32]uint32{}, shown: map[int32]uint32{}, items: map[int32]map[string]int32{}, buffer: make([]byte, 1<<16), hash: sha256.New()}
	var first, second sieve
	shape, err := pass(open, o, func(b records.Block, _ io.Reader) error {
		if !first.counts(b.Code) {
			return nil
		}
		return f.place(b)
	})
	if err != nil {
		return nil, err
	}
	f.shapes = newShapes(shape)
	f.sort()
	next := 0
	_, err = pass(open, o, func(b records.Block, data io.Reader) error {
		if b.Code == "GLOB" {
			return f.takeGlobal(b, data)
		}
		if !second.counts(b.Code) {
			return nil
		}
		if next == len(f.blocks) || f.blocks[next].addr != b.Addr || f.blocks[next].index != uint16(b.Index) {
			return &records.DamagedError{Block: b.Code, What: "it changed while it was read"}
		}
		next++
		return f.take(int32(next-1), b, data)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func pass(open func() (io.ReadCloser, error), o records.Options, visit func(records.Block, io.Reader) error) (*records.Shape, error) {
	r, err := open()
	if err != nil {
		return nil, fmt.Errorf("open the .blend: %w", err)
	}
	defer func() { _ = r.Close() }()
	return records.Walk(r, o, visit)
}

// place notes where a block is.
func (f *file) place(b records.Block) error {
	if len(f.blocks) == mostBlocks {
		return &records.TooLargeError{What: "blocks", Limit: mostBlocks}
	}
	at := int32(len(f.blocks))
	if b.Code != "DATA" {
		f.owners = append(f.owners, owner{code: b.Code, first: at})
	}
	f.owners[len(f.owners)-1].last = at + 1
	f.blocks = append(f.blocks, block{addr: b.Addr, owner: int32(len(f.owners) - 1), index: uint16(b.Index)})
	return nil
}

// sort makes blocks findable by their addresses. Data of several data-blocks can have one
// address.
func (f *file) sort() {
	f.byAddr = make([]int32, len(f.blocks))
	for i := range f.byAddr {
		f.byAddr[i] = int32(i)
	}
	slices.SortFunc(f.byAddr, func(a, b int32) int {
		return cmp.Or(cmp.Compare(f.blocks[a].addr, f.blocks[b].addr), cmp.Compare(a, b))
	})
}

// at finds the block that an address of an owner leads to: data of its own, a data-block, or,
// where several share it, data of another. Blender clears addresses of which a file has no
// block.
func (f *file) at(addr uint64, from int32) int32 {
	i, found := slices.BinarySearchFunc(f.byAddr, addr, func(b int32, a uint64) int { return cmp.Compare(f.blocks[b].addr, a) })
	if !found || addr == 0 {
		return nowhere
	}
	best := f.byAddr[i]
	for ; i < len(f.byAddr) && f.blocks[f.byAddr[i]].addr == addr; i++ {
		switch b := f.byAddr[i]; {
		case f.blocks[b].owner == from:
			return b
		case f.isHead(b):
			best = b
		}
	}
	return best
}

func (f *file) isHead(b int32) bool { return f.owners[f.blocks[b].owner].first == b }

// takeGlobal notes which Blender saved the file: later ones convert what it has.
func (f *file) takeGlobal(b records.Block, data io.Reader) error {
	l, err := f.of(b.Index)
	if err != nil || l.name != "FileGlobal" || int64(l.size) > b.Size {
		return err
	}
	raw := make([]byte, l.size)
	if _, err := io.ReadFull(data, raw); err != nil {
		return err
	}
	f.subversion = f.integer(l, raw, "subversion")
	return nil
}

// take learns what a block contains.
func (f *file) take(at int32, b records.Block, data io.Reader) error {
	l, err := f.of(b.Index)
	if err != nil {
		return err
	}
	block := &f.blocks[at]
	block.first = uint32(len(f.pointers))
	f.hash.Reset()
	f.hash.Write(l.schema[:])
	binary.LittleEndian.PutUint64(f.sum[:], uint64(b.Size))
	f.hash.Write(f.sum[:8])
	if l.size == 0 || int64(l.size) > b.Size {
		err = f.takeRaw(at, b.Size, data)
	} else {
		err = f.takeStructs(at, l, b.Size, data)
	}
	if err != nil {
		return err
	}
	if len(f.pointers) > mostPointers {
		return &records.TooLargeError{What: "addresses", Limit: mostPointers}
	}
	if f.kept > mostKept {
		return &records.TooLargeError{What: "bytes of animation", Limit: mostKept}
	}
	block.last = uint32(len(f.pointers))
	copy(block.sum[:], f.hash.Sum(f.sum[:0]))
	return nil
}

// takeRaw takes data of no struct. Words that are addresses of blocks count as pointers.
func (f *file) takeRaw(at int32, size int64, data io.Reader) error {
	lowest, highest := f.blocks[f.byAddr[0]].addr, f.blocks[f.byAddr[len(f.byAddr)-1]].addr
	for left := size; left > 0; {
		b := f.buffer[:min(int64(len(f.buffer)), left)]
		if _, err := io.ReadFull(data, b); err != nil {
			return err
		}
		left -= int64(len(b))
		for i := 0; i+f.Pointer <= len(b); i += f.Pointer {
			addr := f.Address(b[i:])
			if addr < lowest || addr > highest || addr == 0 {
				continue
			}
			if to := f.at(addr, f.blocks[at].owner); to != nowhere {
				clear(b[i : i+f.Pointer])
				f.pointers = append(f.pointers, to)
				_, _ = fmt.Fprint(f.hash, left, " ", i, ";")
			}
		}
		f.hash.Write(b)
		if size <= mostText && isText(b) {
			f.keep(at, len(b)).raw = slices.Clone(b)
		}
	}
	return nil
}

// isText reports whether data can be the path of a curve: some letters, ended by a zero.
func isText(b []byte) bool {
	end := bytes.IndexByte(b, 0)
	return end > 0 && !bytes.ContainsFunc(b[:end], unicode.IsControl) && utf8.Valid(b[:end])
}

// takeStructs takes an array of structs, and what is left after the last whole one.
func (f *file) takeStructs(at int32, l *layout, size int64, data io.Reader) error {
	if len(f.buffer) < l.size {
		f.buffer = make([]byte, l.size)
	}
	whole := len(f.buffer) / l.size * l.size
	for left := size; left > 0; {
		b := f.buffer[:min(int64(whole), left)]
		if _, err := io.ReadFull(data, b); err != nil {
			return err
		}
		for ; len(b) >= l.size; b = b[l.size:] {
			f.takeStruct(at, l, b[:l.size], left == size)
			left -= int64(l.size)
		}
		f.hash.Write(b)
		left -= int64(len(b))
	}
	return nil
}

// takeStruct takes one struct; first is set in the first buffer of a block.
func (f *file) takeStruct(at int32, l *layout, b []byte, first bool) {
	own := f.ownMask(l, b)
	still := l.adt != nowhere && f.Address(b[l.adt:]) == 0 // no curve sets what it has
	for _, m := range l.members {
		v := b[m.offset : m.offset+m.size]
		switch {
		case m.kind == pointer:
			f.pointers = append(f.pointers, f.at(f.Address(v), f.blocks[at].owner))
		case m.kind == matrix:
			x := f.keep(at, 16)
			sum := sha256.Sum256(append(x.matrices[:], v...))
			copy(x.matrices[:], sum[:])
		case m.kind == span:
			x := f.keep(at, len(v))
			x.spans = append(x.spans, v...)
		case m.kind == value && !still:
			x := f.keep(at, len(v))
			x.values = append(x.values, v...)
		case m.kind == shown:
			f.bases[at] = uint32(f.integer(l, b, m.path)) &^ m.mask
			f.kept += 40
		case m.kind == path:
			before, _, _ := bytes.Cut(v, []byte{0})
			f.hash.Write(append(slices.Clone(before), 0))
		case m.path == own.path:
			f.hash.Write(masked(v, own.mask, f.Order))
		case m.mask != 0:
			f.hash.Write(masked(v, m.mask, f.Order))
		default:
			f.hash.Write(v)
		}
	}
	if first {
		f.look(at, l, b)
	}
	if l.name == "BezTriple" && f.owners[f.blocks[at].owner].code == "AC" {
		x := f.keep(at, keySize)
		x.keys = append(x.keys, f.key(l, b))
	}
}

// ownMask is a member of which the rest of the struct says that bits do not count.
func (f *file) ownMask(l *layout, b []byte) (m member) {
	switch {
	case l.name == "bNodeSocket" && strings.Contains(computedSockets, "|"+text(l, b, "identifier")+"|"):
		return member{path: "flag", mask: unavailable}
	case l.name == "IDProperty" && f.integer(l, b, "type") == propertyGroup:
		return member{path: "len", mask: math.MaxUint32} // it follows from the list: see unread.go
	}
	return m
}

// masked clears bits of a flag.
func masked(v []byte, mask uint32, order binary.ByteOrder) []byte {
	var b [4]byte
	switch len(v) {
	case 2:
		order.PutUint16(b[:], order.Uint16(v)&^uint16(mask))
	case 4:
		order.PutUint32(b[:], order.Uint32(v)&^mask)
	default:
		return v
	}
	return b[:len(v)]
}

// look keeps of a struct what is needed to judge others.
func (f *file) look(at int32, l *layout, b []byte) {
	o := &f.owners[f.blocks[at].owner]
	if o.first == at {
		o.name = cmp.Or(text(l, b, "id.name"), text(l, b, "name"))
	}
	switch l.name {
	case "Scene", "ViewLayer", "bAction", "FCurve", "ChannelDriver", "bActionGroup", "FModifier", "FMod_Limits", "FMod_Stepped", "NodeShaderAttribute", "NlaStrip":
		f.keep(at, len(b)).raw = slices.Clone(b)
	case "IDProperty":
		name := text(l, b, "name")
		x := f.keep(at, len(name))
		x.name, x.property = name, int8(f.integer(l, b, "type"))
	case "ID":
		const linkedWeakly = 1 << 1 // ID.flag
		f.keep(at, 0).weak = f.integer(l, b, "flag")&linkedWeakly != 0
	case "Library", "bNode", "bPoseChannel", "bConstraint", "KeyBlock", "DriverVar":
		if l.name == "bNode" && among(text(l, b, "idname"), readsNames) {
			f.namesRead = true
		}
		name, kind := text(l, b, "name"), ""
		if l.name == "bNode" {
			kind = text(l, b, "idname")
		}
		x := f.keep(at, len(name)+len(kind))
		x.name, x.kind = name, kind
		if l.name == "DriverVar" {
			x.property = int8(f.integer(l, b, "type"))
		}
	}
	if l.name == "bConstraintTarget" || l.constraint {
		f.keep(at, len(b)).raw = slices.Clone(b)
	}
	if strings.HasSuffix(l.name, "ModifierData") {
		name := text(l, b, "modifier.name")
		f.keep(at, len(name)).name = name
	}
	if what := f.remembers(l, b); what != "" {
		f.memory[at] = what
	}
}

// keep is what is kept of a block, which takes so many bytes more.
func (f *file) keep(at int32, bytes int) *extra {
	x := f.extras[at]
	if x == nil {
		x = &extra{}
		f.extras[at] = x
		f.kept += 176
	}
	f.kept += bytes
	return x
}
