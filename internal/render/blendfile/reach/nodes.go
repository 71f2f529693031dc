package reach

import (
	"cmp"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile/records"
)

// nodeTree is the nodes and links of a data-block, which has one tree at most. They are
// complete, or there is no nodeTree.
type nodeTree struct {
	owner uint32       // ordinal of the data-block
	part  records.Part // of the file that its data was kept in
	nodes []treeNode
	links []treeLink // sorted by the node that they lead to

	// What the walk knows: see nodewalk.go.
	asked         map[port]bool   // outputs that are followed, by place of the node
	calls         []call          // the group nodes that stand for this tree and count
	given, wanted map[string]bool // identifiers of the group's outputs and inputs that are followed
	zones, ended  bool            // the starts of its zones count; groupEnds is known
	groupEnds     []int
	byIdentifier  map[int]map[string][]treeLink
	passed        map[int][]socket // inputs of muted nodes
	byName        map[string]bool  // whether the node counts; made when asked for
}

// treeNode is one node; addresses are 0 where it has no such thing.
type treeNode struct {
	addr, id, storage     uint64 // its own, its data-block's, its settings'
	firstInput            uint64
	name, idname          string
	target                int // of a shader's output: targetAll, targetCycles
	muted, active, counts bool
}

// treeLink leads from one node to another, given by their places in the tree.
type treeLink struct {
	from, to             int
	fromSocket, toSocket uint64
}

// port is an address within something that a number stands for.
type port struct {
	of   uint32
	addr uint64
}

const (
	// mostTreeParts bounds the nodes and links that are read; in a file with more, all nodes
	// count. Real files have some thousand.
	mostTreeParts = 1 << 17
	mostSockets   = 1 << 10 // of one node

	nodeActive     = 1 << 6 // bNode.flag: the one that counts if there are several outputs
	linkMuted      = 1 << 4 // bNodeLink.flag
	socketHidden   = 1 << 3 // bNodeSocket.flag: the node as it is set has no such socket
	socketNoBypass = 1 << 9 // bNodeSocket.flag: a muted node passes nothing on from it
	targetAll      = 0      // bNode.custom1 of a shader's output
	targetCycles   = 2
)

// readTrees reads all trees of which nothing was given up. Of versions before 2.66, which
// named no kinds of nodes, there are none.
func readTrees(f *records.File) map[uint32]*nodeTree {
	trees, parts := map[uint32]*nodeTree{}, 0
	names := map[string]string{} // many nodes have the same
	for _, part := range []records.Part{records.InScenes, records.InTrees, records.InOthers} {
		if f.GoneIn(part, append(socketValueStructs(), "bNode", "bNodeLink")...) {
			continue
		}
		if parts += f.BlocksIn(part, "bNode") + f.BlocksIn(part, "bNodeLink"); parts > mostTreeParts {
			return nil
		}
		for n := range f.DataIn(part, "bNode") {
			if !n.Has("idname") {
				return nil
			}
			idname := n.Text("idname")
			if _, known := names[idname]; !known {
				names[idname] = idname
			}
			t := trees[n.Owner()]
			if t == nil {
				t = &nodeTree{owner: n.Owner(), part: part, asked: map[port]bool{}, given: map[string]bool{}, wanted: map[string]bool{},
					byIdentifier: map[int]map[string][]treeLink{}, passed: map[int][]socket{}}
				trees[t.owner] = t
			}
			flag := n.Int("flag")
			t.nodes = append(t.nodes, treeNode{
				addr: n.Addr(), id: n.Ptr("id"), storage: n.Ptr("storage"), firstInput: n.Ptr("inputs.first"),
				name: n.Text("name"), idname: names[idname], target: n.Int("custom1"),
				muted: flag&NodeMuted != 0, active: flag&nodeActive != 0,
			})
		}
	}
	readLinks(f, trees)
	return trees
}

// readLinks adds links to their trees, without those that are muted.
func readLinks(f *records.File, trees map[uint32]*nodeTree) {
	places := map[port]int{}
	for _, t := range trees {
		for i, n := range t.nodes {
			places[port{t.owner, n.addr}] = i
		}
	}
	for _, part := range []records.Part{records.InScenes, records.InTrees, records.InOthers} {
		for l := range f.DataIn(part, "bNodeLink") {
			t := trees[l.Owner()]
			if t == nil || l.Int("flag")&linkMuted != 0 {
				continue
			}
			from, ok := places[port{t.owner, l.Ptr("fromnode")}]
			to, there := places[port{t.owner, l.Ptr("tonode")}]
			if ok && there {
				t.links = append(t.links, treeLink{from: from, to: to, fromSocket: l.Ptr("fromsock"), toSocket: l.Ptr("tosock")})
			}
		}
	}
	for _, t := range trees {
		slices.SortStableFunc(t.links, func(a, b treeLink) int { return cmp.Compare(a.to, b.to) })
	}
}

// into returns the links that lead to a node.
func (t *nodeTree) into(node int) []treeLink {
	first, _ := slices.BinarySearchFunc(t.links, node, func(l treeLink, n int) int { return cmp.Compare(l.to, n) })
	last := first
	for last < len(t.links) && t.links[last].to == node {
		last++
	}
	return t.links[first:last]
}

// socket reads a socket of a tree; empty where sockets were given up.
func (t *nodeTree) socket(f *records.File, addr uint64) records.Record {
	return f.DataAt(t.part, t.owner, addr, "bNodeSocket")
}

// socket is an input of a node.
type socket struct {
	addr, value uint64 // its own, that of what it holds
	kind, flag  int
	idname      string
	links       []treeLink
}

// Types of sockets (bNodeSocket.type).
const (
	socketFloat   = 0
	socketVector  = 1
	socketColour  = 2
	socketBoolean = 4
	socketInteger = 6
)

func readSocket(r records.Record) socket {
	return socket{addr: r.Addr(), value: r.Ptr("default_value"), kind: r.Int("type"), flag: r.Int("flag"), idname: r.Text("idname")}
}

func hidden(socket records.Record) bool { return socket.Int("flag")&socketHidden != 0 }

// inputs reads those of a node, in their order.
func (t *nodeTree) inputs(f *records.File, n *treeNode) []socket {
	var all []socket
	for addr := n.firstInput; len(all) < mostSockets; {
		r := t.socket(f, addr)
		if !r.OK() {
			break
		}
		all = append(all, readSocket(r))
		addr = r.Ptr("next")
	}
	return all
}

// ends are the nodes of a kind where a tree ends: the active one, or all where none is.
func (t *nodeTree) ends(idname string) []int {
	var all, active []int
	for i := range t.nodes {
		if n := &t.nodes[i]; n.is(idname) && !n.muted {
			all = append(all, i)
			if n.active {
				active = append(active, i)
			}
		}
	}
	if len(active) > 0 {
		return active
	}
	return all
}

// ending reports whether a compositor's tree has an end.
func (t *nodeTree) ending() bool {
	return len(t.ends("CompositorNodeComposite")) > 0 || len(t.ends("NodeGroupOutput")) > 0
}

// shaderOutput chooses the output as ntreeShaderOutputNode of Blender does: the first one
// for Cycles, otherwise the first one for all, preferring an active one. -1 is none.
func (t *nodeTree) shaderOutput() int {
	best := -1
	for i := range t.nodes {
		n := &t.nodes[i]
		if !n.is("ShaderNodeOutputMaterial", "ShaderNodeOutputWorld", "ShaderNodeOutputLight", "ShaderNodeOutputLamp") || n.target != targetAll && n.target != targetCycles {
			continue
		}
		if best < 0 || n.target == targetCycles && t.nodes[best].target == targetAll || n.target == t.nodes[best].target && n.active && !t.nodes[best].active {
			best = i
		}
	}
	return best
}

// is reports whether a node is of one of some kinds.
func (n *treeNode) is(idnames ...string) bool { return slices.Contains(idnames, n.idname) }

// isGroup reports whether a node stands for a tree.
func (n *treeNode) isGroup() bool {
	return n.is("ShaderNodeGroup", "GeometryNodeGroup", "CompositorNodeGroup", "TextureNodeGroup")
}

// isZoneEnd and isZoneStart report whether a node ends or starts a part of the tree that
// is repeated, simulated or called: what is in it comes from its start without a link.
func (n *treeNode) isZoneEnd() bool { return isZone(n.idname, "Output") }

func (n *treeNode) isZoneStart() bool { return isZone(n.idname, "Input") }

func isZone(idname, side string) bool {
	kind, ok := strings.CutSuffix(strings.TrimPrefix(idname, "GeometryNode"), side)
	return ok && slices.Contains([]string{"Simulation", "Repeat", "ForeachGeometryElement", "NodeClosure"}, kind)
}
