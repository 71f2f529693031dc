package contentkey

// circular reports whether what moves one thing may depend on another that depends on it, so
// that the picture may begin with the matrices and the values in the file: where pointers lead
// from an object over others back to it, a bone needs another that needs it, or a driver reads
// what may come from what it sets.
func (w *reached) circular() bool {
	if w.drivesScene() {
		return true
	}
	const (
		unseen = iota
		open
		closed
	)
	c := &circles{reached: w, drivers: w.drivers(), turn: map[int]bool{}, bones: map[int]map[int32]bool{}}
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
			from := w.order[at.block]
			b := &w.blocks[from]
			if int(b.first)+at.pointer == int(b.last) {
				at.block, at.pointer = at.block+1, 0
				continue
			}
			to := w.pointers[int(b.first)+at.pointer]
			at.pointer++
			next, counts := c.leads(at.part, from, to)
			switch {
			case counts && state[next] == open:
				return true
			case counts && state[next] == unseen:
				state[next] = open
				stack = append(stack, step{part: next, block: w.parts[next].first})
			}
		}
	}
	return false
}

// circles looks for what depends on itself.
type circles struct {
	*reached
	drivers driven
	turn    map[int]bool           // driven.inTurn by parts
	bones   map[int]map[int32]bool // boneConstraints by the parts of rigs
}

// leads reports whether a pointer of a block of a part can make the part depend on another, or
// on itself in a circle.
func (c *circles) leads(part int, from, to int32) (next int, counts bool) {
	if to == nowhere || !c.isHead(to) {
		return 0, false
	}
	next = int(c.partOf[c.blocks[to].owner])
	itself := next == part
	switch of := c.structOf(from); {
	case of == "DriverVar":
		return next, !itself || !c.readsProperties(from) || !c.drivenInTurn(part)
	case of == "Key", !c.moves(part, c.drivers), !c.moves(next, c.drivers):
		return next, false
	case itself:
		return next, c.isObject(part) && !c.turns(part, to)[from]
	}
	return next, true
}

func (c *circles) drivenInTurn(part int) bool {
	ok, known := c.turn[part]
	if !known {
		ok = c.drivers.inTurn(part)
		c.turn[part] = ok
	}
	return ok
}

// turns are the constraints of the bones of a part that make no circle.
func (c *circles) turns(part int, rig int32) map[int32]bool {
	if _, known := c.bones[part]; !known {
		c.bones[part] = c.boneConstraints(rig)
	}
	return c.bones[part]
}

// moves reports whether a part can make things move: scenes, what shows them and what colours
// them do not. Shape keys follow from nothing else, unless drivers set them. That they name the
// mesh that has them does not count.
func (w *reached) moves(part int, drivers driven) bool {
	code := w.owners[w.parts[part].owner].code
	return !among(code, " SC MA WO TE IM KE CA LA ") || code == "KE" && drivers[part] != nil
}

func (w *reached) isObject(part int) bool { return w.owners[w.parts[part].owner].code == "OB" }

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
