package contentkey

// circular reports whether what moves one thing may depend on another that depends on it, so
// that the picture may begin with the matrices in the file: with drivers, or where pointers
// lead from an object over others back to it.
func (w *reached) circular() bool {
	if w.driven() {
		return true
	}
	const (
		unseen = iota
		open
		closed
	)
	state := make([]uint8, len(w.parts))
	type step struct{ part, block, pointer int }
	for start := range w.parts {
		if state[start] != unseen {
			continue
		}
		state[start] = open
		stack := []step{{part: start, block: w.parts[start].first}}
		for len(stack) > 0 {
			at := &stack[len(stack)-1]
			if at.block == w.parts[at.part].last {
				state[at.part] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			b := &w.blocks[w.order[at.block]]
			if int(b.first)+at.pointer == int(b.last) {
				at.block, at.pointer = at.block+1, 0
				continue
			}
			to := w.pointers[int(b.first)+at.pointer]
			at.pointer++
			if to == nowhere || !w.isHead(to) {
				continue
			}
			next := int(w.partOf[w.blocks[to].owner])
			if !w.moves(at.part) || !w.moves(next) || next == at.part && !w.isObject(next) {
				continue
			}
			switch state[next] {
			case open:
				return true
			case unseen:
				state[next] = open
				stack = append(stack, step{part: next, block: w.parts[next].first})
			}
		}
	}
	return false
}

// moves reports whether a part can make things move: scenes and what colours them do not.
// Shape keys name the mesh that has them, and follow from nothing else.
func (w *reached) moves(part int) bool {
	return !among(w.owners[w.parts[part].owner].code, " SC MA WO TE IM KE ")
}

func (w *reached) isObject(part int) bool { return w.owners[w.parts[part].owner].code == "OB" }

// driven reports whether there is a driver.
func (w *reached) driven() bool {
	for _, b := range w.order {
		if w.structOf(b) == "ChannelDriver" {
			return true
		}
	}
	return false
}

// freestyle reports whether Freestyle draws lines, with scripts if the scene has any.
func (w *reached) freestyle() bool {
	const edges = 1 << 25 // RenderData.mode: R_EDGE_FRS
	return w.number(w.order[0], "r.mode")&edges != 0
}

// stamped reports whether the picture shows facts of the scene as text.
func (w *reached) stamped() bool {
	const drawn = 1 << 6 // RenderData.stamp: R_STAMP_DRAW
	return w.number(w.order[0], "r.stamp")&drawn != 0
}
