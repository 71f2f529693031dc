package records

import (
	"fmt"
	"strings"

	"svc.example/internal/render/blendfile/dna"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/render/blendfile/zeros"
)

const (
	maxGlobal    = 64 << 10 // bytes of the block of global settings; real ones have 1.2 KiB
	maxDNA       = 1 << 20  // bytes of the DNA; real ones have 40 to 140 KiB
	maxThumbnail = 512      // pixels a side; Blender writes 128 or 256
	maxNoted     = 1 << 15  // words of scenes; a scene has a few hundred
)

// scan walks over all blocks once and keeps what the facts may need. Which
// structs those are is known only after the DNA, at the end of the file; so it
// chooses by what is known at once: the code of the data-block, the length of
// the block, and whether a scene speaks of its address.
type scan struct {
	*stream
	header header
	keep   *keeper
	dna    *dna.DNA
	global kept
	thumb  *Thumbnail
	blocks int
	// owner changes with every data-block; the blocks come in the order in which
	// Blender wrote them.
	owner   owner
	idents  int                 // data-blocks so far
	inScene map[uint64]struct{} // every word of every scene: cameras are among them
	buffer  []byte
	links   Links
}

// owner is the data-block that DATA blocks belong to: the last one before them.
// Nothing in a DATA block names it.
type owner struct {
	block
	ordinal int    // among the data-blocks, from 1; 0 = none yet
	head    []byte // its first bytes, until they are kept
	group   group
	skip    bool // none of its data is of use
	named   bool // its head is kept where its name is looked for
}

func newScan(s *stream, h header, budget *memory.Budget) *scan {
	return &scan{stream: s, header: h, keep: newKeeper(budget), inScene: map[uint64]struct{}{}, buffer: make([]byte, keepPrefix),
		links: Links{pointer: h.pointer, high: h.large, order: h.order}}
}

// run reads to the end mark. A stream that ends without one is complete if it
// has the DNA: Blender takes such files too.
func (s *scan) run() error { return s.each(s.take) }

// each shows every block up to the end mark, as run says. What is left of a block's data is
// skipped.
func (s *scan) each(show func(block) error) error {
	head := make([]byte, s.header.headSize())
	for {
		at := s.pos
		if err := s.full(head); err != nil {
			return s.end(err, "", "a block head")
		}
		b, err := s.header.parseHead(head, at)
		if err != nil {
			return err
		}
		if b.code == "ENDB" {
			return s.end(nil, "", "")
		}
		if s.blocks++; s.blocks > maxBlocks {
			return &TooLargeError{What: "blocks", Limit: maxBlocks}
		}
		behind := s.pos + b.size
		if err := show(b); err != nil {
			return err
		}
		if err := s.skip(behind - s.pos); err != nil {
			return s.end(err, b.code, fmt.Sprintf("block %q", b.code))
		}
	}
}

// end judges the end of the blocks, which is regular when err is nil. A stream that
// ends early is accepted once the DNA was read.
func (s *scan) end(err error, code, what string) error {
	switch {
	case err != nil && (s.dna == nil || !s.ended(err)):
		return s.fault(err, code, what)
	case s.dna == nil:
		return &DamagedError{Offset: s.pos, Block: "ENDB", What: "it ends without DNA1, the block that describes all others"}
	}
	return nil
}

// read reads the first n bytes of a block's data into p, or all if there are
// fewer. A stream that ends there is found by the skip that follows: it finds
// nothing more to read.
func (s *scan) read(b block, limit int64) ([]byte, error) {
	n := min(b.size, limit)
	if int64(len(s.buffer)) < n {
		s.buffer = make([]byte, n)
	}
	data := s.buffer[:n]
	if err := s.full(data); err != nil {
		return nil, s.end(err, b.code, fmt.Sprintf("block %q", b.code))
	}
	return data, nil
}

// take keeps of a block what may be needed. It may leave bytes unread.
func (s *scan) take(b block) error {
	if b.code == "DATA" {
		return s.takeData(b)
	}
	if err := s.endID(); err != nil {
		return err
	}
	switch b.code {
	case "DNA1":
		return s.takeDNA(b)
	case "GLOB":
		data, err := s.read(b, maxGlobal)
		if err != nil || data == nil {
			return err
		}
		s.global = kept{block: b, length: len(data), packed: zeros.Pack(nil, data)}
		return nil
	case "TEST":
		return s.takeThumbnail(b)
	case "REND", "USER":
		return nil
	}
	return s.takeID(b)
}

// takeDNA reads the DNA. A second one would make the first's readings wrong, so it
// is an error.
func (s *scan) takeDNA(b block) error {
	if s.dna != nil {
		return &DamagedError{Offset: b.offset, Block: b.code, What: "there is a second one"}
	}
	if b.size > maxDNA {
		return &TooLargeError{What: "bytes of DNA", Limit: maxDNA}
	}
	raw := make([]byte, b.size)
	if err := s.full(raw); err != nil {
		return s.fault(err, b.code, `block "DNA1"`)
	}
	d, err := dna.Parse(raw, s.header.order, s.header.pointer)
	if err != nil {
		return &DamagedError{Offset: b.offset, Block: b.code, What: err.Error()}
	}
	s.dna = d
	return nil
}

// takeThumbnail reads the preview: width, height, then RGBA rows from the
// bottom. One that does not hold what it says is no preview, as in Blender.
func (s *scan) takeThumbnail(b block) error {
	if b.size < 8 {
		return nil
	}
	head, err := s.read(b, 8)
	if err != nil || head == nil {
		return err
	}
	w, h := int(int32(s.header.order.Uint32(head))), int(int32(s.header.order.Uint32(head[4:])))
	if w <= 0 || h <= 0 || w > maxThumbnail || h > maxThumbnail || b.size < int64(8+4*w*h) {
		return nil
	}
	rgba := make([]byte, 4*w*h)
	if err := s.full(rgba); err != nil {
		return s.end(err, b.code, "the preview picture")
	}
	s.thumb = &Thumbnail{Width: w, Height: h, rgba: rgba}
	return nil
}

// factCodes are the data-blocks that are facts themselves: scenes, windows, images,
// libraries, texts, fonts, sounds, caches, volumes, clips, and what stands for
// a data-block in a library.
const factCodes = " SC WM IM LI TX VF SO CF VO MC ID "

// dumbCodes are data-blocks whose data holds no fact: workspaces and screens,
// brushes and palettes, and text, font and sound contents.
const dumbCodes = " WS SN SR BR PL PC TX VF SO ID "

// headCodes are data-blocks that say whether they are hidden or made of nodes, particle
// settings, which say what moves, and textures, which often have no data that would keep
// their name.
const headCodes = " OB GR TE MA WO LA PA "

// among reports whether codes contains code between spaces.
func among(code, codes string) bool { return strings.Contains(codes, " "+code+" ") }

// takeID begins a data-block: it decides what is kept of its head and of the data
// that follows. Its own head is kept for its name until the first of its data is
// kept: most data-blocks have none that matters.
func (s *scan) takeID(b block) error {
	s.idents++
	s.owner = owner{block: b, ordinal: s.idents, group: inOther, skip: among(b.code, dumbCodes), head: s.owner.head[:0]}
	switch b.code {
	case "SC":
		s.owner.group = inScene
	case "NT":
		s.owner.group = inTree
	}
	oldScreen := s.header.version < 240 && (b.code == "SR" || b.code == "SN")
	fact := among(b.code, factCodes) || oldScreen || (b.code == "OB" && s.mayBeCamera(b.addr))
	if !fact && s.owner.skip {
		return nil
	}
	data, err := s.read(b, keepPrefix)
	if err != nil || data == nil {
		return err
	}
	s.links.begin(b, s.owner.ordinal, data)
	if !s.keep.memory.Hold(s.keep.held() + s.links.size()) {
		return ErrBusy
	}
	if b.code == "SC" {
		s.note(data)
	}
	s.owner.head = append(s.owner.head, data[:min(len(data), namePrefix)]...)
	s.owner.named = fact || b.code == "NT" || among(b.code, headCodes)
	if among(b.code, headCodes) {
		if err := s.keep.add(kind{group: inHeads, code: b.code}, s.owner.ordinal, b, data); err != nil {
			return err
		}
	}
	if b.code == "NT" {
		return s.keep.add(kind{group: inTrees, index: b.index}, s.owner.ordinal, b, data)
	}
	if fact {
		return s.keep.add(kind{group: inFacts, code: b.code}, s.owner.ordinal, b, data)
	}
	return nil
}

// endID ends a data-block: only what follows it at once is its data. One without data
// still has a name.
func (s *scan) endID() error {
	s.links.end()
	o := s.owner
	s.owner = owner{head: o.head[:0]}
	if len(o.head) == 0 || o.named {
		return nil
	}
	return s.keep.add(kind{group: inNames, code: o.code}, o.ordinal, o.block, o.head)
}

// mayBeCamera reports whether a scene speaks of the address. Before the first
// scene, and with more scenes than are noted, any object may be a camera.
func (s *scan) mayBeCamera(addr uint64) bool {
	_, spoken := s.inScene[addr]
	return spoken || len(s.inScene) == 0 || len(s.inScene) >= maxNoted
}

// note remembers every word of a scene that could be an address.
func (s *scan) note(data []byte) {
	for ; len(s.inScene) < maxNoted && len(data) >= s.header.pointer; data = data[s.header.pointer:] {
		if a := s.header.address(data); a != 0 {
			s.inScene[a] = struct{}{}
		}
	}
}

// takeData keeps a block of the current data-block's data. In data-blocks other
// than scenes and trees, large blocks are geometry.
func (s *scan) takeData(b block) error {
	o := &s.owner
	if o.ordinal == 0 || o.skip || b.size == 0 {
		return nil
	}
	limit := int64(keepPrefix)
	switch {
	case o.code == "LI":
		limit = packedPrefix
	case o.group == inOther && b.size > keepPrefix:
		return nil
	}
	data, err := s.read(b, limit)
	if err != nil || data == nil {
		return err
	}
	if len(o.head) > 0 {
		if err := s.keep.add(kind{group: inNames, code: o.code}, o.ordinal, o.block, o.head); err != nil {
			return err
		}
		o.head = o.head[:0]
	}
	s.links.add(b, data)
	return s.keep.add(kind{group: o.group, index: b.index}, o.ordinal, b, data)
}
