package contentkey

import "strings"

// Custom properties that nothing reads, and settings of the viewport, leave the lists that they
// are in: then it does not matter whether they are there.

// unlinkUnread takes them out of the lists of what was reached.
func (w *reached) unlinkUnread() {
	scene := w.order[0]
	for group := range w.list(w.pointer(w.pointer(scene, "id.properties"), "data.group.first")) {
		if x := w.extras[group]; x != nil && x.name == "cycles" {
			w.unlink(nowhere, group, func(b int32) bool { return w.extras[b] != nil && viewportSetting(w.extras[b].name) })
		}
	}
	if uses, known := w.uses(); len(uses) > 0 || !known || w.scripts() || w.namesRead || w.freestyle() || w.structOf(scene) != "Scene" {
		return // a script or another file can read any property
	}
	mentioned := w.paths() + w.attributes()
	for _, p := range w.parts {
		head := w.owners[p.owner].first
		w.unlink(head, w.pointer(head, "id.properties"), func(b int32) bool {
			return w.isScalar(b) && !mentions(mentioned, w.extras[b].name) || w.isEmpty(b)
		})
	}
}

// mentions reports whether a path may name a property. Names are written in quotes there, with
// some characters in another way.
func mentions(paths, name string) bool {
	return name == "" || strings.ContainsAny(name, "\"\\\n\t") || strings.Contains(paths, name)
}

// attributes are the names that attribute nodes read.
func (w *reached) attributes() string {
	var all strings.Builder
	for _, b := range w.order {
		if w.structOf(b) == "NodeShaderAttribute" {
			all.WriteString(w.textIn(b, "name"))
			all.WriteByte(0)
		}
	}
	return all.String()
}

// Values of IDProperty.type.
const (
	propertyString  = 0
	propertyInt     = 1
	propertyFloat   = 2
	propertyArray   = 5
	propertyGroup   = 6
	propertyDouble  = 8
	propertyBoolean = 10
)

// isScalar reports whether a custom property is a number, some numbers, or a text. Groups are
// what programs keep, such as Cycles.
func (w *reached) isScalar(b int32) bool {
	x := w.extras[b]
	if x == nil || w.structOf(b) != "IDProperty" {
		return false
	}
	switch x.property {
	case propertyString, propertyInt, propertyFloat, propertyArray, propertyDouble, propertyBoolean:
		return true
	}
	return false
}

// isEmpty reports whether a property is a group without any: then Cycles takes what it takes
// without the group.
func (w *reached) isEmpty(b int32) bool {
	x := w.extras[b]
	return x != nil && x.property == propertyGroup && w.pointer(b, "data.group.first") == nowhere
}

// unlink takes members out of a group of properties. owner is the data-block whose properties
// they all are: without any, it is as if it had none. It is nowhere for other groups.
func (w *reached) unlink(owner, group int32, unread func(int32) bool) {
	if group == nowhere || w.extras[group] == nil || w.extras[group].property != propertyGroup {
		return
	}
	var kept []int32
	gone := false
	for b := range w.list(w.pointer(group, "data.group.first")) {
		if unread(b) {
			gone = true
		} else {
			kept = append(kept, b)
		}
	}
	switch {
	case len(kept) == 0 && owner != nowhere:
		w.point(owner, "id.properties", nowhere)
		return
	case !gone:
		return
	}
	first, before := int32(nowhere), int32(nowhere)
	for _, b := range kept {
		w.point(b, "prev", before)
		w.point(b, "next", nowhere)
		if before == nowhere {
			first = b
		} else {
			w.point(before, "next", b)
		}
		before = b
	}
	w.point(group, "data.group.first", first)
	w.point(group, "data.group.last", before)
}

// point sets a pointer of a block's first struct.
func (f *file) point(b int32, path string, to int32) {
	block := &f.blocks[b]
	i, ok := f.byIndex[int(block.index)].pointers[path]
	if ok && block.first+uint32(i) < block.last {
		f.pointers[block.first+uint32(i)] = to
	}
}
