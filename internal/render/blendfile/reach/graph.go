package reach

import (
	"cmp"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile/records"
)

// graph says which data-block uses which. It is nil when the file held more than is
// kept; then all of them count as used.
type graph struct {
	nodes     []records.Node    // sorted by ordinal
	byAddress []uint32          // places in nodes, sorted by address; if several have one address the last comes first
	edges     []edge            // sorted by from
	linked    map[uint32]string // codes of the data-blocks of libraries that some stand for
}

// edge leads from one data-block to one that it uses. Only pointers that can matter to
// a picture count.
type edge struct {
	from, to uint32
	kind     edgeKind
	font     fontStyle
}

type edgeKind uint8

const (
	draws     edgeKind = 1 << iota // what it leads to is seen where from is
	depends                        // from is computed from it
	nested                         // a collection in a collection
	ofNode                         // of a node: it counts where the node does
	instances                      // the collection that an object shows copies of
)

// newGraph makes the graph of the words that were kept of a file.
func newGraph(f *records.File) *graph {
	if f.Links.Gone {
		return nil
	}
	g := &graph{nodes: f.Links.Nodes, byAddress: make([]uint32, len(f.Links.Nodes)), linked: map[uint32]string{}}
	for r := range f.Facts("ID", "ID") {
		if name := r.Text("name"); len(name) > 2 {
			g.linked[r.Owner()] = name[:2]
		}
	}
	for i := range g.byAddress {
		g.byAddress[i] = uint32(i)
	}
	slices.SortFunc(g.byAddress, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(g.nodes[a].Addr, g.nodes[b].Addr), cmp.Compare(b, a))
	})
	members := map[[2]uint16]member{}
	for _, w := range f.Links.Words {
		to, ok := g.at(w.To)
		if !ok {
			continue
		}
		place := [2]uint16{w.Index, w.At}
		m, known := members[place]
		if !known {
			m = memberAt(f, w.Index, w.At)
			members[place] = m
		}
		if kind := m.leads(g.code(w.From), g.code(to)); kind != 0 {
			g.edges = append(g.edges, edge{w.From, to, kind, m.font()})
		}
	}
	slices.SortFunc(g.edges, func(a, b edge) int { return cmp.Compare(a.from, b.from) })
	return g
}

// at finds the data-block at an address.
func (g *graph) at(addr uint64) (ordinal uint32, ok bool) {
	i, ok := slices.BinarySearchFunc(g.byAddress, addr, func(place uint32, a uint64) int { return cmp.Compare(g.nodes[place].Addr, a) })
	if !ok {
		return 0, false
	}
	return g.nodes[g.byAddress[i]].Ordinal, true
}

// code is that of a data-block, also of one that stands for one in a library.
func (g *graph) code(ordinal uint32) string {
	if code, ok := g.linked[ordinal]; ok {
		return code
	}
	i, ok := slices.BinarySearchFunc(g.nodes, ordinal, func(n records.Node, o uint32) int { return cmp.Compare(n.Ordinal, o) })
	if !ok {
		return ""
	}
	return g.nodes[i].Code()
}

// member is a pointer in a struct; the zero value is none.
type member struct{ of, name string }

const arrayOfAddresses = "(array)"

// memberAt is the pointer at a byte of a block of a struct, of which there may be several
// in the block.
func memberAt(f *records.File, index, at uint16) member {
	if index == 0 {
		return member{of: arrayOfAddresses, name: arrayOfAddresses}
	}
	offset := int(at)
	l, err := f.Layout(int(index))
	if l == nil || err != nil || l.Size == 0 {
		return member{}
	}
	offset %= l.Size
	for {
		field, ok := l.At(offset)
		if !ok {
			return member{}
		}
		if field.Pointer {
			return member{of: l.Name, name: field.Name}
		}
		inner, err := f.LayoutOf(field.Type)
		if inner == nil || err != nil || inner.Size == 0 {
			return member{}
		}
		l, offset = inner, (offset-field.Offset)%inner.Size
	}
}

// Structs through which one object shows another.
const showsObjects = " Base CollectionObject GroupObject ParticleSettings ParticleDupliWeight IDProperty BooleanModifierData ArrayModifierData "

// Structs through which a data-block shows a picture.
const showsImages = " Tex IDProperty MaterialGPencilStyle "

// Structs whose pointers say nothing about a picture: lists of all data-blocks, parents
// of collections, shapes of bones, weights of forces, paint slots.
const showsNothing = " ID CollectionParent EffectorWeights TexPaintSlot bPoseChannel AssetMetaData "

// leads says what a pointer means. from and to are codes of data-blocks.
func (m member) leads(from, to string) edgeKind {
	if m.name == "" || to == "SC" || to == "LI" || among(m.of, showsNothing) {
		return 0
	}
	switch {
	case m.of == "CollectionChild":
		return draws | depends | nested
	case m.of == "Object" && to == "GR":
		return draws | depends | instances
	case m.of == "bNode" && to == "OB":
		return depends | ofNode
	case m.of == "bNode" || strings.HasPrefix(m.of, "bNodeSocketValue"):
		return draws | depends | ofNode
	case to == "OB" && !among(m.of, showsObjects), to == "IM" && !among(m.of, showsImages), to == "MC":
		return depends
	// Cycles reads no texture slots of materials, worlds and lights.
	case to == "TE" && m.of == "MTex" && among(from, " MA WO LA "):
		return 0
	// An empty's picture is not rendered.
	case to == "IM" && m.of == "Object":
		return 0
	}
	return draws | depends
}

// among reports whether names contains name between spaces.
func among(name, names string) bool { return strings.Contains(names, " "+name+" ") }

// of yields the edges of a data-block.
func (g *graph) of(ordinal uint32) []edge {
	first, _ := slices.BinarySearchFunc(g.edges, ordinal, func(e edge, o uint32) int { return cmp.Compare(e.from, o) })
	last := first
	for last < len(g.edges) && g.edges[last].from == ordinal {
		last++
	}
	return g.edges[first:last]
}
