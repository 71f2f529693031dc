package contentkey

// bones are those of a pose, and which of them depend on which. Blender evaluates each after
// those that it depends on, unless they depend on it as well.
type bones struct {
	*reached
	rig      int32 // the object
	channels []int32
	byName   map[string]int
	parent   []int // -1 for none
	chain    []int // bones that one solver moves together have one number
	needs    [][2]int
	handled  map[int32]bool // blocks of constraints that lead to the rig's own bones
}

// boneConstraints are the blocks with which the bones of an object lead to each other, if they do so
// without a circle; none otherwise.
func (w *reached) boneConstraints(rig int32) map[int32]bool {
	b := &bones{reached: w, rig: rig, byName: map[string]int{}, handled: map[int32]bool{}}
	armature := w.pointer(rig, "data")
	if armature == nowhere || w.owners[w.blocks[armature].owner].code != "AR" {
		return nil
	}
	places := map[int32]int{}
	for c := range w.list(w.pointer(w.pointer(rig, "pose"), "chanbase.first")) {
		x := w.extras[c]
		if x == nil {
			return nil
		}
		if _, twice := b.byName[x.name]; twice {
			return nil
		}
		b.byName[x.name], places[c] = len(b.channels), len(b.channels)
		b.channels, b.chain = append(b.channels, c), append(b.chain, len(b.chain))
	}
	for _, c := range b.channels {
		parent := -1
		if p := w.pointer(c, "parent"); p != nowhere {
			at, known := places[p]
			if !known {
				return nil
			}
			parent = at
		}
		b.parent = append(b.parent, parent)
	}
	for bone, c := range b.channels {
		for constraint := range w.list(w.pointer(c, "constraints.first")) {
			if !b.constrained(bone, w.pointer(constraint, "data")) {
				return nil
			}
		}
	}
	if !b.ordered() {
		return nil
	}
	return b.handled
}

// constrained takes a constraint of a bone. It is not ok where a bone that it names is not there.
func (b *bones) constrained(bone int, data int32) bool {
	if data == nowhere {
		return true
	}
	switch of := b.structOf(data); of {
	case "bKinematicConstraint":
		const tip = 1 << 0 // bKinematicConstraint.flag: the bone itself is one of those that move
		b.moveTogether(bone, b.number(data, "rootbone"), b.number(data, "flag")&tip != 0)
		return b.target(bone, data, "tar", "subtarget") && b.target(bone, data, "poletar", "polesubtarget")
	case "bSplineIKConstraint":
		b.moveTogether(bone, b.number(data, "chainlen"), true)
		return b.target(bone, data, "tar", "")
	case "bArmatureConstraint":
		for t := range b.list(b.pointer(data, "targets.first")) {
			if !b.target(bone, t, "tar", "subtarget") {
				return false
			}
		}
		return true
	}
	return b.target(bone, data, "tar", "subtarget")
}

// target notes which bone of the rig a block names, if it names one.
func (b *bones) target(bone int, block int32, object, subtarget string) bool {
	if b.pointer(block, object) != b.rig {
		return true
	}
	needed, ok := b.byName[b.textIn(block, subtarget)]
	if ok {
		b.needs = append(b.needs, [2]int{bone, needed})
		b.handled[block] = true
	}
	return ok
}

// moveTogether notes that a solver moves so many bones that end with one, or with its parent if
// that is not itself one of them; 0 for all.
func (b *bones) moveTogether(bone int, length int64, itself bool) {
	if itself {
		length-- // the first is no further one
	}
	for i := int64(0); b.parent[bone] >= 0 && (length < 0 || length == 0 && !itself || i < length); i++ {
		b.chain[b.root(bone)] = b.root(b.parent[bone])
		bone = b.parent[bone]
	}
}

// root is the bone that stands for those that move together.
func (b *bones) root(bone int) int {
	for b.chain[bone] != bone {
		b.chain[bone] = b.chain[b.chain[bone]]
		bone = b.chain[bone]
	}
	return bone
}

// ordered reports whether bones, those that move together as one, can be put in an order in
// which each follows those that it needs.
func (b *bones) ordered() bool {
	for bone, parent := range b.parent {
		if parent >= 0 && b.root(bone) != b.root(parent) {
			b.needs = append(b.needs, [2]int{bone, parent})
		}
	}
	needs := make([][2]int, len(b.needs))
	for i, n := range b.needs {
		needs[i] = [2]int{b.root(n[0]), b.root(n[1])}
	}
	return inTurn(len(b.channels), needs)
}

// inTurn reports whether things can be put in an order in which each follows those that it needs,
// by pairs of one that needs another.
func inTurn(things int, needs [][2]int) bool {
	waits, needing := make([]int, things), make([][]int, things)
	for _, n := range needs {
		waits[n[0]]++
		needing[n[1]] = append(needing[n[1]], n[0])
	}
	var ready []int
	for thing, n := range waits {
		if n == 0 {
			ready = append(ready, thing)
		}
	}
	left := len(needs)
	for len(ready) > 0 {
		thing := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, next := range needing[thing] {
			left--
			if waits[next]--; waits[next] == 0 {
				ready = append(ready, next)
			}
		}
	}
	return left == 0
}
