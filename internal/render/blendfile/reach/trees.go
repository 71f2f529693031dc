package reach

import (
	"maps"
	"slices"

	"svc.example/internal/render/blendfile/records"
)

// tree walks the node tree that a data-block has, and reports whether that shows what its
// nodes use. Only the nodes of a group that are needed count: see nodewalk.go.
func (w *Set) tree(ordinal uint32) bool {
	t, code := w.nodes.trees[ordinal], w.g.code(ordinal)
	if t == nil || !among(code, " MA WO LA NT ") {
		return false
	}
	if _, walked := w.ofNodes[ordinal]; !walked {
		w.ofNodes[ordinal] = nil
		if code != "NT" && w.usesNodes(ordinal) {
			w.nodes.shader(t)
		}
	}
	return true
}

// usesNodes reports whether a material, world or light is made of its nodes. From 5.0 all
// are.
func (w *Set) usesNodes(ordinal uint32) bool {
	if w.f.Version >= 500 {
		return true
	}
	for _, as := range []string{"Material", "World", "Lamp"} {
		if r := w.f.Head(ordinal, as); r.Has("use_nodes") {
			return r.Int("use_nodes") != 0
		}
	}
	return true
}

// node sees what a node uses of which the picture comes.
func (w *Set) node(t *nodeTree, n *treeNode) {
	to, ok := w.g.at(n.id)
	if !ok || n.id == 0 {
		return
	}
	switch w.g.code(to) {
	case "SC":
		w.layersAt(n.id)
	case "OB": // only where it is: texture coordinates, point densities
		w.ofNodes[t.owner] = append(w.ofNodes[t.owner], to)
	case "NT":
		w.ofNodes[t.owner] = append(w.ofNodes[t.owner], to)
		if n.isGroup() { // the walk enters it where it is used
			w.see(t.owner, to)
		} else {
			w.whole(t.owner, to)
		}
	case "MC":
		w.ofNodes[t.owner] = append(w.ofNodes[t.owner], to)
		// These take what was tracked in a clip, which is in the .blend, and no picture of it.
		if !n.is("CompositorNodeMovieDistortion", "CompositorNodeStabilize", "CompositorNodePlaneTrackDeform", "CompositorNodeTrackPos") {
			w.see(t.owner, to)
		}
	default:
		w.uses(t, to)
	}
}

// socketValue sees what a socket of such a node holds.
func (w *Set) socketValue(t *nodeTree, addr uint64) {
	if to, ok := w.g.at(addr); ok {
		w.uses(t, to)
	}
}

func (w *Set) uses(t *nodeTree, to uint32) {
	w.ofNodes[t.owner] = append(w.ofNodes[t.owner], to)
	w.see(t.owner, to)
}

// Uses reports whether the picture comes from the node whose settings a record is; true
// where that is not known.
func (w *Set) Uses(settings records.Record) bool {
	if w == nil {
		return true
	}
	if w.settings == nil {
		w.settings = map[port]bool{}
		for _, t := range w.nodes.trees {
			for i := range t.nodes {
				if n := &t.nodes[i]; n.storage != 0 {
					w.settings[port{t.owner, n.storage}] = n.counts
				}
			}
		}
	}
	counts, known := w.settings[port{settings.Owner(), settings.Addr()}]
	return w.Rendered(settings) && (counts || !known)
}

// Counts reports whether the picture comes from a node of a kind; where that is not known,
// whether there is one that is not muted.
func (w *Set) Counts(f *records.File, idname string) bool {
	if w != nil && w.nodes.trees != nil {
		for _, t := range w.nodes.trees {
			for i := range t.nodes {
				if t.nodes[i].counts && t.nodes[i].is(idname) {
					return true
				}
			}
		}
		return false
	}
	for _, part := range []records.Part{records.InScenes, records.InTrees} {
		for n := range f.DataIn(part, "bNode") {
			if n.Text("idname") == idname && n.Int("flag")&NodeMuted == 0 {
				return true
			}
		}
	}
	return false
}

// EmptyImages yields the image nodes of shaders that have no image and that the picture comes
// from, with the data-block that has each. Nothing is yielded where that is not known.
func (w *Set) EmptyImages(yield func(owner uint32, node string) bool) {
	if w == nil {
		return
	}
	for _, owner := range slices.Sorted(maps.Keys(w.nodes.trees)) {
		for _, n := range w.nodes.trees[owner].nodes {
			if n.counts && n.id == 0 && n.is("ShaderNodeTexImage", "ShaderNodeTexEnvironment") && !yield(owner, n.name) {
				return
			}
		}
	}
}

// WorldVolume reports whether the picture shows a world that has a volume.
func (w *Set) WorldVolume() bool {
	if w == nil {
		return false
	}
	for owner, t := range w.nodes.trees {
		if _, seen := w.seen[owner]; !seen || w.g.code(owner) != "WO" || !w.usesNodes(owner) {
			continue
		}
		if end := t.shaderOutput(); end >= 0 && len(w.nodes.linksTo(t, end, "Volume")) > 0 {
			return true
		}
	}
	return false
}

// NodeUsed reports whether the picture comes from the node of a name in the tree of a
// record's data-block; true where there is none or it is not known.
func (w *Set) NodeUsed(r records.Record, name string) bool {
	if w == nil {
		return true
	}
	t := w.nodes.trees[r.Owner()]
	if t == nil {
		return true
	}
	if t.byName == nil {
		t.byName = map[string]bool{}
		for i := range t.nodes {
			t.byName[t.nodes[i].name] = t.nodes[i].counts
		}
	}
	counts, known := t.byName[name]
	return counts || !known
}

// socketValues finds the data-blocks that sockets hold, by their owner and the address of
// the value.
func socketValues(f *records.File) map[port]uint64 {
	values := map[port]uint64{}
	for _, as := range socketValueStructs() {
		for _, part := range []records.Part{records.InScenes, records.InTrees, records.InOthers} {
			for r := range f.DataIn(part, as) {
				if addr := r.Ptr("value"); addr != 0 {
					values[port{r.Owner(), r.Addr()}] = addr
				}
			}
		}
	}
	return values
}

// socketValueStructs are the values of sockets that are data-blocks.
func socketValueStructs() []string {
	return []string{
		"bNodeSocketValueObject", "bNodeSocketValueImage", "bNodeSocketValueCollection", "bNodeSocketValueTexture", "bNodeSocketValueMaterial",
		"bNodeSocketValueFont", "bNodeSocketValueScene", "bNodeSocketValueMask", "bNodeSocketValueSound",
	}
}
