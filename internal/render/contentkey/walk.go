package contentkey

import "slices"

// reached is what a scene leads to, in the order of a walk from it: first the blocks of the
// scene, then those of the data-blocks that it uses, and so on. The order follows from what
// the blocks contain, not from where they are.
type reached struct {
	*file
	order  []int32 // blocks; those of a data-block follow each other
	parts  []part
	place  []int32 // of each block of the file in order; nowhere where it is not reached
	partOf []int32 // of each data-block of the file, its place in parts; nowhere likewise
}

// part is a data-block that was reached.
type part struct {
	owner       int32
	first, last int // its blocks in order
}

// reach walks from the heads of data-blocks.
func (f *file) reach(heads ...int32) *reached {
	w := &reached{file: f, place: slices.Repeat([]int32{nowhere}, len(f.blocks)), partOf: slices.Repeat([]int32{nowhere}, len(f.owners))}
	for _, head := range heads {
		w.enter(f.blocks[head].owner)
	}
	for i := 0; i < len(w.parts); i++ {
		first := len(w.order)
		w.inside(w.parts[i].owner)
		w.parts[i].first, w.parts[i].last = first, len(w.order)
	}
	return w
}

func (w *reached) enter(owner int32) {
	if w.partOf[owner] == nowhere {
		w.partOf[owner] = int32(len(w.parts))
		w.parts = append(w.parts, part{owner: owner})
	}
}

// inside walks over the blocks that the head of a data-block leads to. Data that it shares
// with others belongs to the first of them.
func (w *reached) inside(owner int32) {
	first := len(w.order)
	w.add(w.owners[owner].first)
	for i := first; i < len(w.order); i++ {
		b := &w.blocks[w.order[i]]
		for _, to := range w.pointers[b.first:b.last] {
			switch {
			case to == nowhere:
			case w.isHead(to):
				w.enter(w.blocks[to].owner)
			default:
				w.add(to)
			}
		}
	}
}

func (w *reached) add(b int32) {
	if w.place[b] == nowhere {
		w.place[b] = int32(len(w.order))
		w.order = append(w.order, b)
	}
}
