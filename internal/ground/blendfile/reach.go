package blendfile

// reach is what the picture of the active scene comes from. A nil reach means that it is
// not known: then everything may be part of it.
type reach struct {
	f         *file
	g         *graph
	seen      map[uint32]uint32 // what is rendered, with the data-block that uses it first
	needs     map[uint32]bool   // that, and what it is computed from
	scenes    map[uint64]bool
	sequenced map[uint32]bool     // scenes whose strips are seen
	strips    map[uint32][]uint64 // addresses of the scenes that strips of a scene show
	found     []uint32            // to be visited
	unknown   bool
}

// Flags that decide what is rendered.
const (
	layerRendered       = 1 << 0 // ViewLayer.flag
	layerExcluded       = 1 << 4 // LayerCollection.flag
	objectHidden        = 1 << 2 // Object.visibility_flag, restrictflag before
	collectionHidden    = 1 << 3 // Collection.flag
	nodeRenderLayers    = 221    // bNode.type
	maxLayerCollections = 1 << 16
)

// reached walks from the active scene over everything that its picture comes from: the
// objects of its view layers that are not hidden, its world and compositor, what they
// use, and the scenes that its background and compositor take in.
func (f *file) reached(scene record, g *graph) *reach {
	if g == nil {
		return nil
	}
	w := &reach{f: f, g: g, seen: map[uint32]uint32{}, needs: map[uint32]bool{}, scenes: map[uint64]bool{}, sequenced: map[uint32]bool{}, strips: f.sceneStrips()}
	w.scene(scene)
	for len(w.found) > 0 {
		from := w.found[len(w.found)-1]
		w.found = w.found[:len(w.found)-1]
		if !w.hidden(from) {
			for _, e := range g.of(from) {
				if e.kind&draws != 0 {
					w.see(from, e.to)
				}
			}
		}
	}
	for at := range w.seen {
		w.need(at)
	}
	if w.unknown {
		return nil
	}
	return w
}

const stripScene = 2 // Sequence.type

// sceneStrips lists the scenes that each scene's strips show, by the ordinal of the latter.
func (f *file) sceneStrips() map[uint32][]uint64 {
	shown := map[uint32][]uint64{}
	for k := range f.held(inScene, "Sequence").all() {
		r := f.record(k, "Sequence")
		if addr := r.ptr("scene"); addr != 0 && r.int("type") == stripScene {
			shown[uint32(k.owner)] = append(shown[uint32(k.owner)], addr)
		}
	}
	return shown
}

// see notes that a data-block is rendered, because another one uses it.
func (w *reach) see(from, to uint32) {
	if _, known := w.seen[to]; !known {
		w.seen[to] = from
		w.found = append(w.found, to)
	}
}

// seeAt is see for what stands at an address.
func (w *reach) seeAt(from uint32, addr uint64) {
	if to, ok := w.g.at(addr); ok && addr != 0 && w.g.code(to) != "SC" {
		w.see(from, to)
	}
}

// need notes everything that a data-block is computed from.
func (w *reach) need(ordinal uint32) {
	open := []uint32{ordinal}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if w.needs[at] {
			continue
		}
		w.needs[at] = true
		for _, e := range w.g.of(at) {
			open = append(open, e.to)
		}
	}
}

// scene sees what a scene renders.
func (w *reach) scene(r record) {
	if r.l == nil || w.scenes[r.kept.addr] {
		return
	}
	w.scenes[r.kept.addr] = true
	from := uint32(r.kept.owner)
	w.seen[from] = from
	w.sequenced[from] = r.int("r.scemode")&sceneStrips != 0
	if w.sequenced[from] {
		for _, addr := range w.strips[from] {
			w.sceneAt(addr)
		}
	}
	for _, member := range []string{"world", "camera"} {
		w.seeAt(from, r.ptr(member))
	}
	w.sceneAt(r.ptr("set"))
	for l := range r.list("view_layers", "ViewLayer") {
		if l.int("flag")&layerRendered != 0 {
			w.seeAt(from, l.ptr("mat_override"))
			w.seeAt(from, l.ptr("world_override"))
			w.layerCollections(from, l, "layer_collections", 0)
		}
	}
	if !r.has("view_layers.first") {
		for base := range r.list("base", "Base") {
			w.object(from, base.ptr("object"))
		}
	}
	if r.int("r.scemode")&sceneUsesCo == 0 {
		return
	}
	w.seeAt(from, r.ptr("compositing_node_group"))
	if tree := r.follow("nodetree", "bNodeTree"); r.int("use_nodes") != 0 {
		for n := range tree.list("nodes", "bNode") {
			if n.int("flag")&nodeMuted != 0 {
				continue
			}
			w.seeAt(from, n.ptr("id"))
			if n.int("type") == nodeRenderLayers {
				w.sceneAt(n.ptr("id"))
			}
		}
	}
}

// sceneAt is scene for what stands at an address.
func (w *reach) sceneAt(addr uint64) {
	if k, ok := w.f.dataBlock("SC", addr); ok && addr != 0 {
		w.scene(w.f.record(k, "Scene"))
	}
}

// layerCollections sees the objects of a view layer: of its collections that are neither
// excluded nor hidden.
func (w *reach) layerCollections(from uint32, r record, list string, depth int) {
	if depth > maxTreeNesting {
		w.unknown = true
		return
	}
	for c := range r.list(list, "LayerCollection") {
		addr := c.ptr("collection")
		excluded := c.int("flag")&layerExcluded != 0
		if !excluded {
			w.collection(from, c, addr)
		}
		// A hidden collection hides those in it; an excluded one does not exclude them.
		if at, ok := w.g.at(addr); !ok || !w.hidden(at) {
			w.layerCollections(from, c, "layer_collections", depth+1)
		}
	}
}

// collection sees the objects of one collection, without those in it. The scene's own
// collection is part of the scene's data.
func (w *reach) collection(from uint32, in record, addr uint64) {
	if master := in.f.at(in, addr, "Collection"); master.l != nil {
		for member := range master.list("gobject", "CollectionObject") {
			w.object(from, member.ptr("ob"))
		}
		return
	}
	at, ok := w.g.at(addr)
	if !ok || w.hidden(at) {
		return
	}
	for _, e := range w.g.of(at) {
		if e.kind&nested == 0 && e.kind&draws != 0 {
			w.see(from, e.to)
		}
	}
}

func (w *reach) object(from uint32, addr uint64) {
	if at, ok := w.g.at(addr); ok {
		w.see(from, at)
	}
}

// hidden reports whether an object or a collection is not rendered. One that is animated
// may be at another frame.
func (w *reach) hidden(ordinal uint32) bool {
	code := w.g.code(ordinal)
	if code != "OB" && code != "GR" {
		return false
	}
	k, ok := w.f.indexed(inHeads).first(int(ordinal))
	if !ok {
		return false
	}
	if code == "GR" {
		return w.f.record(k, "Collection").int("flag")&collectionHidden != 0
	}
	r := w.f.record(k, "Object")
	flag := r.int("restrictflag") | r.int("visibility_flag")
	return flag&objectHidden != 0 && r.ptr("adt") == 0
}

// rendered reports whether what a record's data-block stands for can be seen.
func (w *reach) rendered(r record) bool {
	if w == nil {
		return true
	}
	ordinal := uint32(r.kept.owner)
	_, seen := w.seen[ordinal]
	return seen && !w.hidden(ordinal)
}

// computed reports whether the picture is computed from a record's data-block.
func (w *reach) computed(r record) bool { return w == nil || w.needs[uint32(r.kept.owner)] }
