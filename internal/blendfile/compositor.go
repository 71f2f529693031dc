package blendfile

const (
	nodeGroup      = 2   // bNode.type of a node that stands for a tree
	nodeFileOutput = 223 // bNode.type of the compositor's File Output
	nodeMuted      = 1 << 9
	maxTreeNesting = 32 // trees within trees; Blender's own limit on depth is far lower in practice
)

// fileOutputs lists the File Output nodes that the scene's compositor holds,
// those inside of node groups included. The tree is part of the scene up to
// 4.x and a data-block of its own from 5.0.
func (f *file) fileOutputs(r record) []FileOutputNode {
	w := &treeWalk{f: f, trees: map[uint64]int{}, seen: map[uint64]bool{}, nodes: []FileOutputNode{}}
	for k := range f.held(inTree, "bNodeTree").all() {
		w.trees[k.addr] = k.owner
	}
	off := r.int("r.scemode")&sceneUsesCo == 0
	if addr := r.ptr("compositing_node_group"); addr != 0 {
		w.walk(w.tree(addr), off, 0)
	} else {
		w.walk(r.follow("nodetree", "bNodeTree"), off || r.int("use_nodes") == 0, 0)
	}
	return w.nodes
}

// tree finds a node tree that is a data-block of this file. One that was given
// up may hold what is asked for, so its loss is an error.
func (w *treeWalk) tree(addr uint64) record {
	owner, ok := w.trees[addr]
	if h := w.f.held(inTree, "bNodeTree"); !ok && h != nil && h.gone {
		w.f.fail(&TooLargeError{What: "bytes of node trees to keep", Limit: restBudget})
	}
	k, _ := w.f.indexed(inTree).find(owner, addr)
	return w.f.record(k, "bNodeTree")
}

type treeWalk struct {
	f     *file
	trees map[uint64]int // ordinals of the trees that are data-blocks, by address
	seen  map[uint64]bool
	nodes []FileOutputNode
}

func (w *treeWalk) walk(tree record, muted bool, depth int) {
	if tree.l == nil || depth > maxTreeNesting || w.seen[tree.kept.addr] {
		return
	}
	w.seen[tree.kept.addr] = true
	for n := range tree.list("nodes", "bNode") {
		off := muted || n.int("flag")&nodeMuted != 0
		switch n.int("type") {
		case nodeGroup:
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
