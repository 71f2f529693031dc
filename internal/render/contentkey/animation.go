package contentkey

import (
	"math"
	"slices"
)

// animation is what of the curves of a scene counts in the frames around their keys alone.
type animation struct {
	curves  []curve
	around  map[int32]bool // blocks of keys that count so
	extends map[int32]bool // their curves: what is beyond their ends counts so too
	circle  bool           // see circular
	keeps   bool           // the values that curves set: others may override what sets them
}

// animate finds the curves that count around their keys: those of actions that nothing uses
// but the animation of data-blocks at their own time. It forgets the values that they set,
// except in a library, where others use the data-blocks of heads, and where drivers set the
// scene.
func (w *reached) animate(heads ...int32) *animation {
	a := &animation{around: map[int32]bool{}, extends: map[int32]bool{}, circle: w.circular(), keeps: len(heads) > 0 || w.drivesScene()}
	users, elsewhere := w.actions()
	for _, head := range heads {
		elsewhere[head] = true
	}
	for _, p := range w.parts {
		head := w.owners[p.owner].first
		if w.structOf(head) != "bAction" || elsewhere[head] {
			continue
		}
		for c := range w.list(w.pointer(head, "curves.first")) {
			if w.place[c] != nowhere {
				w.curve(a, head, c, users[head])
			}
		}
	}
	if !a.keeps && !a.circle {
		w.forgetDriven()
	}
	return a
}

// drivesScene reports whether a driver sets something of the scene. Blender evaluates it before
// the rest of the frame, with the values that the file has.
func (w *reached) drivesScene() bool {
	return w.pointer(w.pointer(w.order[0], "adt"), "drivers.first") != nowhere
}

// actions finds which blocks animate by each action, and which actions something else uses:
// strips, constraints, animations with strips.
func (w *reached) actions() (users map[int32][]int32, elsewhere map[int32]bool) {
	users, elsewhere = map[int32][]int32{}, map[int32]bool{}
	bases := map[int32]int32{} // what has an animation
	for _, b := range w.order {
		if adt := w.pointer(b, "adt"); adt != nowhere {
			bases[adt] = b
		}
	}
	for _, b := range w.order {
		own := int32(nowhere)
		if base, ok := bases[b]; ok && w.structOf(b) == "AnimData" && w.pointer(b, "nla_tracks.first") == nowhere && w.pointer(b, "tmpact") == nowhere {
			if own = w.pointer(b, "action"); own != nowhere {
				users[own] = append(users[own], base)
			}
		}
		for _, to := range w.pointers[w.blocks[b].first:w.blocks[b].last] {
			if to != nowhere && to != own && w.isHead(to) && w.structOf(to) == "bAction" {
				elsewhere[to] = true
			}
		}
	}
	return users, elsewhere
}

// curve takes a curve: the keys around a frame count for it, and the value that it sets does not.
func (w *reached) curve(a *animation, action, c int32, users []int32) {
	bezt := w.pointer(c, "bezt")
	path, ok := w.textAt(w.pointer(c, "rna_path"))
	if !ok || bezt == nowhere || w.extras[bezt] == nil || w.pointer(c, "driver") != nowhere || w.pointer(c, "fpt") != nowhere {
		return
	}
	keys, flag, index := w.extras[bezt].keys, w.number(c, "flag"), w.number(c, "array_index")
	if len(keys) == 0 || int64(len(keys)) != w.number(c, "totvert") || a.around[bezt] {
		return
	}
	if looks, ok := w.looks(c); ok && inOrder(keys) {
		a.around[bezt], a.extends[c] = true, true
		a.curves = append(a.curves, curve{
			action: w.nameOf(w.blocks[action].owner), path: valueName(path, index),
			keys: keys, extend: w.number(c, "extend"), discrete: flag&curveDiscrete != 0, looks: looks,
		})
	}
	if flag&(curveMuted|curveDisabled) != 0 || w.mutedGroup(c) {
		return
	}
	for _, base := range users {
		if !a.keeps && !w.overrides(base) && w.actsOn(action, base) {
			w.forget(w.target(base, path), index)
		}
	}
}

// looks are the modifiers of a curve that compute its value at a time from the curve at
// another, the first one to do so first. It is not ok where that may be any time.
func (w *reached) looks(c int32) (looks []look, ok bool) {
	const generator, function, envelope, cycles, noise, limits, stepped = 1, 2, 3, 4, 5, 8, 9 // FModifier.type
	for m := range w.list(w.pointer(c, "modifiers.first")) {
		data := w.pointer(m, "data")
		switch w.number(m, "type") {
		case generator, function, envelope, noise: // from the value at that time
		case cycles:
			looks = append(looks, look{cycles: true})
		case limits:
			const fromTime, toTime = 1 << 0, 1 << 1 // FMod_Limits.flag
			l, flag := always(), w.number(data, "flag")
			if flag&fromTime != 0 {
				l.least = w.float(data, "rect.xmin")
			}
			if flag&toTime != 0 {
				l.most = w.float(data, "rect.xmax")
			}
			if !w.rawOf(data, "FMod_Limits") || !(l.least <= l.most) {
				return nil, false
			}
			looks = append(looks, l)
		case stepped:
			l := always()
			l.step = w.float(data, "step_size")
			if !w.rawOf(data, "FMod_Stepped") || !(l.step > 0) || math.IsInf(l.step, 0) {
				return nil, false
			}
			looks = append(looks, l)
		default:
			return nil, false
		}
	}
	slices.Reverse(looks) // Blender begins with the last
	return looks, true
}

// always is a look that shows each time as it is.
func always() look { return look{least: math.Inf(-1), most: math.Inf(1)} }

// rawOf reports whether a block is kept raw and has that struct.
func (w *reached) rawOf(b int32, of string) bool {
	return b != nowhere && w.structOf(b) == of && w.extras[b] != nil && w.extras[b].raw != nil
}

const groupMuted = 1 << 4 // bActionGroup.flag

func (w *reached) mutedGroup(c int32) bool {
	group := w.pointer(c, "grp")
	return group != nowhere && w.number(group, "flag")&groupMuted != 0
}

// actsOn reports whether Blender evaluates an action where it is used: it may be for another
// kind of data-blocks.
func (w *reached) actsOn(action, base int32) bool {
	root := w.number(action, "idroot")
	code := w.owners[w.blocks[base].owner].code
	if w.structOf(base) == "bNodeTree" {
		code = "NT"
	}
	return root == int64(code[0])|int64(code[1])<<8
}

// overrides reports whether a block is part of a data-block that overrides one of a library.
// Blender makes it from that one and from what the file says of it, so the values in the file
// can count although a curve sets them.
func (w *reached) overrides(b int32) bool {
	head := w.owners[w.blocks[b].owner].first
	return w.pointer(head, "id.override_library") != nowhere || w.pointer(head, "id.override_static") != nowhere
}

// inOrder reports whether keys are in the order of time, as Blender takes them for.
func inOrder(keys []key) bool {
	last := math.Inf(-1)
	for _, k := range keys {
		t := float64(k.point[0])
		if math.IsNaN(t) || t < last {
			return false
		}
		last = t
	}
	return true
}

// shutter is how long before and after a frame its picture looks: no time at all without
// motion blur and without a pass of motion.
func (w *reached) shutter() float64 {
	const (
		motionBlur = 1 << 14 // RenderData.mode
		passVector = 1 << 9  // ViewLayer.passflag
	)
	scene := w.order[0]
	if w.number(scene, "r.mode")&motionBlur != 0 {
		return 2 + 2*math.Abs(w.float(scene, "r.blurfac"))
	}
	vector := func(b int32) bool {
		of := w.structOf(b)
		return (of == "ViewLayer" || of == "SceneRenderLayer") && (w.number(b, "passflag")&passVector != 0 || w.extras[b] == nil)
	}
	if slices.ContainsFunc(w.order, vector) {
		return 2
	}
	return 0
}
