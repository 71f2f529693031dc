package reach

import (
	"iter"

	"svc.example/internal/render/blendfile/records"
)

// Set is what the picture of the active scene comes from. A nil Set means that it is
// not known: then everything may be part of it.
type Set struct {
	f        *records.File
	g        *graph
	seen     map[uint32]uint32    // what is rendered, with the data-block that uses it first
	needs    map[uint32]bool      // that, and what it is computed from
	shown    map[uint32]bool      // what those of it that are not hidden are computed from; made when asked for
	needed   []uint32             // what another file is computed from
	walked   map[port]bool        // what of a scene was walked, by part and address; strips by scene and address
	letters  map[uint32]fontStyle // of texts
	nodes    nodeWalk
	settings map[port]bool       // whether the node with settings at an address counts, by owner; made when asked for
	ofNodes  map[uint32][]uint32 // what the nodes that count use, by the data-block with the tree; an entry for each that was walked
	found    []uint32            // to be visited
	loaded   map[uint32]bool     // what Blender loads because another file links it
	all      bool                // Blender loads everything
	drawn    layerCount          // the view layers whose objects are rendered
	fades    map[uint32]bool     // what has curves of objects' visibility: objects with drivers, and actions; made when asked for
	replaced []edge              // to materials that are replaced, unless a layer is found that shows them
	names    map[string]uint32   // data-blocks by their names with code; made when asked for
	unnamed  map[string]bool     // codes of which not all names are in names
	unknown  bool
	chosen   Chosen
}

// Chosen is what an order renders of one scene in place of what the file says. The zero value
// chooses nothing.
type Chosen struct {
	Scene  uint64 // address of the scene that the others are about
	Layer  string // the only view layer that is rendered; "" for those that the file renders
	Camera uint64 // address of the camera for all frames; 0 for those of the file
}

// Renders reports whether a view layer of a scene is rendered.
func (c Chosen) Renders(scene, layer records.Record) bool {
	if c.Layer != "" && scene.Addr() == c.Scene {
		return layer.Text("name") == c.Layer
	}
	return layer.Int("flag")&layerRendered != 0
}

// Cameras yields the addresses of the cameras through which frames of a scene are seen: its
// own, which may be 0, and those of its markers.
func (c Chosen) Cameras(scene records.Record) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if c.Camera != 0 && scene.Addr() == c.Scene {
			yield(c.Camera)
			return
		}
		if !yield(scene.Ptr("camera")) {
			return
		}
		for camera := range MarkerCameras(scene) {
			if !yield(camera) {
				return
			}
		}
	}
}

// Flags and limits that others read scenes and node trees by, too.
const (
	SceneComposites = 1 << 6 // RenderData.scemode: the compositor runs after the render
	NodeMuted       = 1 << 9 // bNode.flag
	MaxNesting      = 32     // trees within trees, collections within collections; Blender's own limit on depth is far lower in practice
)

// Flags that decide what is rendered.
const (
	layerRendered    = 1 << 0 // ViewLayer.flag
	layerExcluded    = 1 << 4 // LayerCollection.flag
	objectHidden     = 1 << 2 // Object.visibility_flag, restrictflag before
	collectionHidden = 1 << 3 // Collection.flag
)

// Of walks from the active scene over everything that its picture comes from. It is nil
// where that is not known.
func Of(f *records.File, scene records.Record, chosen Chosen) *Set {
	w := New(f)
	if w == nil {
		return nil
	}
	w.chosen = chosen
	w.Scene(scene)
	if w.unknown {
		return nil
	}
	return w
}

// New is of a file of which nothing is reached yet; nil where nothing will be known.
func New(f *records.File) *Set {
	g := newGraph(f)
	if g == nil {
		return nil
	}
	w := &Set{
		f: f, g: g, seen: map[uint32]uint32{}, needs: map[uint32]bool{}, walked: map[port]bool{},
		letters: letters(f), ofNodes: map[uint32][]uint32{}, loaded: map[uint32]bool{},
	}
	w.nodes = nodeWalk{f: f, trees: readTrees(f), find: g.at, count: w.node, value: w.socketValue, held: socketValues(f), entered: map[uint32]bool{}}
	return w
}

// Scene reaches what the picture of a scene comes from: the objects of its view layers that
// are not hidden, its world and compositor, what they use, and the scenes that its background
// and compositor take in.
func (w *Set) Scene(r records.Record) {
	w.picture(r)
	w.settle()
}

// settle walks from what was found until nothing new is.
func (w *Set) settle() {
	w.shown, w.settings = nil, nil
	for _, t := range w.nodes.trees {
		t.byName = nil
	}
	for w.nodes.run(); len(w.found) > 0; w.nodes.run() {
		from := w.found[len(w.found)-1]
		w.found = w.found[:len(w.found)-1]
		if w.hidden(from) {
			continue
		}
		walked := w.tree(from)
		for _, e := range w.g.of(from) {
			switch {
			case e.kind&draws == 0 || walked && e.kind&ofNode != 0 || w.unused(e):
			case w.overridden(e):
				w.replaced = append(w.replaced, e)
			default:
				w.whole(from, e.to)
			}
		}
		if len(w.found) == 0 {
			w.nodes.run()
			w.showReplaced()
		}
	}
	for at := range w.seen {
		w.need(at, w.needs, nil)
	}
}

// see notes that a data-block is rendered, because another one uses it.
func (w *Set) see(from, to uint32) {
	if _, known := w.seen[to]; !known {
		w.seen[to] = from
		w.found = append(w.found, to)
	}
}

// whole is see where all of what is seen counts: of a node tree, all its outputs.
func (w *Set) whole(from, to uint32) {
	if t := w.nodes.trees[to]; t != nil && w.g.code(to) == "NT" {
		w.nodes.whole(t)
	}
	w.see(from, to)
}

// seeAt is see for what stands at an address.
func (w *Set) seeAt(from uint32, addr uint64) {
	if to, ok := w.g.at(addr); ok && addr != 0 && w.g.code(to) != "SC" {
		w.see(from, to)
	}
}

// need notes everything that a data-block is computed from. For a collection that an
// object shows copies of, that is what copied says, or all of it if copied is nil.
func (w *Set) need(ordinal uint32, known map[uint32]bool, copied func(collection uint32) []uint32) {
	open := []uint32{ordinal}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if known[at] {
			continue
		}
		known[at] = true
		used, walked := w.ofNodes[at]
		open = append(open, used...)
		for _, e := range w.g.of(at) {
			switch {
			case walked && e.kind&ofNode != 0, w.overridden(e):
			case e.kind&instances != 0 && copied != nil:
				open = append(open, copied(e.to)...)
			default:
				open = append(open, e.to)
			}
		}
	}
}

// layerCollections sees the objects of a view layer in the collections that are neither
// excluded nor hidden.
func (w *Set) layerCollections(from uint32, r records.Record, list string, depth int) {
	if depth > MaxNesting {
		w.unknown = true
		return
	}
	for c := range r.List(list, "LayerCollection") {
		addr := c.Ptr("collection")
		excluded := c.Int("flag")&layerExcluded != 0
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
func (w *Set) collection(from uint32, in records.Record, addr uint64) {
	if master := w.f.At(in, addr, "Collection"); master.OK() {
		for member := range master.List("gobject", "CollectionObject") {
			w.object(from, member.Ptr("ob"))
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

func (w *Set) object(from uint32, addr uint64) {
	if at, ok := w.g.at(addr); ok {
		w.see(from, at)
	}
}

// hidden reports whether an object or a collection is not rendered. One whose visibility is
// animated may be at another frame.
func (w *Set) hidden(ordinal uint32) bool {
	code := w.g.code(ordinal)
	if code != "OB" && code != "GR" {
		return false
	}
	if code == "GR" {
		return w.f.Head(ordinal, "Collection").Int("flag")&collectionHidden != 0
	}
	r := w.f.Head(ordinal, "Object")
	flag := r.Int("restrictflag") | r.Int("visibility_flag")
	return flag&objectHidden != 0 && !(r.Ptr("adt") != 0 && w.appears(ordinal))
}

// Hidden reports whether an object is not rendered in any frame.
func (w *Set) Hidden(ordinal uint32) bool { return w != nil && w.hidden(ordinal) }

// Rendered reports whether what a record's data-block stands for can be seen.
func (w *Set) Rendered(r records.Record) bool {
	if w == nil {
		return true
	}
	_, seen := w.seen[r.Owner()]
	return seen && !w.hidden(r.Owner())
}

// Computed reports whether the picture is computed from a record's data-block.
func (w *Set) Computed(r records.Record) bool { return w == nil || w.needs[r.Owner()] }

// Shown reports whether something that is not hidden is computed from a record's
// data-block: Computed without what only hidden objects need.
func (w *Set) Shown(r records.Record) bool {
	if w == nil {
		return true
	}
	if w.shown == nil {
		w.shown = map[uint32]bool{}
		c := copies{w, map[uint32]bool{}}
		for _, at := range w.needed {
			w.need(at, w.shown, c.of)
		}
		for at := range w.seen {
			switch {
			case w.g.code(at) == "GR": // seen as copies, or used by what is seen
				for _, to := range c.of(at) {
					w.need(to, w.shown, c.of)
				}
			case !w.hidden(at):
				w.need(at, w.shown, c.of)
			}
		}
	}
	return w.shown[r.Owner()]
}

// copies walks collections of which objects show copies: those of hidden objects are not
// seen.
type copies struct {
	*Set
	walked map[uint32]bool
}

// of lists what is shown of a collection that was not walked before.
func (c copies) of(collection uint32) (shown []uint32) {
	open := []uint32{collection}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if c.walked[at] || c.hidden(at) {
			continue
		}
		c.walked[at] = true
		for _, e := range c.g.of(at) {
			switch {
			case e.kind&nested != 0:
				open = append(open, e.to)
			case !c.hidden(e.to):
				shown = append(shown, e.to)
			}
		}
	}
	return shown
}

// Renders reports whether the objects of a scene are rendered: of the active one, or of one
// that it includes.
func (w *Set) Renders(scene records.Record) bool {
	return w == nil || w.walked[port{theLayers, scene.Addr()}]
}

// Leads yields the data-blocks of a code that a data-block uses.
func (w *Set) Leads(ordinal uint32, code string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if w == nil {
			return
		}
		used, walked := w.ofNodes[ordinal]
		for _, to := range used {
			if w.g.code(to) == code && !yield(to) {
				return
			}
		}
		for _, e := range w.g.of(ordinal) {
			if (!walked || e.kind&ofNode == 0) && w.g.code(e.to) == code && !yield(e.to) {
				return
			}
		}
	}
}

// Shows reports whether the picture shows a strip of the sequencer.
func (w *Set) Shows(strip records.Record) bool {
	return w == nil || w.walked[port{strip.Owner(), strip.Addr()}]
}

// User is the data-block that uses a record's data-block first; ok is false when that is
// not known or is the data-block itself.
func (w *Set) User(r records.Record) (ordinal uint32, ok bool) {
	if w == nil {
		return 0, false
	}
	by, ok := w.seen[r.Owner()]
	return by, ok && by != r.Owner()
}

// At finds the data-block at an address.
func (w *Set) At(addr uint64) (ordinal uint32, ok bool) {
	if w == nil {
		return 0, false
	}
	return w.g.at(addr)
}

// Code is the two letters of a data-block, "" when there is none.
func (w *Set) Code(ordinal uint32) string {
	if w == nil {
		return ""
	}
	return w.g.code(ordinal)
}
