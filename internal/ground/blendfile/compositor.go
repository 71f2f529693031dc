package blendfile

const (
	nodeGroup      = 2   // bNode.type of a node that stands for a tree
	nodeFileOutput = 223 // bNode.type of the compositor's File Output
	nodeMuted      = 1 << 9
	maxTreeNesting = 32 // trees within trees; Blender's own limit on depth is far lower in practice
)

// fileOutputs lists the File Output nodes that the scene's compositor holds,
// those inside of node groups included. The tree is part of the scene up to
// 4.x and a data-block of its own from 5.0. A group that is muted in one place
// writes all the same when it is used in another: so muted ones come last.
func (f *file) fileOutputs(r record) []FileOutputNode {
	w := &treeWalk{f: f, trees: map[uint64]int{}, seen: map[int64]bool{}, nodes: []FileOutputNode{}}
	for k := range f.held(inTrees, "bNodeTree").all() {
		w.trees[k.addr] = k.owner
	}
	off := r.int("r.scemode")&sceneUsesCo == 0
	if addr := r.ptr("compositing_node_group"); addr != 0 {
		w.walk(w.tree(addr), off, 0)
	} else {
		w.walk(r.follow("nodetree", "bNodeTree"), off || r.int("use_nodes") == 0, 0)
	}
	for _, addr := range w.muted {
		w.walk(w.tree(addr), true, 1)
	}
	return w.nodes
}

// tree finds a node tree that is a data-block of this file. One that was given
// up may hold what is asked for, so its loss is an error.
func (w *treeWalk) tree(addr uint64) record {
	owner, ok := w.trees[addr]
	if h := w.f.held(inTrees, "bNodeTree"); !ok && h != nil && h.gone {
		w.f.fail(&TooLargeError{What: "bytes of node trees to keep", Limit: needMost})
	}
	k, _ := w.f.indexed(inTrees).first(owner)
	return w.f.record(k, "bNodeTree")
}

// treeWalk is one walk over a compositor's tree and the groups in it. Each tree is
// entered once: groups can contain each other in a damaged file.
type treeWalk struct {
	f     *file
	trees map[uint64]int // ordinals of the trees that are data-blocks, by address; of several the last
	seen  map[int64]bool // trees, by where they stand in the file
	muted []uint64       // trees of muted groups, to be walked last
	nodes []FileOutputNode
}

// walk lists the File Output nodes of one tree. muted reports that a node around it
// is muted, or that the compositor does not run.
func (w *treeWalk) walk(tree record, muted bool, depth int) {
	if tree.l == nil || depth > maxTreeNesting || w.seen[tree.kept.offset] {
		return
	}
	w.seen[tree.kept.offset] = true
	for n := range tree.list("nodes", "bNode") {
		off := muted || n.int("flag")&nodeMuted != 0
		switch n.int("type") {
		case nodeGroup:
			// Another group may use the same tree unmuted, so it is visited after
			// all others.
			if off && !muted {
				w.muted = append(w.muted, n.ptr("id"))
				continue
			}
			w.walk(w.tree(n.ptr("id")), off, depth+1)
		case nodeFileOutput:
			o := FileOutputNode{Name: n.text("name"), Path: outputPath(n), Muted: off}
			if !w.f.spend(len(o.Name) + len(o.Path)) {
				w.f.fail(&TooLargeError{What: "bytes of answer", Limit: answerBudget})
				return
			}
			w.nodes = append(w.nodes, o)
		}
	}
}

// outputPath reads where a File Output node writes: one file up to 2.62, a
// folder after.
func outputPath(n record) string {
	if s := n.follow("storage", "NodeImageMultiFile"); s.l != nil {
		return s.text("base_path")
	}
	return n.follow("storage", "NodeImageFile").text("name")
}
