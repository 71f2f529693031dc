package blendfile

import (
	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
)

const (
	nodeGroup      = 2   // bNode.type of a node that stands for a tree
	nodeFileOutput = 223 // bNode.type of the compositor's File Output
	viewsApart     = 0   // ImageFormatData.views_format: each view has a file
)

// fileOutputs lists the File Output nodes that the compositors of scenes hold,
// those inside of node groups included. The tree is part of the scene up to
// 4.x and a data-block of its own from 5.0. A group that is muted in one place
// writes all the same when it is used in another: so muted ones come last.
func (f *file) fileOutputs(active records.Record, composited []records.Record) []FileOutputNode {
	w := &treeWalk{f: f, seen: map[int64]bool{}, nodes: []FileOutputNode{}}
	for _, r := range composited {
		w.compositor(r, r.Int("r.scemode")&reach.SceneComposites == 0)
	}
	w.compositor(active, true) // where it does not run
	for _, addr := range w.muted {
		w.walk(f.Tree(addr), true, 1)
	}
	return w.nodes
}

// treeWalk is one walk over a compositor's tree and the groups in it. Each tree is
// entered once: groups can contain each other in a damaged file.
type treeWalk struct {
	f     *file
	seen  map[int64]bool // trees, by where they stand in the file
	muted []uint64       // trees of muted groups, to be walked last
	nodes []FileOutputNode
	views int // of the scene whose compositor it is; 1 where it has the camera's alone
}

func (w *treeWalk) compositor(r records.Record, off bool) {
	w.views = 0
	for range rendered(r) {
		w.views++
	}
	w.views = max(1, w.views)
	if addr := r.Ptr("compositing_node_group"); addr != 0 {
		w.walk(w.f.Tree(addr), off, 0)
		return
	}
	w.walk(r.Follow("nodetree", "bNodeTree"), off || r.Int("use_nodes") == 0, 0)
}

// walk lists the File Output nodes of one tree. muted reports that a node around it
// is muted, or that the compositor does not run.
func (w *treeWalk) walk(tree records.Record, muted bool, depth int) {
	if !tree.OK() || depth > reach.MaxNesting || w.seen[tree.Offset()] {
		return
	}
	w.seen[tree.Offset()] = true
	linked := linkedOutputs(tree)
	for n := range tree.List("nodes", "bNode") {
		off := muted || n.Int("flag")&reach.NodeMuted != 0
		switch n.Int("type") {
		case nodeGroup:
			// Another group may use the same tree unmuted, so it is visited after
			// all others.
			if off && !muted {
				w.muted = append(w.muted, n.Ptr("id"))
				continue
			}
			w.walk(w.f.Tree(n.Ptr("id")), off, depth+1)
		case nodeFileOutput:
			o := FileOutputNode{Name: n.Text("name"), Path: outputPath(n), Muted: off, Files: filesOf(n, linked, w.views)}
			if !w.f.spend(len(o.Name) + len(o.Path)) {
				w.f.Fail(&TooLargeError{What: "bytes of answer", Limit: answerBudget})
				return
			}
			w.nodes = append(w.nodes, o)
		}
	}
}

// linkedOutputs are the sockets of a tree's File Output nodes that a link leads to, by address.
func linkedOutputs(tree records.Record) map[uint64]bool {
	nodes, linked := map[uint64]bool{}, map[uint64]bool{}
	for n := range tree.List("nodes", "bNode") {
		if n.Int("type") == nodeFileOutput {
			nodes[n.Addr()] = true
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	for link := range tree.List("links", "bNodeLink") {
		if nodes[link.Ptr("tonode")] {
			linked[link.Ptr("tosock")] = true
		}
	}
	return linked
}

// filesOf counts the files that a File Output node writes for a frame of so many views. A slot has
// one for each view, or one with all of them.
func filesOf(n records.Record, linked map[uint64]bool, views int) (files int) {
	const multilayer = 28 // R_IMF_IMTYPE_MULTILAYER
	storage := n.Follow("storage", "NodeImageMultiFile")
	each := func(format records.Record, member string) int {
		if format.Int(member) != viewsApart {
			return 1
		}
		return views
	}
	ofNode := each(storage, "format.views_format")
	for socket := range n.List("inputs", "bNodeSocket") {
		switch own := socket.Follow("storage", "NodeImageMultiFileSocket"); {
		case !linked[socket.Addr()]:
		case storage.Int("format.imtype") == multilayer:
			return ofNode
		case own.OK() && own.Int("use_node_format") == 0:
			files += each(own, "format.views_format")
		default:
			files += ofNode
		}
	}
	return files
}

// outputPath reads where a File Output node writes: one file up to 2.62, a
// folder after.
func outputPath(n records.Record) string {
	if s := n.Follow("storage", "NodeImageMultiFile"); s.OK() {
		return s.Text("base_path")
	}
	return n.Follow("storage", "NodeImageFile").Text("name")
}
