package contentkey

import (
	_ "embed" // values.txt
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A file stores the value of an animated property at the frame in which it was saved. Where a
// curve sets the property in every frame, that value does not count.

// measured is what Blender itself says of where numbers with a fraction are stored:
// scripts/values prints it.
//
//go:embed values.txt
var measured string

// others are values that measured does not have, by struct and the path from it. To add one,
// find the code of Blender that sets it, and what reads it of the file as it is. Where several
// members are given, the first that a file knows is the one.
const others = `
KeyBlock value curval:0
Lamp energy energy_new:0|energy:0
Scene view_settings.exposure view_settings.exposure:0
Scene view_settings.gamma view_settings.gamma:0
IDProperty value data.val:0
bNodeSocketValueFloat default_value value:0
bNodeSocketValueRGBA default_value value:0 value:1 value:2 value:3
bNodeSocketValueVector default_value value:0 value:1 value:2
`

// number is where a struct has a number that a curve sets: so many numbers of four bytes into a
// member.
type number struct {
	of, member string
	at         int
}

// values are the numbers that curves set: for each struct, or kind of node, by the path from it, the
// choices for each index.
var values = sync.OnceValue(func() map[string]map[string][][]number {
	all := map[string]map[string][][]number{}
	for line := range strings.Lines(measured + others) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}
		of, path := fields[0], fields[1]
		if all[of] == nil {
			all[of] = map[string][][]number{}
		}
		for _, index := range fields[2:] {
			var choices []number
			for choice := range strings.SplitSeq(index, "|") {
				member, at, _ := strings.Cut(choice, ":")
				n := number{of: of, member: member}
				if strings.Contains(of, "Node") && !strings.HasPrefix(of, "bNode") {
					n.of, n.member, _ = strings.Cut(member, ".")
				}
				n.at, _ = strconv.Atoi(at)
				choices = append(choices, n)
			}
			all[of][path] = append(all[of][path], choices)
		}
	}
	return all
})

// valueMembers are the members of each struct that values leads to.
var valueMembers = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{"IDProperty": {"data.val2": true}, "Object": {"visibility_flag": true}}
	for _, paths := range values() {
		for _, indices := range paths {
			for _, n := range slices.Concat(indices...) {
				if all[n.of] == nil {
					all[n.of] = map[string]bool{}
				}
				all[n.of][n.member] = true
			}
		}
	}
	return all
})

// isValue reports whether a curve can set a member of a struct.
func isValue(of, member string) bool { return valueMembers()[of][member] }

// visibility are properties of objects that are bits: of visibility_flag, and of the flag of their
// bases, which Blender computes from it (BKE_base_eval_flags). Blender evaluates objects of which
// a curve sets hide_render even where they are hidden in the file.
var visibility = map[string]struct{ object, base uint32 }{
	"hide_viewport": {object: 1 << 0, base: 1<<1 | 1<<2 | 1<<4 | 1<<6 | 1<<11},
	"hide_render":   {object: 1 << 2, base: 1 << 7},
}

// Paths that lead from a data-block, or the nodes in it, to a struct of values.
var (
	ownPath    = regexp.MustCompile(`^((dof\.|view_settings\.|mist_settings\.|light_settings\.)?\w+)$`)
	customPath = regexp.MustCompile(`^(?:(?:pose\.bones\["([^"\\]*)"\])?\["([^"\\]*)"\]|(cycles|cycles_visibility)\.(\w+)|modifiers\["([^"\\]*)"\]\["([^"\\]*)"\])$`)
	namedPath  = regexp.MustCompile(`^(pose\.bones|key_blocks)\["([^"\\]*)"\]\.(\w+)$`)
	nodePath   = regexp.MustCompile(`^nodes\["([^"\\]*)"\]\.(?:(\w+)|(inputs|outputs)\[(\d+)\]\.default_value)$`)
	stackPath  = regexp.MustCompile(`^(?:pose\.bones\["([^"\\]*)"\]\.)?(modifiers|constraints)\["([^"\\]*)"\]\.(\w+)$`)
)

// target is what a curve sets: a property of a block, which is of a struct or a kind of node.
type target struct {
	block        int32 // nowhere where it is not known
	of, property string
}

// target finds what a curve of an animation sets. base has the animation.
func (f *file) target(base int32, path string) target {
	if m := ownPath.FindStringSubmatch(path); m != nil {
		return f.targetIn(base, m[1])
	}
	if m := customPath.FindStringSubmatch(path); m != nil {
		return f.targetIn(f.custom(base, m), customValue)
	}
	if m := namedPath.FindStringSubmatch(path); m != nil {
		if m[1] == "pose.bones" {
			return f.targetIn(f.bone(base, m[2]), m[3])
		}
		return f.targetIn(f.named(f.pointer(base, "block.first"), m[2]), m[3])
	}
	if m := stackPath.FindStringSubmatch(path); m != nil {
		if m[1] != "" {
			base = f.bone(base, m[1])
		}
		t := f.targetIn(f.named(f.pointer(base, m[2]+".first"), m[3]), m[4])
		if data := f.pointer(t.block, "data"); m[2] == "constraints" && data != nowhere && values()[t.of][t.property] == nil {
			t.of = f.structOf(data)
		}
		return t
	}
	if m := nodePath.FindStringSubmatch(path); m != nil {
		node := f.named(f.pointer(base, "nodes.first"), m[1])
		if m[2] != "" {
			t := f.targetIn(node, m[2])
			if node != nowhere {
				t.of = f.extras[node].kind
			}
			return t
		}
		n, err := strconv.Atoi(m[4])
		if err != nil {
			return target{block: nowhere}
		}
		for s := range f.list(f.pointer(node, m[3]+".first")) {
			if n == 0 {
				return f.targetIn(f.pointer(s, "default_value"), "default_value")
			}
			n--
		}
	}
	return target{block: nowhere}
}

// isOwn reports whether nothing but a curve or a driver of its own sets a property: a custom
// property, or the value of a shape key.
func (t target) isOwn() bool {
	return t.block != nowhere && (t.of == "IDProperty" || t.of == "KeyBlock" && t.property == "value")
}

// targetIn is a property of a block's own struct.
func (f *file) targetIn(b int32, property string) target {
	if b == nowhere {
		return target{block: nowhere}
	}
	return target{block: b, of: f.structOf(b), property: property}
}

// customValue is the value of a custom property that is one number.
const customValue = "value"

// custom finds a custom property, of a bone too, a setting of Cycles, or an input of geometry
// nodes, which a path names.
func (f *file) custom(base int32, m []string) int32 {
	bone, name, cycles, setting, modifier, input := m[1], m[2], m[3], m[4], m[5], m[6]
	own := f.pointer(base, "id.properties")
	var found int32
	switch {
	case bone != "":
		found = f.member(f.pointer(f.bone(base, bone), "prop"), name)
	case name != "":
		found = f.member(own, name)
	case cycles != "":
		found = f.member(f.member(own, cycles), setting)
	default:
		found = f.member(f.pointer(f.named(f.pointer(base, "modifiers.first"), modifier), "settings.properties"), input)
	}
	if found == nowhere {
		return nowhere
	}
	switch f.extras[found].property {
	case propertyInt, propertyFloat, propertyDouble, propertyBoolean:
		return found
	}
	return nowhere
}

// member finds a property of a group of them.
func (f *file) member(group int32, name string) int32 {
	return f.named(f.pointer(group, "data.group.first"), name)
}

// bone finds a bone of the pose of an armature.
func (f *file) bone(base int32, name string) int32 {
	return f.named(f.pointer(f.pointer(base, "pose"), "chanbase.first"), name)
}

// named finds an item of a list; nowhere where none or several have the name.
func (f *file) named(first int32, name string) int32 {
	items, known := f.items[first]
	if !known {
		items = map[string]int32{}
		for b := range f.list(first) {
			x := f.extras[b]
			if x == nil {
				continue
			}
			if _, twice := items[x.name]; twice {
				b = nowhere
			}
			items[x.name] = b
		}
		f.items[first] = items
	}
	if found, ok := items[name]; ok {
		return found
	}
	return nowhere
}

// forget leaves the bytes of a value out of what counts, that one curve sets.
func (f *file) forget(t target, index int64) {
	if t.block == nowhere || f.extras[t.block] == nil {
		return
	}
	x := f.extras[t.block]
	if t.of == "IDProperty" {
		x.forgotten = make([]byte, len(x.values)) // they have no index
		return
	}
	if bits, ok := visibility[t.property]; ok && t.of == "Object" {
		if v := f.forgettable(t.block, "visibility_flag", 0, 2); v != nil {
			copy(v, masked(v, bits.object, f.Order))
			f.shown[t.block] |= bits.base
		}
		return
	}
	indices := values()[t.of][t.property]
	if index < 0 || index >= int64(len(indices)) {
		return
	}
	for _, n := range indices[index] {
		// What a node or a constraint has of its kind is in a block of its own.
		for _, b := range []int32{t.block, f.pointer(t.block, "storage"), f.pointer(t.block, "data")} {
			if b == nowhere || f.structOf(b) != n.of {
				continue
			}
			if v := f.forgettable(b, n.member, n.at, 4); v != nil {
				clear(v)
				return
			}
		}
	}
}

// forgettable are so many bytes of what is forgotten of a block, of a member that may have
// several numbers of that size; nil where the block has no such member.
func (f *file) forgettable(b int32, member string, number, size int) []byte {
	x, at := f.extras[b], 0
	for _, m := range f.byIndex[int(f.blocks[b].index)].members {
		if m.kind != value {
			continue
		}
		if m.path == member {
			if x == nil || size*number+size > m.size || at+m.size > len(x.values) {
				return nil
			}
			if x.forgotten == nil {
				x.forgotten = slices.Clone(x.values)
			}
			return x.forgotten[at+size*number:][:size]
		}
		at += m.size
	}
	return nil
}

// unset are the values that no curve sets.
func (x *extra) unset() []byte {
	if x.forgotten != nil {
		return x.forgotten
	}
	return x.values
}

// valueName is how curves are named in answers, such as location[0].
func valueName(path string, index int64) string {
	return strings.TrimSpace(path) + "[" + strconv.FormatInt(index, 10) + "]"
}
