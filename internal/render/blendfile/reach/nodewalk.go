package reach

import (
	"maps"
	"slices"

	"svc.example/internal/render/blendfile/records"
)

// nodeWalk finds which nodes of which trees a picture comes from: those from which links
// lead to an output that counts. A walk is started at trees, and then run. Groups are
// entered at the outputs that are used, and left at the inputs that those need. Muted links
// lead nowhere, and a muted node passes on what Blender lets it. When in doubt, more
// counts. Each node, link and socket is visited a few times at most.
type nodeWalk struct {
	f       *records.File
	trees   map[uint32]*nodeTree
	held    map[port]uint64                             // the data-blocks that sockets hold, by owner and address of the value
	find    func(addr uint64) (ordinal uint32, ok bool) // data-blocks by address
	count   func(t *nodeTree, n *treeNode)              // told each node once
	value   func(t *nodeTree, addr uint64)              // told each data-block that a socket holds
	entered map[uint32]bool                             // groups that were searched for outputs
	open    []demand
}

// call is a group node: the tree that it stands in, and its place there.
type call struct {
	tree *nodeTree
	node int
}

// demand is an output of a node that a picture comes from and that is still to be
// followed.
type demand struct {
	call
	socket uint64
}

// shader starts at the output of a material, a world or a light that Cycles takes, and at
// those within its groups, which Cycles takes too.
func (w *nodeWalk) shader(t *nodeTree) {
	for open := []*nodeTree{t}; len(open) > 0; {
		t, open = open[len(open)-1], open[:len(open)-1]
		if i := t.shaderOutput(); i >= 0 && !t.nodes[i].muted {
			w.reach(t, i)
		}
		for i := range t.nodes {
			if n := &t.nodes[i]; n.isGroup() && !n.muted {
				if inner := w.callee(n); inner != nil && !w.entered[inner.owner] {
					w.entered[inner.owner] = true
					open = append(open, inner)
				}
			}
		}
	}
}

// compositor starts at the Composite node of a scene's own tree.
func (w *nodeWalk) compositor(t *nodeTree) {
	for _, i := range t.ends("CompositorNodeComposite") {
		w.reach(t, i)
	}
}

// whole starts at all outputs of a tree that is used as a whole, such as that of a modifier.
func (w *nodeWalk) whole(t *nodeTree) { w.give(t, "") }

// run follows demands until there is none left.
func (w *nodeWalk) run() {
	for len(w.open) > 0 {
		d := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		w.answer(d)
	}
}

// follow demands what links of a tree bring.
func (w *nodeWalk) follow(t *nodeTree, links []treeLink) {
	for _, l := range links {
		at := port{uint32(l.from), l.fromSocket}
		if t.asked[at] || hidden(t.socket(w.f, l.toSocket)) || hidden(t.socket(w.f, l.fromSocket)) {
			continue
		}
		t.asked[at] = true
		w.open = append(w.open, demand{call{t, l.from}, l.fromSocket})
	}
}

// answer follows one demand.
func (w *nodeWalk) answer(d demand) {
	t, n := d.tree, &d.tree.nodes[d.node]
	switch {
	case n.muted:
		w.follow(t, w.bypass(t, d.node, d.socket))
	case n.is("NodeGroupInput"):
		w.want(t, w.identifier(t, d.socket))
	case n.isGroup():
		w.enter(d)
	default:
		w.reach(t, d.node)
	}
}

// reach counts a node and follows all that leads to it.
func (w *nodeWalk) reach(t *nodeTree, node int) {
	n := &t.nodes[node]
	if n.counts {
		return
	}
	w.note(t, node)
	w.follow(t, t.into(node))
	if n.isZoneEnd() && !t.zones {
		t.zones = true
		for i := range t.nodes {
			if t.nodes[i].isZoneStart() {
				w.reach(t, i)
			}
		}
	}
}

// note counts a node, with what its sockets hold.
func (w *nodeWalk) note(t *nodeTree, node int) {
	n := &t.nodes[node]
	if n.counts {
		return
	}
	n.counts = true
	w.count(t, n)
	if len(w.held) == 0 {
		return
	}
	linked := map[uint64]bool{}
	for _, l := range t.into(node) {
		linked[l.toSocket] = true
	}
	for _, s := range t.inputs(w.f, n) {
		if id := w.held[port{t.owner, s.value}]; id != 0 && !linked[s.addr] {
			w.value(t, id)
		}
	}
}

// callee is the tree that a group node stands for; nil where it is not known.
func (w *nodeWalk) callee(n *treeNode) *nodeTree {
	if at, ok := w.find(n.id); ok {
		return w.trees[at]
	}
	return nil
}

// enter follows an output of a group node into its tree.
func (w *nodeWalk) enter(d demand) {
	t, n := d.tree, &d.tree.nodes[d.node]
	inner := w.callee(n)
	if inner == nil {
		w.reach(t, d.node)
		return
	}
	if !n.counts {
		w.note(t, d.node)
		inner.calls = append(inner.calls, d.call)
		for _, id := range slices.Sorted(maps.Keys(inner.wanted)) {
			w.leave(d.call, id)
		}
	}
	w.give(inner, w.identifier(t, d.socket))
}

// give follows what leads to an output of a group: "" is all of them.
func (w *nodeWalk) give(t *nodeTree, id string) {
	if t.given[id] {
		return
	}
	t.given[id] = true
	if !t.ended {
		t.groupEnds, t.ended = t.ends("NodeGroupOutput"), true
	}
	for _, i := range t.groupEnds {
		w.note(t, i)
		w.follow(t, w.linksTo(t, i, id))
	}
}

// want notes that an input of a group is needed: "" is any.
func (w *nodeWalk) want(t *nodeTree, id string) {
	if t.wanted[id] {
		return
	}
	t.wanted[id] = true
	for _, c := range t.calls {
		w.leave(c, id)
	}
}

// leave follows what leads to an input of a group node.
func (w *nodeWalk) leave(c call, id string) { w.follow(c.tree, w.linksTo(c.tree, c.node, id)) }

// linksTo are the links that lead to a socket of a node, given by its identifier; all for
// "". A socket that is not known may be any.
func (w *nodeWalk) linksTo(t *nodeTree, node int, id string) []treeLink {
	if id == "" {
		return t.into(node)
	}
	by := t.byIdentifier[node]
	if by == nil {
		by = map[string][]treeLink{}
		for _, l := range t.into(node) {
			own := w.identifier(t, l.toSocket)
			by[own] = append(by[own], l)
		}
		t.byIdentifier[node] = by
	}
	return slices.Concat(by[id], by[""])
}

// identifier names a socket alike at a group node and within the group; "" where it is not
// known.
func (w *nodeWalk) identifier(t *nodeTree, socket uint64) string {
	return t.socket(w.f, socket).Text("identifier")
}

// bypass finds the links whose value a muted node passes on to an output: those of the
// nearest input whose type can be converted, preferring a linked one, as Blender
// chooses.
func (w *nodeWalk) bypass(t *nodeTree, node int, output uint64) []treeLink {
	inputs, known := t.passed[node]
	if !known {
		inputs = t.inputs(w.f, &t.nodes[node])
		links := map[uint64][]treeLink{}
		for _, l := range t.into(node) {
			links[l.toSocket] = append(links[l.toSocket], l)
		}
		for i := range inputs {
			inputs[i].links = links[inputs[i].addr]
		}
		t.passed[node] = inputs
	}
	out := t.socket(w.f, output)
	if !out.OK() || len(inputs) == 0 {
		return t.into(node)
	}
	to := readSocket(out)
	var best socket
	nearest := -1
	for _, in := range inputs {
		near := nearness(in, to)
		if near < 0 || in.flag&(socketHidden|socketNoBypass) != 0 {
			continue
		}
		if near > nearest || len(in.links) > 0 && len(best.links) == 0 {
			best, nearest = in, near
		}
	}
	return best.links
}

// nearness orders the types of sockets that a muted node can pass on as another one; -1 is
// none.
func nearness(from, to socket) int {
	order := map[int][]int{ // the farthest first
		socketColour:  {socketBoolean, socketInteger, socketFloat, socketColour},
		socketVector:  {socketBoolean, socketInteger, socketFloat, socketVector},
		socketFloat:   {socketVector, socketColour, socketBoolean, socketInteger, socketFloat},
		socketInteger: {socketVector, socketColour, socketBoolean, socketFloat, socketInteger},
		socketBoolean: {socketVector, socketColour, socketFloat, socketInteger, socketBoolean},
	}
	if types, ok := order[to.kind]; ok {
		return slices.Index(types, from.kind)
	}
	if from.kind == to.kind && from.idname == to.idname {
		return 1
	}
	return -1
}
