package blendfile

import (
	"fmt"
	"strings"
)

const (
	driverPython  = 1 // ChannelDriver.type: the expression is a script
	curveMuted    = 1 << 4
	curveDisabled = 1 << 10 // the path leads nowhere
)

// sceneDrivers lists the scene's settings that drivers set. Such a setting has
// another value when the frame is rendered than the one that is stored.
func (f *file) sceneDrivers(r record, s *Scene) {
	s.DrivenSettings = []string{}
	seen := map[string]bool{}
	adt := r.follow("adt", "AnimData")
	for c := range adt.list("drivers", "FCurve") {
		if c.int("flag")&(curveMuted|curveDisabled) != 0 {
			continue
		}
		path := cString(f.raw(c, c.ptr("rna_path")))
		if path == "" || seen[path] {
			continue
		}
		seen[path] = true
		s.DrivenSettings = append(s.DrivenSettings, path)
		if path == "cycles.samples" || path == `["cycles"]["samples"]` {
			s.SamplesDriven = true
		}
	}
}

// samplesKeyed reports whether keyframes set the scene's samples. From 4.4 an action can hold
// the curves of several data-blocks; the scene's are those of its slot.
func (f *file) samplesKeyed(r record) bool {
	adt := r.follow("adt", "AnimData")
	if f.reach == nil || adt.ptr("action") == 0 {
		return false
	}
	action, ok := f.reach.g.at(adt.ptr("action"))
	if !ok {
		return false
	}
	foreign := map[uint64]bool{}
	for bag := range f.everywhere("ActionChannelbag") {
		if uint32(bag.kept.owner) == action && bag.int("slot_handle") != adt.int("slot_handle") {
			curves := f.raw(bag, bag.ptr("fcurve_array"))
			for ; len(curves) >= f.header.pointer; curves = curves[f.header.pointer:] {
				foreign[f.header.address(curves)] = true
			}
		}
	}
	for c := range f.everywhere("FCurve") {
		own := uint32(c.kept.owner) == action && !foreign[c.kept.addr] && c.int("flag")&curveMuted == 0
		if own && cString(f.raw(c, c.ptr("rna_path"))) == "cycles.samples" {
			return true
		}
	}
	return false
}

// pythonDrivers counts the drivers that are scripts, in all data-blocks. They do
// not run where scripts are switched off, so the picture may differ.
func (f *file) pythonDrivers() int {
	n := 0
	for d := range f.everywhere("ChannelDriver") {
		if d.int("type") == driverPython {
			n++
		}
	}
	return n
}

// scripted lists the Python that the picture can depend on: texts that run on load, and
// drivers that Blender cannot compute without it, of data that the picture comes from.
func (f *file) scripted() []Script {
	all := []Script{}
	add := func(s Script) bool {
		if !f.spend(len(s.Owner) + len(s.Property) + len(s.Expression)) {
			f.lost["ChannelDriver"] = true
			return false
		}
		all = append(all, s)
		return true
	}
	for r := range f.facts("TX", "Text") {
		// Blender runs no other names.
		if r.int("flags")&textRegisters != 0 && strings.HasSuffix(r.name(), ".py") && !add(Script{Owner: "text " + r.name()}) {
			return all
		}
	}
	for c := range f.everywhere("FCurve") {
		if f.gone(c, "ChannelDriver", "DriverVar") {
			continue
		}
		d := c.follow("driver", "ChannelDriver")
		if d.l == nil || c.int("flag")&(curveMuted|curveDisabled) != 0 || !f.reach.computed(c) {
			continue
		}
		path := cString(f.raw(c, c.ptr("rna_path")))
		if !f.python(d) || path == "" || unseen(path) {
			continue
		}
		if i := c.int("array_index"); i > 0 {
			path = fmt.Sprintf("%s[%d]", path, i)
		}
		if !add(Script{Owner: f.driven(c), Property: path, Expression: d.text("expression")}) {
			return all
		}
	}
	return all
}

// gone reports whether a struct of r's group was given up, and notes it. A list that is
// read from r could then not be told from an empty one.
func (f *file) gone(r record, structs ...string) bool {
	for _, as := range structs {
		if h := f.held(groupOf(r), as); h != nil && h.gone {
			f.lost[as] = true
			return true
		}
	}
	return false
}

// python reports whether a driver needs Python. Without an expression it gives 0 in any
// case.
func (f *file) python(d record) bool {
	text := d.text("expression")
	if d.int("type") != driverPython || text == "" {
		return false
	}
	var names []string
	for v := range d.list("variables", "DriverVar") {
		names = append(names, v.text("name"))
	}
	return needsScripts(text, names)
}

// unseen reports whether a property shows in the viewport only.
func unseen(path string) bool {
	last := path[strings.LastIndexByte(path, '.')+1:]
	return last == "hide_viewport" || last == "hide_select" || last == "show_viewport" || last == "display_type"
}

// driven names the data-block of a driver.
func (f *file) driven(c record) string {
	if f.reach == nil {
		return f.ownerName(c)
	}
	return f.called(uint32(c.kept.owner))
}
