package contentkey

import (
	"regexp"
	"strings"
)

// driven is which properties drivers set, by the data-block's part and the path, and the paths
// that these drivers read of the same data-block.
type driven map[int]map[string][]string

// drivers finds what drivers set.
func (w *reached) drivers() driven {
	all := driven{}
	for i, p := range w.parts {
		for _, b := range w.order[p.first:p.last] {
			for c := range w.list(w.pointer(w.pointer(b, "adt"), "drivers.first")) {
				if all[i] == nil {
					all[i] = map[string][]string{}
				}
				path, _ := w.textAt(w.pointer(c, "rna_path"))
				all[i][path] = append(all[i][path], w.ownSources(c)...)
			}
		}
	}
	return all
}

// ownSources are the paths that a driver reads of its own data-block.
func (w *reached) ownSources(c int32) (paths []string) {
	for v := range w.list(w.pointer(w.pointer(c, "driver"), "variables.first")) {
		sources, _ := w.sources(v)
		for _, s := range sources {
			if s.block == w.owners[w.blocks[v].owner].first {
				paths = append(paths, s.path)
			}
		}
	}
	return paths
}

// inTurn reports whether no property of a part comes from itself by drivers that read the same
// data-block.
func (d driven) inTurn(part int) bool {
	places := map[string]int{}
	for path := range d[part] {
		places[path] = len(places)
	}
	var needs [][2]int
	for path, sources := range d[part] {
		for _, source := range sources {
			if from, ok := places[source]; ok {
				needs = append(needs, [2]int{places[path], from})
			}
		}
	}
	return inTurn(len(places), needs)
}

// Values of DriverVar.type: what a variable reads.
const (
	readsProperty   = 0
	readsRotations  = 1
	readsDistance   = 2
	readsTransforms = 3
)

// source is what a variable of a driver reads: a data-block, and the path of a property in it.
type source struct {
	block int32
	path  string
}

// sources are what a variable reads. They are not ok where one is missing, or it is not known
// how Blender finds it.
func (w *reached) sources(variable int32) (all []source, ok bool) {
	const targets = 8 // DriverVar.targets
	b := &w.blocks[variable]
	places := w.byIndex[int(b.index)].pointers
	id, path := places["targets.id"], places["targets.rna_path"]
	if x := w.extras[variable]; x == nil || path != id+1 || int(b.last-b.first) < id+2*targets {
		return nil, false
	} else if x.property < readsProperty || x.property > readsTransforms {
		return nil, false
	}
	for i := range targets {
		at := b.first + uint32(id+2*i)
		if w.pointers[at] == nowhere {
			continue
		}
		text, _ := w.textAt(w.pointers[at+1])
		all = append(all, source{block: w.pointers[at], path: text})
	}
	want := 1
	if kind := w.extras[variable].property; kind == readsRotations || kind == readsDistance {
		want = 2
	}
	return all, len(all) >= want
}

// ofObjects are properties that every object has, and that Blender computes before it evaluates a
// driver that reads them.
var ofObjects = regexp.MustCompile(`^((location|rotation_euler|rotation_quaternion|scale)(\[\d\])?|matrix_(world|local)\[\d\]\[\d\])$`)

// found reports whether a variable reads something that is there: Blender stops evaluating a
// driver of which a variable cannot be read, and leaves the property as it is.
func (w *reached) found(variable int32) bool {
	sources, ok := w.sources(variable)
	if !ok {
		return false
	}
	for _, s := range sources {
		code := " "
		if w.isHead(s.block) {
			code = w.owners[w.blocks[s.block].owner].code
		}
		switch {
		case w.extras[variable].property != readsProperty:
			ok = ok && code == "OB"
		case code == "OB" && ofObjects.MatchString(s.path), code == "SC" && s.path == "frame_current":
		default:
			ok = ok && w.target(s.block, s.path).isOwn()
		}
	}
	return ok
}

// readsProperties reports whether a variable of a driver reads nothing of its own data-block but
// what nothing else there changes: see isOwn.
func (w *reached) readsProperties(variable int32) bool {
	sources, ok := w.sources(variable)
	own := w.owners[w.blocks[variable].owner].first
	for _, s := range sources {
		if s.block == own {
			ok = ok && w.extras[variable].property == readsProperty && w.target(own, s.path).isOwn()
		}
	}
	return ok
}

// forgetDriven forgets the values that drivers set in every frame.
func (w *reached) forgetDriven() {
	for _, base := range w.order {
		for c := range w.list(w.pointer(w.pointer(base, "adt"), "drivers.first")) {
			path, ok := w.textAt(w.pointer(c, "rna_path"))
			if ok && !w.overrides(base) && w.drives(c) {
				w.forget(w.target(base, path), w.number(c, "array_index"))
			}
		}
	}
}

// failing is what an expression can fail with for some values of its variables: functions that
// are not known for all, and a division by something else than a number. Blender does not
// evaluate the driver again after that.
var failing = regexp.MustCompile(`%|\*\*|/(\D|0+(\.0*)?([^\d.]|$)|$)|[\[{&|^~"']|\b(asin|acos|exp|log|sqrt|pow|fmod|smoothstep|int)\(`)

// canFail reports whether the expression of a driver can fail. In a frame in which it did, the file
// says so.
func (w *reached) canFail(driver int32) bool {
	const python = 1 // ChannelDriver.type
	return w.number(driver, "type") == python && failing.MatchString(strings.Join(strings.Fields(w.textIn(driver, "expression")), ""))
}

// drives reports whether a driver sets its property in every frame.
func (w *reached) drives(c int32) bool {
	const invalid = 1 << 0 // ChannelDriver.flag
	driver := w.pointer(c, "driver")
	if driver == nowhere || w.number(driver, "flag")&invalid != 0 || w.number(c, "flag")&(curveMuted|curveDisabled) != 0 || w.mutedGroup(c) {
		return false
	}
	if w.canFail(driver) {
		return false
	}
	for v := range w.list(w.pointer(driver, "variables.first")) {
		if !w.found(v) {
			return false
		}
	}
	return true
}
