package reach

import "svc.example/internal/render/blendfile/records"

// Level says how much a picture has to do with a data-block.
type Level uint8

// The levels, each more than the one before.
const (
	None     Level = iota // Blender does not even load it
	Loaded                // Blender loads it
	Computed              // the picture is computed from it, and does not show it
	Drawn                 // the picture shows it
)

// linkedWeakly is the bit of ID.flag of data of a library that is loaded only if other data
// needs it.
const linkedWeakly = 1 << 1

// Linked is a data-block of a library that one of this file stands for.
type Linked struct {
	Ordinal uint32 // of what stands for it in this file
	Library uint64 // address of the library
	Name    string // with its code: "MAFloor"
	Level   Level
	User    uint32 // of this file, where the picture shows it; 0 = not known
}

// LoadAll says that Blender loads the whole file, as it does with the main one.
func (w *Set) LoadAll() { w.all = true }

// Enter reaches a data-block, by its name with code, from outside of the file: another file
// links it. It reports false where no such data-block is known.
func (w *Set) Enter(name string, level Level) bool {
	at, ok := w.Named(name)
	if !ok {
		return false
	}
	switch level {
	case Drawn:
		if w.g.code(at) == "SC" {
			w.sceneOf(at)
		} else {
			w.whole(at, at)
		}
		w.settle()
	case Computed:
		w.needed, w.shown = append(w.needed, at), nil
		w.need(at, w.needs, nil)
	}
	w.load(at)
	return true
}

// Named finds a data-block of the file itself by its name with code. ok is false where
// none is known.
func (w *Set) Named(name string) (ordinal uint32, ok bool) {
	if w == nil {
		return 0, false
	}
	if w.names == nil {
		w.names, w.unnamed = map[string]uint32{}, map[string]bool{}
		for _, n := range w.g.nodes {
			if n.Code() == "ID" {
				continue
			}
			own := w.f.NameOf(n.Ordinal)
			full := n.Code() + own
			if _, known := w.names[full]; !known {
				w.names[full] = n.Ordinal
			}
			if own == "" { // it was given up
				w.unnamed[n.Code()] = true
			}
		}
	}
	ordinal, ok = w.names[name]
	return ordinal, ok
}

// Lacks reports whether the file has no data-block of a name with code. It is false where
// that is not known.
func (w *Set) Lacks(name string) bool {
	_, found := w.Named(name)
	return w != nil && !found && len(name) > 2 && !w.unnamed[name[:2]]
}

// sceneOf sees all that a scene can show, given by its ordinal.
func (w *Set) sceneOf(ordinal uint32) {
	for r := range w.f.Facts("SC", "Scene") {
		if r.Owner() == ordinal {
			w.picture(r)
			w.frame(r)
		}
	}
}

// load notes everything that Blender loads with a data-block. For a scene that is nearly
// everything.
func (w *Set) load(ordinal uint32) {
	open := []uint32{ordinal}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if w.loaded[at] {
			continue
		}
		w.loaded[at] = true
		if w.g.code(at) == "SC" {
			w.all = true
		}
		for _, e := range w.g.of(at) {
			open = append(open, e.to)
		}
	}
}

// LevelOf is the level of a record's data-block. Where nothing is known it is Drawn.
func (w *Set) LevelOf(r records.Record) Level {
	switch {
	case w == nil || w.Rendered(r):
		return Drawn
	default:
		return w.levelOf(r.Owner())
	}
}

// levelOf is LevelOf of what is not shown itself.
func (w *Set) levelOf(ordinal uint32) Level {
	switch {
	case w.needs[ordinal]:
		return Computed
	case w.all || w.loaded[ordinal]:
		return Loaded
	}
	return None
}

// Linked lists the data-blocks of libraries that this file uses. Where nothing is known, all
// have the level given.
func (w *Set) Linked(f *records.File, unknown Level) []Linked {
	var all []Linked
	for r := range f.Facts("ID", "ID") {
		l := Linked{Ordinal: r.Owner(), Library: r.Ptr("lib"), Name: r.Text("name"), Level: unknown}
		if w != nil {
			l.Level = w.levelOf(r.Owner())
			if by, seen := w.seen[r.Owner()]; seen {
				l.Level = Drawn
				if by != r.Owner() {
					l.User = by
				}
			}
		}
		if l.Level == Loaded && r.Int("flag")&linkedWeakly != 0 && (w == nil || !w.loaded[r.Owner()]) {
			continue
		}
		if l.Level > None && l.Library != 0 && len(l.Name) > 2 {
			all = append(all, l)
		}
	}
	return all
}
